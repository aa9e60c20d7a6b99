/*
 * Topics that the cluster wants back from this node: given back with their positions stored, or
 * left at once (rebalance/cluster/cluster.h).
 */
#ifndef REBALANCE_TOPIC_GIVE_BACK_H
#define REBALANCE_TOPIC_GIVE_BACK_H

#include "rebalance/state/parts.h"

/* Tell the cluster which topics there are, if that changed. */
void coordinator_tell_things(struct coordinator *co) NEEDS(co->admin_lock);
/*
 * After a change of topics: wait until each has an owner, so that what a person does next finds
 * one.  Waits 10 s at most, and then warns.  Does nothing if no other node uses the store.
 */
void coordinator_wait_for_owners(struct coordinator *co, struct problems *problems);
/*
 * The cluster wants something else of this node: wakes the coordinator's thread, and lets a
 * topic that has to end at once store nothing more.  ctx: struct coordinator.
 * @thread the cluster's, never blocks
 */
void coordinator_on_order(void *ctx, struct str thing, enum cluster_wish wish);
/* Begin with what the cluster wants this node to work on. */
void coordinator_take_ordered(struct coordinator *co) NEEDS(co->admin_lock);
/* Bring on the end of what is not ours any more. */
void coordinator_give_back(struct coordinator *co) NEEDS(co->admin_lock);
/* Tells whether a turn could bring it on. @thread the coordinator's */
bool coordinator_is_giving_back(struct coordinator *co) MUST_CHECK;

#endif
