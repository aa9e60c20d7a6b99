/*
 * struct job_growth: how fast the tables of a build grow while it reads them, by what the
 * stream has of them; and whether it ever ends.
 *
 * Only rows behind the cursors are still to be read, and nobody knows how many of the new ones
 * these are: where keys ascend, all.  So it is the worst case that is told.  What comes through
 * the stream meanwhile does not count: after the buckets, the build waits for a fixed position.
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_FILL_GROWTH_H
#define REBALANCE_FILL_GROWTH_H

#include "rebalance/fill/job.h"
#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise. */
struct job_growth {
    uint64_t come, gone;           /* since it began ... */
    uint64_t seen_come, seen_gone; /* ... by counters that may begin anew */
    struct job_pace come_pace, gone_pace;
    int64_t slow_ms; /* since when it is slower than its tables grow, monotonic; 0: it is not */
};

/* come, gone: rows so far, by the counters.  The first call says where they begin. */
void job_growth_update(struct job_growth *g, uint64_t come, uint64_t gone, int64_t now_ms);
/* Rows per second that the tables grow by; 0: none, or they shrink. */
double job_growth_rate(const struct job_growth *g);
/* The rows that have come, less those that have gone, added to a count from when it began. */
uint64_t job_growth_total(const struct job_growth *g, uint64_t counted);
/* Tell how fast it reads, 0 if not known. Returns whether it has been slower for a while. */
bool job_growth_is_slow(struct job_growth *g, double rate, int64_t now_ms);

#endif
