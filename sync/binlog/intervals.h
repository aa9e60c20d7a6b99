/*
 * struct intervals: a set of numbers as the ranges of which it is made, sorted and apart.
 *
 * Ids of transactions are given out one after the other, so a set of millions of them is a few
 * ranges.  Pure; zero-initialise.
 */
#ifndef SYNC_BINLOG_INTERVALS_H
#define SYNC_BINLOG_INTERVALS_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers [start, end). */
struct interval {
    uint64_t start, end;
};

struct intervals {
    struct interval *list; /* sorted, not touching */
    size_t n;
};

void intervals_fini(struct intervals *s);
struct intervals intervals_copy(const struct intervals *s) MUST_CHECK;

void intervals_add(struct intervals *s, struct interval add);
/* What of v is not in other. */
void intervals_add_missing(struct intervals *s, struct interval v,
                           const struct intervals *other);

bool intervals_has(const struct intervals *s, struct interval v);
bool intervals_equal(const struct intervals *a, const struct intervals *b);

#endif
