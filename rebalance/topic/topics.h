/* The pipelines of this node: one for each topic that the definitions name. */
#ifndef REBALANCE_TOPIC_TOPICS_H
#define REBALANCE_TOPIC_TOPICS_H

#include "rebalance/state/parts.h"

/* Start, restart and stop topics as the definitions say. */
void coordinator_sync_topics(struct coordinator *co) NEEDS(co->admin_lock);
void coordinator_stop_topic(struct coordinator *co, struct topic *t) NEEDS(co->admin_lock);
/*
 * Store and return a new epoch for the topic, above all that the topic or its indexes ever had.
 */
bool coordinator_new_epoch(struct coordinator *co, struct str topic, uint64_t *epoch,
                           struct err *err) MUST_CHECK;

#endif
