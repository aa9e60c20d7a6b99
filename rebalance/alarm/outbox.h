/*
 * struct alarm_outbox: the receivers of alarms, and what each has not taken yet.
 *
 * Each receiver gets the messages in their order. While it takes none, its next one is tried
 * again after 1 s to 5 min; beyond ALARM_QUEUE_MAX messages the oldest is dropped. A message
 * that it refuses for good (HTTP 400, 413, 415, 422) is dropped at once.
 *
 * @thread one puts and sends; any other
 */
#ifndef REBALANCE_ALARM_OUTBOX_H
#define REBALANCE_ALARM_OUTBOX_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarm_outbox;
struct buf;
struct doctor_list;
struct hook;
struct stop;

#define ALARM_QUEUE_MAX     100
#define ALARM_RECEIVERS_MAX 10

/* Takes ownership of the hooks; copies the array. stop is borrowed: once set, it sends no more.
 */
struct alarm_outbox *alarm_outbox_new(struct hook *const *hooks, size_t n,
                                      const struct stop *stop) RETURNS_NONNULL MUST_CHECK;
void alarm_outbox_free(struct alarm_outbox *o); /* NULL is fine */

/* body: as alarm_body_begin() wrote it; copied. */
void alarm_outbox_put(struct alarm_outbox *o, struct str body);
/* Sends what is due at now_ms (monotonic).  Blocks for HOOK_LIMIT_MS a receiver at most, and
 * while each takes what it gets. */
void alarm_outbox_send(struct alarm_outbox *o, int64_t now_ms);
/* When alarm_outbox_send() has work (monotonic); INT64_MAX: nothing waits. */
int64_t alarm_outbox_due_ms(const struct alarm_outbox *o);
/* Some receiver has taken all. */
bool alarm_outbox_is_told(const struct alarm_outbox *o);
size_t alarm_outbox_n(const struct alarm_outbox *o); /* receivers */

/*
 * Sends a whole body to each receiver at once, beside the queues, and appends
 * {"schema":"millrace/alarm-test/1","ok",items:[{"receiver","ok","status","answer","reason"}]}.
 * Blocks.  @thread any
 */
void alarm_outbox_test(const struct alarm_outbox *o, struct str body, struct buf *json);

/* Warns of each receiver that takes nothing.  @thread any */
void alarm_outbox_check(struct alarm_outbox *o, struct doctor_list *l);
/* Appends its metrics.  @thread any */
void alarm_outbox_metrics(struct alarm_outbox *o, struct buf *samples);

#endif
