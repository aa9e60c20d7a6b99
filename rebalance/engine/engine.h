/*
 * Whether searches see what Millrace writes: on every connect, at intervals and after each
 * build, a thread compares the engine's indexes and aliases with the store.
 */
#ifndef REBALANCE_ENGINE_ENGINE_H
#define REBALANCE_ENGINE_ENGINE_H

#include "rebalance/state/parts.h"

/*
 * Start the thread that compares the engine's indexes and aliases with the store, repairs what
 * is safe to repair, and deletes the indexes of dropped versions.  It ends when co->stop is
 * set.
 */
void coordinator_start_looks(struct coordinator *co);
void coordinator_join_looks(struct coordinator *co);
/* Compare once, without repairs, when no daemon runs.  Blocks. */
void coordinator_look_once(struct coordinator *co);

#endif
