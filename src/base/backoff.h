/*
 * struct backoff: how long to wait before the next attempt.
 *
 * Capped exponential with full jitter: attempt n (from 0) waits a random time between 1 ms and
 * min(max, base * 2^n), so that many who failed together do not come back together.  Pure,
 * given the random numbers.
 */
#ifndef SRC_BASE_BACKOFF_H
#define SRC_BASE_BACKOFF_H

#include "src/base/base.h"
#include "src/base/random.h"

#include <stdint.h>

struct backoff {
    int64_t base_ms;   /* > 0 */
    int64_t max_ms;    /* >= base_ms */
    unsigned n_failed; /* attempts since the last success */
};

/* The longest that the next wait can be. */
int64_t backoff_limit_ms(const struct backoff *b);

/* One more attempt failed: the wait before the next. */
int64_t backoff_next_ms(struct backoff *b, struct random *r) MUST_CHECK;

/* It worked: start from base again. */
void backoff_reset(struct backoff *b);

#endif
