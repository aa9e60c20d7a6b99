/*
 * struct payload: iterate over the events inside a TRANSACTION_PAYLOAD (MySQL 8.0.20+).
 *
 * Decompresses step by step: needs memory for the compressor's window and the largest inner
 * event, up to event_max, regardless of the transaction's size.  Of a larger event that may be
 * cut (event_may_be_cut()) it returns only the beginning.
 *
 * @thread one at a time
 */
#ifndef SYNC_DECODE_PAYLOAD_H
#define SYNC_DECODE_PAYLOAD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct payload;

struct payload *payload_new(size_t event_max) RETURNS_NONNULL MUST_CHECK;
void payload_free(struct payload *p); /* NULL is allowed */

/* body belongs to the outer event and is borrowed until the last payload_next(). */
bool payload_open(struct payload *p, struct str body, struct err *err) MUST_CHECK;

/*
 * Get the next raw event, without checksum, borrowed until the next call.  Returns 1, 0 at the
 * end, -1 on error.
 */
int payload_next(struct payload *p, struct str *event, struct err *err) MUST_CHECK;

#endif
