/*
 * The two trees of one index version. Only the files of rebalance/trees include this.
 *
 * The notes of both files have the term that the pair follows, and when it was complete. A pair
 * that is over has no files any more, and takes nothing; whoever holds it may still read.
 *
 * Each call blocks on the files and, if another thread changes the pair, on that.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_TREES_PAIR_H
#define REBALANCE_TREES_PAIR_H

#include "rebalance/trees/trees.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct pair;
struct tree_id;

struct pair_home {
    const char *folder;
    uint64_t owner; /* a hash */
};

/* Makes both trees, empty; removes those that are there. */
bool pair_create(struct pair **out, const struct pair_home *home, struct str index,
                 uint64_t term, uint64_t n_expected, struct err *err) MUST_CHECK;
/* Opens both. ERR_REJECT if they are missing, damaged, or two different ones. */
bool pair_open(struct pair **out, const struct pair_home *home, struct str index,
               struct err *err) MUST_CHECK;
/* Removes the files of a pair that is not open. */
void pair_remove(const struct pair_home *home, struct str index);
/* Whether a file in the folder has the name of a pair's, or of what a pair leaves behind. */
bool pair_owns(const char *name);
/* Appends what the names of its files begin with. */
void pair_append_name(struct buf *out, struct str index);
struct str pair_index(const struct pair *p); /* lives as long as p */
struct pair *pair_ref(struct pair *p) RETURNS_NONNULL;
/* At the last one, waits until both are on disk, unless the pair is over. NULL is fine. */
void pair_unref(struct pair *p);

/* Goes on under this term. Returns false if that is not the one after the pair's, or if that
 * cannot be written. */
bool pair_follow(struct pair *p, uint64_t term) MUST_CHECK;
/* Returns false if the pair is over, or if that cannot be written. */
bool pair_complete(struct pair *p) MUST_CHECK;
void pair_exchanged(struct pair *p, uint64_t n_unnamed);
bool pair_name(struct pair *p, const struct tree_id *id, struct buf *out) MUST_CHECK;
/* Removes the files, unless the pair is over. */
void pair_end(struct pair *p);

/* Changes one side's tree (tree_change()). Does nothing if the pair is over. */
bool pair_change(struct pair *p, enum tree_side side, const struct tree_entry *entries,
                 size_t n, struct err *err) MUST_CHECK;

/* ERR_REJECT unless the pair is complete. Hold the pair until the snapshot is closed. */
bool pair_snapshot(struct pair *p, enum tree_side side, struct tree_snapshot **out,
                   struct err *err) MUST_CHECK;
void pair_snapshot_close(struct pair *p, enum tree_side side, struct tree_snapshot *s);

struct trees_view pair_look(struct pair *p);

#endif
