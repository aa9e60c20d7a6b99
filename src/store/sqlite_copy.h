/*
 * A copy of a SQLite store, made beside whoever uses it: one state of the store, whole, in one
 * file.
 *
 * The copy is the state at the moment when copying began.  One reading transaction holds that
 * state until all is copied, so that a store that changes all the time lets it end.  Writers go
 * on meanwhile; their log (-wal) grows until the end.
 *
 * Blocks on the file system, as long as reading the store once and the copy twice takes.
 */
#ifndef SRC_STORE_SQLITE_COPY_H
#define SRC_STORE_SQLITE_COPY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct sqlite_copy {
    const char *from; /* the store's file */
    const char *to;   /* an empty file that nobody else uses; its mode is kept */
    int to_fd;        /* the same, open: what was copied goes to the disk bit by bit */
    bool (*is_interrupted)(void *ctx); /* asked now and then; true: end with ERR_STOP */
    void *ctx;
    struct arena *arena;

    /* What was copied, in arena. */
    uint64_t version; /* the number of the last migration */
    struct copied_topic {
        struct str name, file, gtid; /* where the topic goes on */
        uint64_t offset;
    } * topics;
    size_t n_topics;
};

/*
 * Make the copy and check it as a daemon checks its store at the start.  ERR_REJECT: there is
 * no store, or we may not read it.  ERR_RETRY: no room, or a failing disk.  ERR_FATAL: the
 * store is damaged, or not a store.  After a failure `to` holds anything; no file stays beside
 * it.
 */
bool sqlite_copy_make(struct sqlite_copy *c, struct err *err) MUST_CHECK;

#endif
