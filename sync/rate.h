/*
 * struct rate: how fast a counter grows, over the last seconds in which it was looked at.
 *
 * Pure.  Zero-initialise; the caller locks.
 */
#ifndef SYNC_RATE_H
#define SYNC_RATE_H

#include <stdint.h>

struct rate {
    int64_t at_ms; /* 0: never looked at */
    uint64_t count;
    double per_s;
};

/* The counter stands at count now; per second, 0 until two looks lie far enough apart. */
double rate_look(struct rate *r, int64_t now_ms, uint64_t count);

#endif
