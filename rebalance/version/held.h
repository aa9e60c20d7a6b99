#ifndef REBALANCE_VERSION_HELD_H
#define REBALANCE_VERSION_HELD_H

#include "rebalance/state/node.h"

/* Stop the table of a held index that keeps others from being written.  Under admin_lock. */
void node_stop_held(struct coordinator *co);

#endif
