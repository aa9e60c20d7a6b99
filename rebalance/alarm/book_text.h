/*
 * The open alarms of a book as text, so that a daemon that starts again says what is over
 * meanwhile, and does not say again that an alarm begins.
 *
 * {"schema":"millrace/alarm-book/1","items":[{"code","object","text","fix","failure","n",
 * "since_ms"}]}
 *
 * Pure.
 */
#ifndef REBALANCE_ALARM_BOOK_TEXT_H
#define REBALANCE_ALARM_BOOK_TEXT_H

#include "rebalance/alarm/book.h"
#include "src/base/err.h"

struct buf;

void alarm_book_append(const struct alarm_book *b, struct buf *json);
/*
 * Take the open alarms of such a text, as if they were seen and said at now_ms (monotonic): at
 * most open_max of them. ERR_REJECT: it is none; the book has what stood before the fault.
 */
bool alarm_book_load(struct alarm_book *b, struct str json, int64_t now_ms,
                     struct err *err) MUST_CHECK;

#endif
