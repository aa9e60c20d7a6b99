/*
 * A few threads that run items which may take long: one item per thread at a time, in order of
 * arrival.
 *
 * @thread locked inside; pool_stop() and pool_free(): the owner's
 */
#ifndef WEB_EDGE_POOL_H
#define WEB_EDGE_POOL_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct pool;

struct pool_options {
    const char *name; /* of the threads */
    unsigned n_threads;
    size_t waiting_max; /* items that no thread has begun */
    void (*run)(void *item);
};

struct pool *pool_start(const struct pool_options *opt) RETURNS_NONNULL MUST_CHECK;
/* Push an item.  Never blocks; returns false if too many wait or the pool has stopped. */
bool pool_push(struct pool *p, void *item) MUST_CHECK;
/* Stop the pool.  Blocks until every item has run. */
void pool_stop(struct pool *p);
/* Call this after pool_stop(), once nobody pushes any more. */
void pool_free(struct pool *p);

#endif
