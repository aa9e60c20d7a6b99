/*
 * A file's buckets as they were at one moment, while the file goes on changing. Only the files
 * of rebalance/trees include this.
 *
 * The snapshot has a copy of the sums. Before a bucket changes for the first time, the writer
 * appends its pages to a file without a name (tree_snapshot_keep()). A reader reads the bucket
 * from the tree's file and then looks whether it was kept: if not, no change had begun while it
 * read; else it reads the kept pages. So nobody waits for anybody's disk.
 */
#ifndef REBALANCE_TREES_TREE_SNAPSHOT_H
#define REBALANCE_TREES_TREE_SNAPSHOT_H

#include "rebalance/trees/tree_file.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct tree_snapshot;

/* Makes it the file's snapshot, and keeps the file. path: of the tree. ERR_RETRY if the file
 * has one, or if the system refuses. @thread the tree's */
bool tree_snapshot_new(struct tree_snapshot **out, struct tree_file *f, const char *path,
                       struct err *err) MUST_CHECK;
void tree_snapshot_free(struct tree_snapshot *s); /* NULL is fine. @thread the tree's */

/* Removes what a killed process left beside a tree. */
void tree_snapshot_remove(const char *path);

/* Keeps the bucket that was read last, before it changes; if that fails, the snapshot is lost.
 * @thread the tree's */
void tree_snapshot_keep(struct tree_file *f, uint32_t bucket);

/* Valid as long as s; the sums are of its shape's buckets. @thread any */
const struct tree_view *tree_snapshot_view(const struct tree_snapshot *s) RETURNS_NONNULL;
const uint64_t *tree_snapshot_sums(const struct tree_snapshot *s) RETURNS_NONNULL;

/* Reads a bucket as tree_bucket_read() does. ERR_RETRY: the snapshot is lost. @thread one at a
 * time, any */
bool tree_snapshot_read(struct tree_snapshot *s, uint32_t bucket, struct buf *pages,
                        struct err *err) MUST_CHECK;

#endif
