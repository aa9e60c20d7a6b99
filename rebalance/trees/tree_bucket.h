/*
 * A bucket as it is read from a file: its pages one behind the other, checked. Only the files
 * of rebalance/trees include this.
 *
 * Blocks on the file.
 *
 * @thread any: the descriptor is only read, at offsets
 */
#ifndef REBALANCE_TREES_TREE_BUCKET_H
#define REBALANCE_TREES_TREE_BUCKET_H

#include "rebalance/trees/tree_header.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a reader must know of a file. */
struct tree_view {
    int fd; /* borrowed */
    enum tree_side side;
    uint64_t version_mark; /* the same on both sides of an index version */
    struct tree_shape shape;
    uint32_t n_used; /* pages */
};

/* Which bucket, and where. */
struct tree_bucket {
    uint32_t number;
    uint64_t sum; /* what its entries must sum up to */
    bool is_copy; /* its pages lie in copy_fd one behind the other, from copy_page on */
    int copy_fd;
    uint32_t copy_page;
};

/*
 * Replaces pages by the pages of the bucket, and computes their entries' sum; bucket->sum does
 * not count. ERR_REJECT: damaged, or the file cannot be read; the message does not name the
 * file.
 */
bool tree_bucket_sum(const struct tree_view *view, const struct tree_bucket *bucket,
                     struct buf *pages, uint64_t *sum, struct err *err) MUST_CHECK;
/* The same; damaged is also what has another sum than bucket->sum. */
bool tree_bucket_read(const struct tree_view *view, const struct tree_bucket *bucket,
                      struct buf *pages, struct err *err) MUST_CHECK;

/* Fills the bytes at an offset. ERR_REJECT if the file is shorter or cannot be read. */
bool tree_read_at(int fd, void *out, size_t len, uint64_t at, struct err *err) MUST_CHECK;

/*
 *     for (size_t i = 0, page = 0; (entry = tree_bucket_next(&pages, &page, &i)) != NULL;)
 */
const uint8_t *tree_bucket_next(const struct buf *pages, size_t *page, size_t *i);

#endif
