/*
 * struct minute: how often something happened within the last minute.
 *
 * Any number of threads add, without a lock. The window moves in steps of five seconds, so a
 * sum covers the last 55 to 60 seconds. Zero-initialise. The caller passes the time in
 * monotonic milliseconds.
 *
 * @thread any
 */
#ifndef SRC_BASE_MINUTE_H
#define SRC_BASE_MINUTE_H

#include "src/base/base.h"

#include <stdint.h>

#define MINUTE_SLOTS 12

struct minute {
    uint64_t slots[MINUTE_SLOTS]; /* atomic: the number of the step, and the count within it */
};

/* Adds n. One step holds less than 2^40. */
void minute_add(struct minute *m, int64_t now_ms, uint64_t n);
uint64_t minute_sum(const struct minute *m, int64_t now_ms);

#endif
