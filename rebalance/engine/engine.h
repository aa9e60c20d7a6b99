#ifndef REBALANCE_ENGINE_ENGINE_H
#define REBALANCE_ENGINE_ENGINE_H

#include "rebalance/state/node.h"

/*
 * Start the thread that compares the engine's indexes and aliases with the store, repairs what
 * is safe to repair, and deletes the indexes of dropped versions.  It ends when co->stop is
 * set.
 */
void node_start_looks(struct coordinator *co);
void node_join_looks(struct coordinator *co);
/* Compare once, without repairs, when no daemon runs.  Blocks. */
void node_look_once(struct coordinator *co);

#endif
