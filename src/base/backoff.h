/*
 * struct backoff: how long to wait before the next attempt.
 *
 * Capped exponential backoff with full jitter: attempt n (from 0) waits a random time between 1
 * ms and min(max, base * 2^n), so that clients that failed together do not return together.
 * Pure, given the random numbers.
 */
#ifndef SRC_BASE_BACKOFF_H
#define SRC_BASE_BACKOFF_H

#include "src/base/base.h"
#include "src/base/random.h"

#include <stdbool.h>
#include <stdint.h>

struct backoff {
    int64_t base_ms;   /* > 0 */
    int64_t max_ms;    /* >= base_ms */
    unsigned n_failed; /* attempts since the last success */
};

/* Returns the longest possible next wait. */
int64_t backoff_limit_ms(const struct backoff *b);

/* Counts a failed attempt and returns the wait before the next one. */
int64_t backoff_next_ms(struct backoff *b, struct random *r) MUST_CHECK;

/* Call after a success: the next failure waits from base_ms again. */
void backoff_reset(struct backoff *b);

/*
 * struct absence: backoff for a server that did not answer.  The pause grows; after it, one
 * caller tries, so that nobody else waits.
 */

#define ABSENCE_FIRST_MS 1000
#define ABSENCE_MAX_MS   60000

/* Zero: the server is there.  Times are monotonic. */
struct absence {
    int64_t pause_ms; /* the last pause; 0 if the server is there */
    int64_t until_ms; /* no tries before */
    bool tried;       /* one caller is trying and has not reported yet */
};

/*
 * Tell whether the caller may try the server now.  If it does, it must report the result with
 * absence_tell().
 */
bool absence_may_try(struct absence *a, int64_t now_ms) MUST_CHECK;
void absence_tell(struct absence *a, bool there, int64_t now_ms);

#endif
