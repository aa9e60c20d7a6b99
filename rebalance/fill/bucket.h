/*
 * struct fill_bucket: a part of a version's rows, as the parameters of its job say it: those
 * behind the first cursor of the job, up to `until`.
 *
 * A cursor is a table's name and a key of it (sync/document/key.h): the place behind that row,
 * or before the table's first row if it has no key. (With `by` the key is a place in that
 * order: sync/document/loader.h.) Tables follow one another in the order of pipeline_targets().
 *
 * A bucket by mod has no end: it reads all tables by key, and only rows whose `by` leaves its
 * remainder (sync/document/bucket/mod.h).  It stores no `until`, so a release that does not
 * know it finds no end that it can read, and fails the build instead of filling it with all
 * rows.
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_FILL_BUCKET_H
#define REBALANCE_FILL_BUCKET_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* States of its job. */
#define BUCKET_INIT    "init"
#define BUCKET_RUNNING "running"
#define BUCKET_DONE    "done"  /* the version has its rows */
#define BUCKET_ERROR   "error" /* it never will; the job's error says why */

struct fill_bucket {
    struct buf until; /* a cursor; empty: to the last row */
    struct buf by;    /* the column whose order its rows are read in; empty: the key's */
    uint32_t mod;     /* of so many buckets by mod of that column ... */
    uint32_t rest;    /* ... the one with this remainder; mod 0: a range */
    struct buf index; /* of the table, that has this order; empty: the server chooses */
    struct buf node;  /* the id of the node that works on it, or did last */
    uint64_t dead;    /* rows that made no document */
    uint64_t rate;    /* rows per second, by who fills it; 0: unknown, or it stands still */
    uint64_t lost_ms; /* when a node was lost that had it, in wall time; 0: none was */
    struct buf part;  /* of a delayed run: the text of its struct fill_part; else empty */
};

void bucket_fini(struct fill_bucket *b);
void bucket_append(struct buf *json, const struct fill_bucket *b);
/*
 * Returns false if the text, which somebody else may have stored, names no place to end and no
 * remainder: who reads further than it may would do no harm, but for ever. End with
 * bucket_fini() then, too.
 */
bool bucket_read(struct str json, struct fill_bucket *b) MUST_CHECK;

struct stored_job;
/* Whether it is still to be filled. */
bool bucket_is_open(const struct stored_job *job);

/* What the buckets of a build amount to. Zero-initialise. */
struct bucket_sum {
    uint64_t rows_done, dead;
    uint64_t expected; /* rows of all, as they were guessed when they were made */
    uint64_t rate;     /* of all that are filled */
    uint64_t lost_ms;  /* the last time that a node was lost */
    size_t n, n_done, n_running;
    struct str error; /* of the first that has failed; empty: none has */
    bool failed;
    struct str waits; /* why the first that waits does so; empty: none does */
};
/* Add a bucket's job. Its texts are borrowed. */
void bucket_sum_add(struct bucket_sum *sum, const struct stored_job *job);

/* How far a bucket is, for people. */
struct bucket_progress {
    uint64_t total; /* never below what is done; 0: unknown */
    uint64_t rate;
    int64_t remaining_s; /* -1: unknown */
};
/*
 * all: the sum of its build's buckets; rows: of the build's tables, as they were counted; 0:
 * not yet.  The total of a bucket that is not done is unknown once it has more rows than were
 * expected.
 */
struct bucket_progress bucket_progress(const struct stored_job *job,
                                       const struct bucket_sum *all, uint64_t rows);

#endif
