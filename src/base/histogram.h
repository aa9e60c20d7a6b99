/*
 * struct histogram: how often which magnitude occurred.
 *
 * Integers in buckets that grow with the value, four to each doubling, so that a quantile is
 * right within a quarter of the value, over all 64 bits.  Any number of threads add
 * (atomically, without a lock); for reading take a snapshot.  Histograms add up.
 * Zero-initialise.
 */
#ifndef SRC_BASE_HISTOGRAM_H
#define SRC_BASE_HISTOGRAM_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS 252

struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t sum;
    uint64_t min_inverted; /* UINT64_MAX - the smallest, so that zero is "none" */
    uint64_t max;
};

/* @thread any */
void histogram_add(struct histogram *h, uint64_t v);

/* A copy whose parts nearly belong together, of a histogram that others add to.  @thread any */
void histogram_snapshot(const struct histogram *h, struct histogram *out);

/* The rest is for snapshots: one thread at a time. */
void histogram_merge(struct histogram *into, const struct histogram *from);
uint64_t histogram_count(const struct histogram *h);
/* How many values are <= bound, a power of two; exact. */
uint64_t histogram_count_to(const struct histogram *h, uint64_t bound);
/* The value that the fraction q of all (0 to 1) does not exceed; 0 when there are none. */
uint64_t histogram_quantile(const struct histogram *h, double q);
uint64_t histogram_min(const struct histogram *h);
uint64_t histogram_max(const struct histogram *h);
double histogram_mean(const struct histogram *h);

#endif
