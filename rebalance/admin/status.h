#ifndef REBALANCE_ADMIN_STATUS_H
#define REBALANCE_ADMIN_STATUS_H

#include "rebalance/state/node.h"

/* A person looks at the status: soon refresh what the engine and the store said. */
void node_want(struct coordinator *co);

#endif
