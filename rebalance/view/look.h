/*
 * The steps by which coordinator_view_new() fills a view.  Only the files of rebalance/view
 * include this.
 *
 * @thread the view's maker's
 */
#ifndef REBALANCE_VIEW_LOOK_H
#define REBALANCE_VIEW_LOOK_H

#include "rebalance/view/view.h"

/* Returns false if the topic is not paused. */
bool coordinator_look_at_pause(const struct coordinator_view *v, struct topic_view *t);
void coordinator_look_at_topic(struct coordinator *co, struct coordinator_view *v,
                               struct topic_view *t) NEEDS(co->topics->lock);
void coordinator_look_at_table(struct coordinator *co, struct coordinator_view *v,
                               struct table_view *t) NEEDS(co->topics->lock);
/* Call after the above, without the lock of the topics. */
void coordinator_look_at_kept(struct coordinator *co, struct coordinator_view *v);

#endif
