/* Callbacks of the pipelines, on their threads. */
#ifndef REBALANCE_TOPIC_TOLD_H
#define REBALANCE_TOPIC_TOLD_H

#include "rebalance/state/parts.h"

/* Each blocks until the record is durable.  Returns false on shutdown. */
bool coordinator_on_dead_row(void *ctx, const struct dead_letter_note *note);
bool coordinator_on_stop_table(void *ctx, struct target *target, const char *reason,
                               const char *way_out);
bool coordinator_on_put_off_table(void *ctx, struct str topic, const struct table_put_off *what,
                                  bool *is);
bool coordinator_on_mark(void *ctx, const struct target *target, const char *reason);

#endif
