/*
 * A tree's file, open: made, opened, checked, read, written, extended, closed. Only the files
 * of rebalance/trees include this.
 *
 * Packed ids (tree_id.h) lie in buckets of 4 KiB pages. Each bucket has a sum of its entries,
 * so buckets with equal sums are equal and are not read. A bucket is checked whenever it is
 * read.
 *
 * A file is locked while it is open (flock). Its room is allocated before it is written, so a
 * full disk is an error of the call that needs more. Each change writes whole pages, the last
 * of them makes the change: a kill leaves the file as before the change or as after it, as the
 * kernel copies a page of one write whole. What does not lie in buckets' pages (the sums, the
 * numbers of the state) is right on disk only while the file is closed; after a kill the pages
 * tell it.
 *
 * Blocks on the file.
 *
 * @thread the tree's; view.fd may be read by others
 */
#ifndef REBALANCE_TREES_TREE_FILE_H
#define REBALANCE_TREES_TREE_FILE_H

#include "rebalance/trees/tree_bucket.h"
#include "rebalance/trees/tree_header.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_snapshot;

struct tree_file {
    unsigned refs;                  /* the tree's, and the snapshot's */
    struct tree_view view;          /* owns fd; n_used as in state */
    struct tree_state state;        /* as it is now */
    uint64_t *sums;                 /* of each bucket's entries */
    struct tree_snapshot *snapshot; /* that is open, or NULL; tree_snapshot.c sets it */
    struct buf pages;               /* of the bucket that was read last */
    struct buf dirty;               /* of tree_entries.c */
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
void tree_file_unref(struct tree_file *f); /* NULL is fine; closes at the last */

/* Reads a bucket into pages, and checks it. ERR_REJECT: damaged. */
bool tree_file_read(struct tree_file *f, uint32_t bucket, struct err *err) MUST_CHECK;
/* Writes a whole page. ERR_RETRY. */
bool tree_file_write_page(struct tree_file *f, uint32_t number, const uint8_t *page,
                          struct err *err) MUST_CHECK;
/* Makes sure that the file has a page behind n_used ones. ERR_RETRY. */
bool tree_file_make_room(struct tree_file *f, uint32_t n_used, struct err *err) MUST_CHECK;

/* Writes the note; on failure it is as before. ERR_RETRY. */
bool tree_file_set_note(struct tree_file *f, struct tree_note note, struct err *err) MUST_CHECK;

#endif
