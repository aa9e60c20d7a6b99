/*
 * What the store needs from a database: transactions, statements, rows.
 *
 * sqlite.c and mysql.c implement it.  The store writes each statement once, in SQLite's dialect
 * with these conventions, which mysql.c translates:
 *
 *     ?                                the next bound value
 *     ON CONFLICT (a) DO UPDATE SET    what to do if the row exists
 *     excluded.a                       the value that was to be inserted
 *     {lock}                           after a SELECT: lock the rows for the transaction
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

/* The values of one statement; for several rows, one row after the other. */
struct binds {
    const struct bind *items;
    size_t n;
};

#define BINDS(...)                                      \
    ((struct binds){(const struct bind[]){__VA_ARGS__}, \
                    ARRAY_LEN(((const struct bind[]){__VA_ARGS__}))})
#define NO_BINDS ((struct binds){NULL, 0})

/*
 * Where rows go: take() is called for each row.  A NULL cell has ptr NULL; numbers are text.
 * Cells are valid during the call.
 */
struct row_sink {
    void (*take)(struct row_sink *sink, const struct str *cells);
};

struct store_token {
    const char *name; /* "{key}" */
    const char *text;
};

struct store_backend_ops {
    const char *kind;                 /* "sqlite", "mysql" */
    const struct store_token *tokens; /* ends with a NULL name */

    bool (*begin)(struct store_backend *b, struct err *err);
    /* A commit that fails has rolled back or closed the connection. */
    bool (*commit)(struct store_backend *b, struct err *err);
    void (*rollback)(struct store_backend *b);

    /*
     * Run a statement that returns no rows.  If n_rows > 1, it is an INSERT ...  VALUES (...)
     * for that many rows, with binds.n / n_rows values each.
     */
    bool (*run)(struct store_backend *b, const char *sql, struct binds binds, size_t n_rows,
                struct err *err);
    bool (*select)(struct store_backend *b, const char *sql, struct binds binds,
                   struct row_sink *sink, struct err *err);

    /* Keep everybody else from migrating.  Call both outside a transaction. */
    bool (*lock_schema)(struct store_backend *b, struct err *err);
    void (*unlock_schema)(struct store_backend *b);
    /*
     * Does the database hold no tables at all, not only none of ours? May refuse a database
     * that belongs to another program.
     */
    bool (*is_empty)(struct store_backend *b, bool *empty, struct err *err);
    /*
     * Run one statement of a migration.  Succeeds if an earlier, interrupted migration has
     * already done it.
     */
    bool (*define)(struct store_backend *b, struct str sql, struct err *err);

    /*
     * For a store that several share; NULL: nobody else can use it.  Call both with the schema
     * locked.  enter: tell the others that we, who know so many migrations, use it, for as long
     * as our connection lives.  find_older: append the names of those who know fewer.
     */
    bool (*enter)(struct store_backend *b, size_t n_known, struct err *err);
    bool (*find_older)(struct store_backend *b, size_t n_known, struct buf *names,
                       struct err *err);

    /* The longest text that can be bound, in bytes. */
    size_t (*text_max)(struct store_backend *b);
    void (*close)(struct store_backend *b);
};

/* The first member of every backend. */
struct store_backend {
    const struct store_backend_ops *ops;
    bool is_newer; /* a newer program has it, and we were refused (migrate.h) */
};

/* Returns the token that rest starts with, or NULL. */
const struct store_token *store_backend_token(const struct store_backend *b, struct str rest);
/* Append sql with its tokens replaced by the backend's texts. */
void store_backend_render(const struct store_backend *b, struct str sql, struct buf *out);

/* Migrate, and make a store that owns b.  On failure b is closed. */
bool store_open_backend(struct store **out, struct store_backend *b, bool alone,
                        struct err *err) MUST_CHECK;

#endif
