/* A topic comes to this node. */
#ifndef REBALANCE_TOPIC_TAKE_OVER_H
#define REBALANCE_TOPIC_TAKE_OVER_H

#include "rebalance/state/parts.h"

/*
 * What an owner does first: finish what the last one may have left unfinished, and know which
 * dead letters and purged keys are stored.  topic: empty: all.  Blocks on the store.
 */
bool coordinator_take_over(struct coordinator *co, struct str topic, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;
/*
 * Own the topic before anything of it is read that its last owner may still change.  An attempt
 * to start that fails keeps the term for the next one.  Blocks on the store.
 */
bool coordinator_own_topic(struct coordinator *co, struct topic *t, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;
/*
 * Take back lost topics that no pipeline follows: paused ones, and those that are deleted but
 * still have versions.  Commands change these versions, and retired ones are dropped.  Blocks
 * on the store.
 */
void coordinator_own_idle(struct coordinator *co, const struct catalogue *c)
    NEEDS(co->admin_lock);

#endif
