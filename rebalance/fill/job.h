/*
 * The pure part of long work: progress, pace, remaining time and the rate limit.
 *
 * No I/O. The caller passes the clock, in milliseconds.
 */
#ifndef REBALANCE_FILL_JOB_H
#define REBALANCE_FILL_JOB_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pace in rows per second; zero-initialise. */
struct job_pace {
    int64_t window_ms; /* start of the running window */
    uint64_t window_rows;
    double rate; /* rows per second, smoothed; 0: unknown yet */
};

void job_pace_update(struct job_pace *p, uint64_t rows_done, int64_t now_ms);

/* Returns the seconds until done reaches total. -1: unknown, or it has, and other steps follow.
 */
int64_t job_remaining_s(const struct job_pace *p, uint64_t done, uint64_t total);

/* Returns done, capped at total, for display. */
uint64_t job_shown_done(uint64_t done, uint64_t total);

/*
 * Returns the milliseconds from one time that a cursor is stored to the next: ten times what
 * the last one took, as a store may be far away, from half a second to ten.
 */
int64_t job_save_pause(int64_t took_ms);

/* A rate limiter: when the rows taken so far are paid for. Zero-initialise. */
struct job_limit {
    double paid_ms;
};

/* Returns the part of a limit that each of n gets: at least 1 of a limit, 0 (none) of none. */
uint64_t job_limit_share(uint64_t rate, size_t n);

/*
 * Returns the rows to take at once: at most a fifth of a second's worth, so that the limit
 * holds at any moment and a new one takes effect soon.
 */
uint64_t job_limit_rows(uint64_t rate, uint64_t rows);

/*
 * Take rows at `rate` per second (0: no limit). Returns the milliseconds to wait before going
 * on.
 */
int64_t job_limit_take(struct job_limit *l, uint64_t rate, uint64_t rows, int64_t now_ms);

#endif
