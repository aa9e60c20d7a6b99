/*
 * Purging: which of the changes that a worker holds go, when it holds too many and an index
 * takes none.
 *
 * Only what waits for an index that takes nothing may go, and it goes to the store by its key
 * (sync/delivery/purged.h), from where it is read and written again.
 *
 * Pure: random numbers come from a seed.
 */
#ifndef SYNC_DELIVERY_PURGE_H
#define SYNC_DELIVERY_PURGE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct random;

enum purge_strategy {
    PURGE_ONE = 0, /* the oldest change of a random index that takes nothing */
    PURGE_INDEX,   /* all of a random one */
    PURGE_ALL,     /* all of them */
    PURGE_OFF,     /* callers wait, and so does the source */
    N_PURGE_STRATEGIES,
};

/* What one index has in one worker. */
struct purge_place {
    bool is_blown; /* it takes nothing */
    size_t n;      /* changes that may go */
    size_t take;   /* out: as many go, the oldest first */
};

/*
 * Fill in take, so that at least `over` changes go where there are so many, and return their
 * sum.
 */
size_t purge_choose(enum purge_strategy how, struct purge_place *places, size_t n, size_t over,
                    struct random *r);

#endif
