/*
 * What this node measured of its topics during the last 24 hours, for plots: lag, rates and
 * latencies, in memory alone, which has a limit.  A restart begins anew.
 *
 * A thread looks every ten seconds.  A topic that another node owns has no values here, and
 * what was not measured is unknown, never 0.
 *
 * @thread locked inside, but for new and free
 */
#ifndef REBALANCE_HISTORY_HISTORY_H
#define REBALANCE_HISTORY_HISTORY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_TOPICS_MAX 64 /* about 40 KB each; of others nothing is kept */
#define HISTORY_HOURS_MAX  24

struct buf;
struct coordinator;
struct history;

struct history *history_new(void) RETURNS_NONNULL MUST_CHECK;
void history_free(struct history *h); /* NULL is fine */

/* @thread the coordinator's owner's */
void coordinator_start_history(struct coordinator *co);
void coordinator_join_history(struct coordinator *co);

/*
 * Append millrace/history/1: the hours before now, in steps of ten seconds if it is one hour,
 * else of five minutes.  topic empty: all topics; 404: there is no such one.  hours: 1 to
 * HISTORY_HOURS_MAX, else 400.
 */
bool coordinator_history(struct coordinator *co, struct str topic, uint64_t hours,
                         struct buf *json, struct err *err) MUST_CHECK;

#endif
