/* `millrace status`: the call is in rebalance/admin/questions.h. */
#ifndef REBALANCE_ADMIN_STATUS_H
#define REBALANCE_ADMIN_STATUS_H

#include "rebalance/state/parts.h"

struct coordinator_view;
struct table_view;
struct topic_view;

/* Put a topic and a table of this node, as status shows them. */
void coordinator_put_topic(struct json_writer *w, const struct coordinator_view *v,
                           const struct topic_view *t);
void coordinator_put_table(struct json_writer *w, const struct coordinator_view *v,
                           const struct table_view *t);
/* A person looks at the status: soon refresh what the engine and the store said. */
void coordinator_want(struct coordinator *co);

#endif
