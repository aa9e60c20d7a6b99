/*
 * A tree's file, open and mapped: made, opened, checked, extended, closed. Only the files of
 * rebalance/trees include this.
 *
 * A file is locked while it is open (flock). Its room is allocated before it is mapped, so a
 * full disk is an error of a call and never a SIGBUS.
 *
 * Blocks on the file.
 *
 * @thread the tree's; view.fd may be read by others
 */
#ifndef REBALANCE_TREES_TREE_FILE_H
#define REBALANCE_TREES_TREE_FILE_H

#include "rebalance/trees/tree_bucket.h"
#include "rebalance/trees/tree_change.h"
#include "rebalance/trees/tree_header.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_snapshot;

struct tree_file {
    unsigned refs;           /* the tree's, and the snapshot's */
    struct tree_view view;   /* owns fd; n_used as in state */
    uint8_t *map;            /* of state.n_pages pages */
    struct tree_state state; /* as the header has it */
    uint8_t *is_checked;     /* a bit for each bucket: its pages were read and are whole */
    struct tree_snapshot *snapshot; /* that is open, or NULL; tree_snapshot.c sets it */
    struct buf scratch;             /* a bucket's pages */
};

/* Makes an empty file at path, which must not exist; it is nobody's tree until it is renamed.
 * Removes it on failure. ERR_RETRY. */
bool tree_file_create(struct tree_file **out, const char *path,
                      const struct tree_identity *identity, uint32_t n_buckets,
                      struct err *err) MUST_CHECK;
/* Opens and checks a file: all of it if its process was killed, its sums if it was closed. */
bool tree_file_open(struct tree_file **out, const char *path,
                    const struct tree_identity *identity, struct err *err) MUST_CHECK;
/* Writes all to disk and marks the file as closed, on disk too. */
bool tree_file_settle(struct tree_file *f, struct err *err) MUST_CHECK;
void tree_file_unref(struct tree_file *f); /* NULL is fine; unmaps and closes at the last */

/* Reads and checks a bucket, once for each open. ERR_REJECT: damaged. */
bool tree_file_check(struct tree_file *f, uint32_t bucket, struct err *err) MUST_CHECK;
/* Makes sure that the file has an unused page. ERR_RETRY. */
bool tree_file_make_room(struct tree_file *f, struct err *err) MUST_CHECK;

/* Adds the state to the change, commits it, and keeps the state. */
void tree_file_commit_state(struct tree_file *f, struct tree_change *c,
                            const struct tree_state *state);

void tree_file_set_note(struct tree_file *f, struct tree_note note);

static inline uint64_t tree_file_sum(const struct tree_file *f, uint32_t bucket)
{
    return load_le64(f->map + tree_sum_at(bucket));
}

static inline uint8_t *tree_file_page(const struct tree_file *f, uint32_t page)
{
    return f->map + (size_t)page * TREE_PAGE_SIZE;
}

#endif
