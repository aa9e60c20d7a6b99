/*
 * Indexes whose documents show tables of several topics: what happens while one topic is not
 * followed, or one table may not be read.
 */
#ifndef REBALANCE_VERSION_CROSS_TOPIC_H
#define REBALANCE_VERSION_CROSS_TOPIC_H

#include "rebalance/state/parts.h"

/*
 * Append why changed documents of the table's index wait: another topic with tables of these
 * documents is not followed now, or we may not read a table.  Appends nothing if they do not
 * wait.  Needs the lock of the topics, or admin_lock.
 */
void coordinator_append_unread(const struct coordinator *co, const struct definitions *d,
                               const struct table_definition *t, struct str index,
                               struct buf *reason);
/*
 * Read again the tables that we may not read: nothing tells us when the right is granted.
 */
void coordinator_look_at_rights(struct coordinator *co) NEEDS(co->admin_lock);
/*
 * If documents that wait so fill the queue, stop their tables, so that the others continue.
 * They are rebuilt automatically.
 */
void coordinator_stop_unread(struct coordinator *co) NEEDS(co->admin_lock);

#endif
