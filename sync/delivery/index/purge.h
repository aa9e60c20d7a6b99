/*
 * Purging: chooses which changes of a worker to drop, if it holds too many and an index takes
 * none.
 *
 * Only changes that wait for an index that takes nothing may go.  Their keys go to the store
 * (sync/delivery/index/purged.h); their rows are read and written again later.
 *
 * Pure: random numbers come from a seed.
 */
#ifndef SYNC_DELIVERY_INDEX_PURGE_H
#define SYNC_DELIVERY_INDEX_PURGE_H

#include "src/base/base.h"
#include "src/config/settings.h"

#include <stdbool.h>
#include <stddef.h>

struct random;

/* The changes of one index in one worker. */
struct purge_place {
    bool is_blown; /* the index takes nothing */
    size_t n;      /* changes that may be purged */
    size_t take;   /* output: how many to purge, oldest first */
};

/*
 * Set `take` in all places so that at least `over` changes go, if there are that many.  Returns
 * their sum.
 */
size_t purge_choose(enum purge_strategy how, struct purge_place *places, size_t n, size_t over,
                    struct random *r);

#endif
