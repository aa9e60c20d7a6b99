/*
 * What the store needs of a database: transactions, statements, rows.
 *
 * store_sqlite and store_mysql implement it; the statements are the store's and are the same
 * for both.  They are written as SQLite takes them, with these conventions, which store_mysql
 * translates:
 *
 *     ?                                the next bound value
 *     ON CONFLICT (a) DO UPDATE SET    what happens when the row is there
 *     excluded.a                       the value that was to be inserted
 *     {lock}                           after a SELECT: nobody else may change these rows until
 * the end
 *
 * @thread one at a time
 */
#ifndef SRC_STORE_BACKEND_H
#define SRC_STORE_BACKEND_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct store;
struct store_backend;

/* A bound value: text (any bytes; ptr NULL is the empty text) or number (below 2^63). */
struct bind {
    bool is_text;
    uint64_t number;
    struct str text;
};

#define TEXT(s)   ((struct bind){.is_text = true, .text = (s)})
#define NUMBER(n) ((struct bind){.number = (uint64_t)(n)})

/* The values of one statement; of several rows' one after the other. */
struct binds {
    const struct bind *items;
    size_t n;
};

#define BINDS(...)                                      \
    ((struct binds){(const struct bind[]){__VA_ARGS__}, \
                    ARRAY_LEN(((const struct bind[]){__VA_ARGS__}))})
#define NO_BINDS ((struct binds){NULL, 0})

/* Where rows go: take is called for each; a NULL cell has ptr NULL, numbers are text. */
struct row_sink {
    void (*take)(struct row_sink *sink, const struct str *cells);
};

struct store_token {
    const char *name; /* "{key}" */
    const char *text;
};

struct store_backend_ops {
    const char *kind;                 /* "sqlite", "mysql" */
    const struct store_token *tokens; /* ended by a NULL name */

    bool (*begin)(struct store_backend *b, struct err *err);
    /* A failed commit has rolled back, or the connection is closed. */
    bool (*commit)(struct store_backend *b, struct err *err);
    void (*rollback)(struct store_backend *b);

    /*
     * Run a statement without rows.  n_rows > 1: an INSERT ... VALUES (...) for as many rows,
     * with binds.n / n_rows values each.
     */
    bool (*run)(struct store_backend *b, const char *sql, struct binds binds, size_t n_rows,
                struct err *err);
    bool (*select)(struct store_backend *b, const char *sql, struct binds binds,
                   struct row_sink *sink, struct err *err);

    /* While migrating nobody else migrates.  Both are called outside of a transaction. */
    bool (*lock_schema)(struct store_backend *b, struct err *err);
    void (*unlock_schema)(struct store_backend *b);
    /* Is this database empty of everything (and not merely of our tables)? */
    bool (*is_empty)(struct store_backend *b, bool *empty, struct err *err);
    /* Run a statement of a migration; what a migration that was cut off has done is fine. */
    bool (*define)(struct store_backend *b, struct str sql, struct err *err);

    /* The longest text that can be bound, in bytes. */
    size_t (*text_max)(struct store_backend *b);
    void (*close)(struct store_backend *b);
};

/* What every backend begins with. */
struct store_backend {
    const struct store_backend_ops *ops;
};

/* Append sql with the backend's tokens put in. */
void store_backend_render(const struct store_backend *b, struct str sql, struct buf *out);

/* Migrate and make a store of it, which then owns b; on failure b is closed. */
bool store_open_backend(struct store **out, struct store_backend *b,
                        struct err *err) MUST_CHECK;

#endif
