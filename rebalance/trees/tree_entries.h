/*
 * The entries of one file: found, put and removed, each in one change. Only the files of
 * rebalance/trees include this.
 *
 * Each checks the bucket first and can return ERR_REJECT for damage, or ERR_RETRY for a full
 * disk; then nothing has changed. Blocks on the file.
 *
 * @thread the tree's
 */
#ifndef REBALANCE_TREES_TREE_ENTRIES_H
#define REBALANCE_TREES_TREE_ENTRIES_H

#include "rebalance/trees/tree_file.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

bool tree_entries_put(struct tree_file *f, const struct tree_id *id, uint64_t hash,
                      struct err *err) MUST_CHECK;
bool tree_entries_remove(struct tree_file *f, const struct tree_id *id,
                         struct err *err) MUST_CHECK;
bool tree_entries_find(struct tree_file *f, const struct tree_id *id, bool *found,
                       uint64_t *hash, struct err *err) MUST_CHECK;

#endif
