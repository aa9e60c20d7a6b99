/*
 * What an exchange needs of the trees: both sides as they are now, and the ids of which they
 * have only a hash.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_TREES_TREES_EXCHANGE_H
#define REBALANCE_TREES_TREES_EXCHANGE_H

#include "rebalance/trees/tree.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct pair;
struct tree_id;
struct trees;

/* A snapshot of one side. Zero-initialise; end with trees_snapshot_close(). */
struct trees_snapshot {
    struct pair *pair;
    enum tree_side side;
    struct tree_snapshot *tree;
};
/* Takes it with everything noted before. One of a side at a time. ERR_REJECT: the index has no
 * complete pair. */
bool trees_snapshot(struct trees *all, struct str index, enum tree_side side,
                    struct trees_snapshot *out, struct err *err) MUST_CHECK;
void trees_snapshot_close(struct trees_snapshot *s);

/* Appends the text of a hashed id. Those that got TREE_READ_AGAIN are in memory for one
 * exchange more, as many as have room. */
bool trees_name(struct trees *all, struct str index, const struct tree_id *id,
                struct buf *out) MUST_CHECK;

/* Both sides were compared. n_unnamed: ids that differ and nobody can name. */
void trees_exchanged(struct trees *all, struct str index, uint64_t n_unnamed);

#endif
