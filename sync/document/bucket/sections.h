/*
 * struct sections: a table's rows by an order, in sections of which the server has guessed the
 * sizes.
 *
 * The largest is split again and again, until all are small beside a bucket.  Then buckets of
 * whole sections have about the same size: the guesses may all be too large, but not by one
 * factor here and another there.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_BUCKET_SECTIONS_H
#define SYNC_DOCUMENT_BUCKET_SECTIONS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_section {
    struct str until; /* its last place (sync/document/query_part.h); empty: to the end */
    uint64_t rows;    /* guessed */
    unsigned tries;   /* how often a split has left nearly all of its rows together */
    bool is_whole;    /* it cannot be split */
};

struct sections {
    struct row_section *list; /* in order; the texts are the caller's */
    size_t n, cap;
};

/* Begin with one section: all rows. */
void sections_init(struct sections *s);
void sections_fini(struct sections *s);

uint64_t sections_rows(const struct sections *s);
/* Returns the place after which a section begins; empty for the first. */
struct str sections_after(const struct sections *s, size_t at);
/* Returns the largest section that can be split and has more rows; SIZE_MAX if none. */
size_t sections_largest(const struct sections *s, uint64_t rows);
/* Put n > 0 others in the place of a section; the last one ends where it did. */
void sections_split(struct sections *s, size_t at, const struct row_section *parts, size_t n);

/*
 * Find the places at which n buckets end, without the last.  Sets out, which has room for n -
 * 1; returns how many: fewer if a section is larger than a bucket.
 */
size_t sections_cut(const struct sections *s, size_t n, struct str *out);
/* The rows up to each of n such places, from the one before; sizes has room for n + 1. */
void sections_sum(const struct sections *s, const struct str *places, size_t n,
                  uint64_t *sizes);

#endif
