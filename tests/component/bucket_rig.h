/*
 * A table on the test's server, read in buckets: `bkt.t`, whose column n numbers the rows.
 *
 * The key's columns are k0, k1, ..., and the bucket column, with an index, is c.
 */
#ifndef TESTS_COMPONENT_BUCKET_RIG_H
#define TESTS_COMPONENT_BUCKET_RIG_H

#include "tests/component/server.h"

#include "src/base/arena.h"
#include "src/base/random.h"
#include "src/base/str.h"
#include "sync/document/loader.h"

#include <stddef.h>
#include <stdint.h>

#define BUCKET_KEYS_MAX 3

struct bucket_table {
    struct plan *plan;
    struct arena *arena;
    size_t n_rows;
    size_t n_keys;
    char *made; /* how, for messages */
};

/* Where rows of it come: their numbers, in the order in which they were read. */
struct bucket_rows {
    long *rows;
    struct str *places; /* of each, if pages were of one row */
    size_t n;
};

extern struct mysql_conn *bucket_conn;

int bucket_rig_open(void **state);
int bucket_rig_close(void **state);

/* Run SQL with the table `t` and compile its plan; keys are columns of the key. */
void bucket_table_make(struct bucket_table *t, const char *const *sql, size_t n, size_t n_keys);
/* A table of about n_rows rows, with keys and a column of any type. */
void bucket_table_draw(struct bucket_table *t, struct random *random, size_t n_rows);
void bucket_table_free(struct bucket_table *t);

/* Read a bucket, by pages of up to rows_max rows, behind those that are in `out`. */
void bucket_read(const struct bucket_table *t, const struct loader_bucket *bucket,
                 struct str after, size_t rows_max, struct bucket_rows *out);
/* Add the rows of a page. */
void bucket_take_page(const struct loader_page *page, struct bucket_rows *out);
/* Fail unless each row of the table is there once. */
void bucket_assert_whole(const struct bucket_table *t, const struct bucket_rows *rows);
void bucket_rows_free(struct bucket_rows *rows);

/* The rows that the server has read for this session since the last call. */
uint64_t bucket_rows_examined(void);

#endif
