/*
 * Borders: the places that cut a table into buckets of about as many rows each.
 *
 * No row is counted for it.  EXPLAIN guesses how many rows lie between two places, from a look
 * at both ends in the index; so a few hundred statements, which read a row or two each, find
 * the borders of a table of any size.  A border needs no row: it is a value of the order's
 * first column, and of the next ones where many rows share it.
 *
 * @thread the connection's; every call blocks on the server
 */
#ifndef SYNC_DOCUMENT_BUCKET_BORDERS_H
#define SYNC_DOCUMENT_BUCKET_BORDERS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct mysql_conn;

/* A bucket of fewer rows is not worth its statements. */
#define BORDERS_ROWS_MIN 1000
#define BORDERS_MAX      1000

struct borders_wish {
    struct str by;     /* the bucket column; empty: the key */
    size_t n;          /* so many buckets, 1 to BORDERS_MAX */
    uint64_t rows_min; /* of a bucket, or there are fewer of them: BORDERS_ROWS_MIN */
};

struct borders {
    struct str index; /* for struct loader_bucket (sync/document/loader.h); empty if none */
    struct str
        *places;     /* in order: each is the `until` of a bucket and the `after` of the next */
    size_t n;        /* there are n + 1 buckets */
    uint64_t *sizes; /* of each of these, by the server's guess; NULL: one bucket has all */
    uint64_t rows;   /* of the table, by the server's guess */
    const char *why_not; /* why there are fewer than wished, literal; NULL if there are not */
};

/*
 * Find them, in the arena.  A view, and a table without an index on its key, are one bucket.
 * ERR_REJECT if the bucket column has no index, is no column of numbers or times, or the
 * account may not read the table.  Their snapshot is not the reader's: a row that moves
 * meanwhile is in whichever bucket it lies when that is read.
 */
bool borders_find(struct mysql_conn *c, const struct plan *p, const struct borders_wish *wish,
                  struct arena *a, struct borders *out, struct err *err) MUST_CHECK;

#endif
