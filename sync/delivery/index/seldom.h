/*
 * struct seldom: whether to log a line about what may happen very often.
 *
 * The first time it is logged at once, then once in SELDOM_MS at most.  The next line tells how
 * often it happened without one.
 *
 * Pure: the caller passes the time.  Zero-initialise.
 */
#ifndef SYNC_DELIVERY_INDEX_SELDOM_H
#define SYNC_DELIVERY_INDEX_SELDOM_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define SELDOM_MS 10000

struct seldom {
    int64_t due_ms; /* no line before */
    uint64_t n_left_out;
};

/* It happened.  Returns true if it is to be logged; *n_left_out: it happened so often before,
 * since the last line. */
bool seldom_is_due(struct seldom *s, int64_t now_ms, uint64_t *n_left_out) MUST_CHECK;

#endif
