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

#endif
