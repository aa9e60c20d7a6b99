/*
 * Compares the source's snapshot of a tree with the index's, and names the documents that
 * differ.
 *
 * With the same number of buckets on both sides, equal buckets are known by their sums, which
 * the snapshots have in memory; the others are read, one at a time. With different numbers,
 * both trees are read once through: tree_resize() one of them before its snapshot if that is
 * too slow. Memory is that of a few buckets.
 *
 * Blocks on the files.
 *
 * @thread any, while the tree's threads go on
 */
#ifndef REBALANCE_TREES_TREE_COMPARE_H
#define REBALANCE_TREES_TREE_COMPARE_H

#include "rebalance/trees/tree.h"
#include "rebalance/trees/tree_id.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum tree_difference {
    TREE_MISSING,   /* only the source's tree has the document */
    TREE_EXTRA,     /* only the index's */
    TREE_DIFFERENT, /* another hash */
    TREE_UNREAD,    /* at least one side has TREE_READ_AGAIN */
};

/* Takes one document that differs. id is valid during the call. Return false, with err filled,
 * to end the comparison. */
typedef bool tree_on_difference(void *ctx, enum tree_difference what, const struct tree_id *id,
                                struct err *err);

/*
 * Calls on_difference for each document that differs, in no order that means anything.
 * ERR_REJECT: a tree is damaged, to be built anew (the message says which), or they are not the
 * two sides of one index version. ERR_RETRY: a snapshot is lost, take new ones.
 */
bool tree_compare(struct tree_snapshot *source, struct tree_snapshot *index,
                  tree_on_difference *on_difference, void *ctx, struct err *err) MUST_CHECK;

#endif
