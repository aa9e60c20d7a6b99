/*
 * struct payload: the events inside a TRANSACTION_PAYLOAD (MySQL 8.0.20+), one after the other.
 *
 * Decompresses as it goes: memory is the compressor's window and the largest event inside,
 * whatever the transaction's size.
 *
 * @thread one at a time
 */
#ifndef SYNC_BINLOG_PAYLOAD_H
#define SYNC_BINLOG_PAYLOAD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct payload;

struct payload *payload_new(size_t event_max) RETURNS_NONNULL MUST_CHECK;
void payload_free(struct payload *p); /* NULL is fine */

/* body of the outer event, borrowed until the last payload_next(). */
bool payload_open(struct payload *p, struct str body, struct err *err) MUST_CHECK;

/* The next raw event, without checksum, borrowed until the next call.  1, the end: 0, -1. */
int payload_next(struct payload *p, struct str *event, struct err *err) MUST_CHECK;

#endif
