/*
 * The entries of one file: found, and changed, a bucket at a time. Only the files of
 * rebalance/trees include this.
 *
 * Each checks the bucket first and can return ERR_REJECT for damage, or ERR_RETRY: without room
 * for a page nothing has changed, after any other error the bucket may be damaged. Blocks on
 * the file.
 *
 * @thread the tree's
 */
#ifndef REBALANCE_TREES_TREE_ENTRIES_H
#define REBALANCE_TREES_TREE_ENTRIES_H

#include "rebalance/trees/tree_batch.h"
#include "rebalance/trees/tree_file.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes changes of one bucket, one after the other. */
bool tree_entries_change(struct tree_file *f, uint32_t bucket,
                         const struct tree_change *changes, size_t n,
                         struct err *err) MUST_CHECK;
bool tree_entries_find(struct tree_file *f, const struct tree_id *id, bool *found,
                       uint64_t *hash, struct err *err) MUST_CHECK;

#endif
