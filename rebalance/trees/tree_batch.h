/*
 * Changes of many entries, in the order of their buckets, so that each bucket is read and
 * written once. Only the files of rebalance/trees include this.
 *
 * Pure.
 */
#ifndef REBALANCE_TREES_TREE_BATCH_H
#define REBALANCE_TREES_TREE_BATCH_H

#include "rebalance/trees/tree_id.h"
#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry that is put, or removed. */
struct tree_change {
    struct tree_id id;
    bool is_gone;
    uint64_t hash;
    uint64_t spread, order; /* that the batch is sorted by */
};

/* Zero-initialise; end with tree_batch_free(). */
struct tree_batch {
    struct tree_change *changes;
    size_t n, room;
};

void tree_batch_free(struct tree_batch *b);
void tree_batch_add(struct tree_batch *b, const struct tree_id *id, uint64_t hash,
                    bool is_gone);
/* Sorts by bucket, for any number of buckets, and the changes of one id as they were added. */
void tree_batch_sort(struct tree_batch *b);
/* Returns how many changes from `at` on are of one bucket, of n_buckets. at < b->n. */
size_t tree_batch_run(const struct tree_batch *b, size_t at, uint32_t n_buckets);

#endif
