/* Topics whose address leads to another server than before. */
#ifndef REBALANCE_TOPIC_FAILOVER_H
#define REBALANCE_TOPIC_FAILOVER_H

#include "rebalance/state/parts.h"

/* Continue topics whose address now leads to another server, in a new epoch. */
void coordinator_follow_moved(struct coordinator *co) NEEDS(co->admin_lock);

#endif
