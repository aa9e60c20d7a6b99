/*
 * The first page of a tree's file, and where the other pages lie. Only the files of
 * rebalance/trees include this.
 *
 *     page 0   0 identity: "MRTREE" and the format (8), buckets (4), side (4), version (8),
 *                definition (8), length of the index's name (4), the name
 *              504 check of all that
 *              512 state: see struct tree_state, with its own check
 *     sums     8 bytes for each bucket, filled up to whole pages; of a closed file
 *     buckets  the first page of each
 *     more     further pages of buckets, then unused ones
 *
 * The identity never changes. Numbers are little-endian.
 *
 * Pure.
 */
#ifndef REBALANCE_TREES_TREE_HEADER_H
#define REBALANCE_TREES_TREE_HEADER_H

#include "rebalance/trees/tree.h"
#include "rebalance/trees/tree_page.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_STATE_AT    512
#define TREE_STATE_SIZE  96
#define TREE_BOOT_SIZE   36 /* a UUID's text */
#define TREE_BUCKETS_MAX (UINT32_C(1) << 30)

/* Which page is what; follows from the number of buckets. Page numbers have 32 bits. */
struct tree_shape {
    uint32_t n_buckets;
    uint32_t first_bucket; /* a page */
    uint32_t first_more;   /* the page behind the last bucket's first one */
};

struct tree_state {
    uint64_t count;   /* entries */
    uint32_t n_used;  /* pages, from page 0 on */
    uint32_t n_pages; /* of the file */
    struct tree_note note;
    bool is_closed;            /* nothing has changed since all of it came to disk */
    uint64_t sums_check;       /* a hash of all sums, if it is closed */
    char boot[TREE_BOOT_SIZE]; /* when it was opened last, by the kernel's boot_id */
};

/* n_buckets: 1 to TREE_BUCKETS_MAX. */
struct tree_shape tree_shape_of(uint32_t n_buckets);

/* Returns where the sum of a bucket lies in the file. */
static inline uint64_t tree_sum_at(uint32_t bucket)
{
    return TREE_PAGE_SIZE + (uint64_t)8 * bucket;
}

/* Writes bytes 0 to TREE_STATE_AT - 1. */
void tree_identity_format(uint8_t *page, const struct tree_identity *identity,
                          uint32_t n_buckets);
/* Sets *n_buckets. ERR_REJECT says whose or which file it is instead, without its path. */
bool tree_identity_check(const uint8_t *page, const struct tree_identity *identity,
                         uint32_t *n_buckets, struct err *err) MUST_CHECK;

/* Returns a hash of all but the side. */
uint64_t tree_identity_mark(const struct tree_identity *identity);

void tree_state_format(uint8_t out[TREE_STATE_SIZE], const struct tree_state *state);
/* ERR_REJECT if the state is damaged or does not fit the shape. */
bool tree_state_parse(const uint8_t in[TREE_STATE_SIZE], const struct tree_shape *shape,
                      struct tree_state *out, struct err *err) MUST_CHECK;

#endif
