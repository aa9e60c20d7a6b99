/*
 * Bulk requests: batches out to the search engine, and what its answers mean for each document.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_REQUEST_H
#define SYNC_DELIVERY_REQUEST_H

#include "src/base/base.h"
#include "sync/delivery/sender.h"

/* Send what may go now. */
void request_turn(struct sender *s);

/* Give up what is in flight, without its callbacks, before the HTTP client goes. */
void request_give_up_all(struct sender *s);

#endif
