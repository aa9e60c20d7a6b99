#ifndef REBALANCE_NODE_H
#define REBALANCE_NODE_H

#include "rebalance/state/node.h"

/*
 * Delete old tombstones, unless a version is being built or waits to be: it repeats these
 * deletes.  Under admin_lock.
 */
void node_drop_tombstones(struct coordinator *co);

#endif
