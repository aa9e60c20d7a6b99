/*
 * struct histogram: the distribution of a value.
 *
 * Counts 64-bit integers in buckets that grow with the value, four to each doubling, so a
 * quantile is accurate within a quarter of the value. Any number of threads may add, atomically
 * and without a lock. To read, take a snapshot. Snapshots can be merged. Zero-initialise.
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
    uint64_t min_inverted; /* UINT64_MAX minus the smallest value, so that zero means "none" */
    uint64_t max;
};

/* @thread any */
void histogram_add(struct histogram *h, uint64_t v);

/* Copies a histogram that other threads may add to meanwhile: the parts of the copy may
 * disagree slightly. @thread any */
void histogram_snapshot(const struct histogram *h, struct histogram *out);

/* The functions below take snapshots: one thread at a time. */
void histogram_merge(struct histogram *into, const struct histogram *from);
uint64_t histogram_count(const struct histogram *h);
/* Returns how many values are <= bound, a power of two. Exact. */
uint64_t histogram_count_to(const struct histogram *h, uint64_t bound);
/* Returns the value that the fraction q (0 to 1) of all values does not exceed; 0 if empty. */
uint64_t histogram_quantile(const struct histogram *h, double q);
uint64_t histogram_min(const struct histogram *h);
uint64_t histogram_max(const struct histogram *h);
double histogram_mean(const struct histogram *h);

#endif
