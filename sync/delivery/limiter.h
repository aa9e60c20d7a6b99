/*
 * struct limiter: how much to send to one index at a time.
 *
 * Quick back, slow up: a sign of overload halves the bytes of a batch and the requests at a
 * time; good answers raise them again, batches only while they come back quickly, so that a
 * batch is as large as the engine can take in about a quarter of a second.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_LIMITER_H
#define SYNC_DELIVERY_LIMITER_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

struct limiter {
    size_t bytes, bytes_max;   /* of one request's body */
    unsigned width, width_max; /* requests at a time */
    unsigned n_good;           /* answers since width last changed */
};

void limiter_init(struct limiter *l, size_t bytes_max, unsigned width_max);

/* Other ceilings: what is above one comes down to it, the rest goes on from where it is. */
void limiter_set(struct limiter *l, size_t bytes_max, unsigned width_max);

/* A request of so many body bytes was answered well after took_ms. */
void limiter_good(struct limiter *l, size_t bytes, int64_t took_ms);
/* The engine has too much to do (429, 503, timeout). */
void limiter_busy(struct limiter *l);
/* A request of so many body bytes was too large (413): none of half its size ever again. */
void limiter_too_large(struct limiter *l, size_t bytes);

#endif
