/*
 * Topics that the cluster wants back from this node: given back with their positions stored, or
 * left at once (rebalance/cluster/cluster.h).
 */
#ifndef REBALANCE_TOPIC_GIVE_BACK_H
#define REBALANCE_TOPIC_GIVE_BACK_H

#include "rebalance/state/parts.h"

/* Tell the cluster which topics there are, if that changed. */
void coordinator_tell_things(struct coordinator *co) NEEDS(co->admin_lock);
/* Bring on the end of what is not ours any more. */
void coordinator_give_back(struct coordinator *co) NEEDS(co->admin_lock);
/* Tells whether a turn could bring it on. @thread the coordinator's */
bool coordinator_is_giving_back(struct coordinator *co) MUST_CHECK;

#endif
