/*
 * The pure part of long work: how far it is, how fast, how long it will take, and how fast it
 * may go.
 *
 * No I/O; the clock is handed in, in milliseconds.
 */
#ifndef REBALANCE_JOB_H
#define REBALANCE_JOB_H

#include "src/base/base.h"

#include <stdint.h>

/* Rows done over time; zero-initialise. */
struct job_pace {
    int64_t window_ms; /* start of the running window */
    uint64_t window_rows;
    double rate; /* rows a second, smoothed; 0: not known yet */
};

void job_pace_update(struct job_pace *p, uint64_t rows_done, int64_t now_ms);

/* Seconds until total is reached, -1 when not known.  done beyond total counts as total. */
int64_t job_remaining_s(const struct job_pace *p, uint64_t done, uint64_t total);

/* At most total, at most 100 %: what is shown. */
uint64_t job_shown_done(uint64_t done, uint64_t total);

/* When what was taken so far has had its time; zero-initialise. */
struct job_limit {
    double paid_ms;
};

/* Rows to take at once: enough for a fifth of a second, so that a limit is held at any moment and
 * a new one counts soon. */
uint64_t job_limit_rows(uint64_t rate, uint64_t rows);

/* Take rows at rate a second (0: no limit); the milliseconds to wait before going on. */
int64_t job_limit_take(struct job_limit *l, uint64_t rate, uint64_t rows, int64_t now_ms);

#endif
