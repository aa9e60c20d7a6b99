#ifndef REBALANCE_TOPIC_FAILOVER_H
#define REBALANCE_TOPIC_FAILOVER_H

#include "rebalance/state/node.h"

/* Continue topics whose address now leads to another server, in a new epoch. */
void node_follow_moved(struct coordinator *co);

#endif
