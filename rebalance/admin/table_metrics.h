/* The metrics that have a series for each table. */
#ifndef REBALANCE_ADMIN_TABLE_METRICS_H
#define REBALANCE_ADMIN_TABLE_METRICS_H

#include "rebalance/state/parts.h"

struct buf;
struct coordinator_view;

/* Tables with series of their own, in the order of the definitions; all others share "other".
 */
#define METRIC_TABLES_MAX 1000

/* Append the samples with a label "table", of at most so many tables. */
void coordinator_put_tables(struct buf *out, const struct coordinator_view *v, size_t max);

#endif
