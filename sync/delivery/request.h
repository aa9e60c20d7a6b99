/*
 * Bulk requests: sends batches to the search engine and applies its answers to each document.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_REQUEST_H
#define SYNC_DELIVERY_REQUEST_H

#include "src/base/base.h"
#include "sync/delivery/sender.h"

/* Send what may go now. */
void request_turn(struct sender *s);

/* When the document was sent, in monotonic milliseconds; now, if no request has it. */
int64_t request_sent_ms(const struct sender *s, const struct document *doc);

/* Drop the requests in flight without their callbacks.  Call before freeing the HTTP client. */
void request_give_up_all(struct sender *s);

#endif
