/*
 * What a receiver gets: millrace/alarm/1 (docs/api.md).
 *
 * Pure.
 */
#ifndef REBALANCE_ALARM_BODY_H
#define REBALANCE_ALARM_BODY_H

#include "rebalance/alarm/book.h"

struct buf;

/* Who sends it. */
struct alarm_sender {
    struct str node;  /* its name */
    struct str owner; /* the id of its store, which all nodes share */
};

/*
 * Append the object without its last member and its end, which alarm_body_end() appends when
 * it is sent. now_ms: wall time. message NULL: a test.
 */
void alarm_body_begin(struct buf *json, const struct alarm_sender *from,
                      const struct alarm_message *message, int64_t now_ms);
void alarm_body_end(struct buf *json, int64_t sent_ms);

#endif
