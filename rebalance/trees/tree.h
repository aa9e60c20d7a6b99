/*
 * One side's anti-entropy tree of one index version: a file with an entry for each document,
 * its
 * `_id` and a 64-bit hash of routing and value, which the caller computes. The trees of both
 * sides are compared through snapshots (tree_compare.h). The file takes at most 32 bytes a
 * document when it is built for their number, 35 after it has grown by itself. It is read and
 * written, and not mapped: its pages are no memory of the process, which has 8 bytes for each
 * bucket of some 130 entries (tree_file.h).
 *
 * A process that is killed loses nothing that a call has returned for. After a power cut
 * without a tree_close() the tree is lost. A lost, missing, damaged or foreign tree is
 * ERR_REJECT: build it anew with tree_create(). ERR_RETRY: the system refused (a full disk, a
 * file in use); what a call would have changed may be lost. Nothing here is ERR_FATAL.
 *
 * @thread one at a time; blocks on the file
 */
#ifndef REBALANCE_TREES_TREE_H
#define REBALANCE_TREES_TREE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree;
struct tree_snapshot;

#define TREE_INDEX_MAX 256 /* bytes */
enum tree_side { TREE_SOURCE, TREE_INDEX };

/* Whose tree a file is: another's is not opened. */
struct tree_identity {
    enum tree_side side;
    struct str index; /* its name, at most TREE_INDEX_MAX bytes */
    uint64_t version;
    uint64_t definition; /* a fingerprint */
};

/* What the caller keeps beside the entries; zero in a new tree. */
struct tree_note {
    uint64_t position; /* the tree has everything up to here */
    int64_t built_ms;  /* wall time */
};

#define TREE_READ_AGAIN 0 /* the hash of a document to read before it can be compared */

/* Makes an empty tree for about n_expected documents, in place of any file at path. */
bool tree_create(struct tree **out, const char *path, const struct tree_identity *identity,
                 uint64_t n_expected, struct err *err) MUST_CHECK;
/* After a kill, this reads the whole file, and removes what a growth left. */
bool tree_open(struct tree **out, const char *path, const struct tree_identity *identity,
               struct err *err) MUST_CHECK;
/* Waits until the tree is on disk. Frees t in any case; on failure, or if durable is false, the
 * tree survives until the next power cut. All snapshots must be closed. NULL is fine. */
bool tree_close(struct tree *t, bool durable, struct err *err) MUST_CHECK;

/* An entry that is put, or removed. */
struct tree_entry {
    struct str id;
    uint64_t hash;
    bool is_gone;
};

/* Inserts, replaces and removes n entries, one after the other; a failure may leave some of
 * them made. Each bucket is read and written once. When the tree is full, writes it into a file
 * with 1.25 times the buckets, half a second for each million entries; without room for that it
 * becomes slower, and tries again later. */
bool tree_change(struct tree *t, const struct tree_entry *entries, size_t n,
                 struct err *err) MUST_CHECK;
bool tree_find(struct tree *t, struct str id, bool *found, uint64_t *hash,
               struct err *err) MUST_CHECK;
uint64_t tree_count(const struct tree *t);
uint64_t tree_bytes(const struct tree *t); /* of the file */

struct tree_note tree_note(const struct tree *t);
/* Survives what an entry survives. On failure (ERR_RETRY) the note is as before. */
bool tree_set_note(struct tree *t, struct tree_note note, struct err *err) MUST_CHECK;

/* Trees with equal numbers of buckets are compared by sums, others entry by entry. */
uint32_t tree_n_buckets(const struct tree *t);
/* Writes the tree into a file with this many buckets, from 1; open snapshots stay valid. */
bool tree_resize(struct tree *t, uint32_t n_buckets, struct err *err) MUST_CHECK;

/* Removes the file at path, if any, and what a killed process left beside it. */
void tree_delete(const char *path);

/*
 * Takes a snapshot for tree_compare(): the sums are copied, 60 KB for each million entries.
 * While it is open, the first change of each bucket copies the bucket to a file without a name
 * beside the tree, at most as large as the tree; if that has no room, the snapshot is lost, not
 * the change. A tree has one open snapshot, and one more for each time that it grows meanwhile.
 */
bool tree_snapshot_take(struct tree *t, struct tree_snapshot **out, struct err *err) MUST_CHECK;
/* Nobody may read s any more. NULL is fine. */
void tree_snapshot_close(struct tree *t, struct tree_snapshot *s);

#endif
