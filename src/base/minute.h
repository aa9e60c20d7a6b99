/*
 * struct minute: how often something happened within the last minute.
 *
 * Any number of threads add, without a lock.  The minute moves on in steps of five seconds, so a
 * sum is of the last 55 to 60.  Zero-initialise.  The time is handed in: monotonic milliseconds.
 *
 * @thread any
 */
#ifndef SRC_BASE_MINUTE_H
#define SRC_BASE_MINUTE_H

#include "src/base/base.h"

#include <stdint.h>

#define MINUTE_SLOTS 12

struct minute {
    uint64_t slots[MINUTE_SLOTS]; /* atomics: the step it counts in, and the count */
};

/* n more, below 2^40 in one step. */
void minute_add(struct minute *m, int64_t now_ms, uint64_t n);
uint64_t minute_sum(const struct minute *m, int64_t now_ms);

#endif
