/*
 * struct intervals: a set of numbers, stored as sorted disjoint ranges.  Pure; zero-initialise.
 *
 * Servers number transactions consecutively, so a set of millions takes only a few ranges.
 */
#ifndef SYNC_POSITION_INTERVALS_H
#define SYNC_POSITION_INTERVALS_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers [start, end). */
struct interval {
    uint64_t start, end;
};

struct intervals {
    struct interval *list; /* sorted; ranges neither overlap nor touch */
    size_t n;
};

void intervals_fini(struct intervals *s);
struct intervals intervals_copy(const struct intervals *s) MUST_CHECK;

void intervals_add(struct intervals *s, struct interval add);
/* Add the part of v that other lacks. */
void intervals_add_missing(struct intervals *s, struct interval v,
                           const struct intervals *other);

bool intervals_has(const struct intervals *s, struct interval v);
bool intervals_equal(const struct intervals *a, const struct intervals *b);

#endif
