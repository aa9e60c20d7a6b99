/*
 * struct limiter: how much to send to one index at a time.
 *
 * Goes down fast and up slowly.  A sign of overload halves the bytes of a batch and the number
 * of concurrent requests.  Good answers raise both again, the bytes only if answers come
 * quickly, so a batch becomes as large as the engine can take in about a quarter of a second.
 * After a failure the first batch is small, and each good answer doubles the next: whatever
 * fails, no more is sent for nothing than was taken before.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_INDEX_LIMITER_H
#define SYNC_DELIVERY_INDEX_LIMITER_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

struct limiter {
    size_t bytes, bytes_max;   /* of one request body */
    size_t aim;                /* what bytes doubles up to; equal to it but after a failure */
    unsigned width, width_max; /* concurrent requests */
    unsigned n_good;           /* good answers since width last changed */
};

void limiter_init(struct limiter *l, size_t bytes_max, unsigned width_max);

/* Change the ceilings.  Lowers what is above one; leaves the rest. */
void limiter_set(struct limiter *l, size_t bytes_max, unsigned width_max);

/* Record a successful request: body size and latency. */
void limiter_good(struct limiter *l, size_t bytes, int64_t took_ms);
/* Record an overload (429) that concerns a part of a request. */
void limiter_busy(struct limiter *l);
/* Record a request that failed. All that is known is that the engine was overloaded. */
void limiter_failed(struct limiter *l);
/* Record a body that was too large (413): never exceed half its size again. */
void limiter_too_large(struct limiter *l, size_t bytes);

#endif
