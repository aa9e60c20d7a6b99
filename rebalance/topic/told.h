/* Callbacks of the pipelines, on their threads. */
#ifndef REBALANCE_TOPIC_TOLD_H
#define REBALANCE_TOPIC_TOLD_H

#include "rebalance/state/node.h"

/* Each blocks until the record is durable.  Returns false on shutdown. */
bool node_on_dead_row(void *ctx, const struct dead_letter_note *note);
bool node_on_stop_table(void *ctx, struct target *target, const char *reason,
                        const char *way_out);
bool node_on_mark(void *ctx, const struct target *target, const char *reason);

#endif
