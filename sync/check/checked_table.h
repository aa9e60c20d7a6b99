/*
 * struct checked_table: a table named in a definition and its server's facts, during a check.
 *
 * @thread any (pure except for the source)
 */
#ifndef SYNC_CHECK_CHECKED_TABLE_H
#define SYNC_CHECK_CHECKED_TABLE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/catalog/catalog.h"
#include "sync/definition/definition.h"
#include "sync/value/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * struct reach: how many documents a change of one row of a related table rebuilds.
 *
 * The estimate goes from the root down: each step multiplies by the number of outer rows that
 * share the join value.
 */

/* Warn the user from this many documents on. */
#define REACH_MANY 10000

struct reach {
    uint64_t largest; /* for the row in the most documents; 0 if unknown */
    uint64_t usual;   /* on average, rounded up */
    bool at_least;    /* some rows were not examined */
    uint64_t all;     /* documents that there are, by the server's estimate; 0 if unknown */
};

/* The reach of the document's own row, of as many as its table is estimated to have. */
static inline struct reach reach_root(uint64_t n_rows)
{
    return (struct reach){1, 1, false, n_rows};
}

/*
 * Go one step down, along columns that outer rows share as in shares; NULL if unknown.  Rows
 * that join over several ways lead to one document, so never more than there are.
 */
struct reach reach_below(struct reach outer, const struct catalog_shares *shares);

/* Append "1 document", or "at least 12,345 documents, 17 on average". */
void reach_append(struct buf *text, struct reach r);

/* Provides the facts. schema and table are names on the topic's server. */
struct check_source {
    void *ctx;
    /*
     * Returns facts borrowed until the check ends.  Their schema is NULL if the table does not
     * exist.
     */
    const struct table_facts *(*find)(void *ctx, struct str topic, struct str schema,
                                      struct str table);
    /* Call offer for each visible table of the schema.  Returns false if there is none. */
    bool (*each_table)(void *ctx, struct str topic, struct str schema,
                       void (*offer)(void *to, struct str name), void *to);
    /* Sets ERR_REJECT if the server does not understand the condition or the order. */
    bool (*try_clause)(void *ctx, struct str topic, const struct catalog_name *table,
                       enum catalog_clause clause, struct str text, struct err *err);
    /* Returns false if unknown.  May be NULL if nobody can count. */
    bool (*count_shares)(void *ctx, struct str topic, const struct shares_wanted *wanted,
                         struct catalog_shares *out);
    /* Appends the topic's account as GRANT takes it, or "the topic's user". */
    void (*append_account)(void *ctx, struct str topic, struct buf *out);
};

/* One check of one definition.  Borrows everything until it ends. */
struct checker {
    const struct definitions *d;
    const struct check_source *source;
    struct problems *problems;
    bool incomplete; /* a table is missing, so the mapping cannot be made */
};

struct checked_table {
    struct str table; /* the name in the definition */
    struct table_location at;
    struct place place;
    const struct table_facts *facts; /* NULL after a report */
    struct reach reach;              /* documents that hold one row of it */
};

/* Find the table that the definition names at place; reports a missing one. */
struct checked_table checked_table_find(struct checker *c, struct str table,
                                        struct place place);

/*
 * Find a column, borrowed from the facts.  Returns NULL after a report at its name, or at
 * `otherwise`.
 */
const struct column *checked_table_column(struct checker *c, const struct checked_table *s,
                                          struct str name, struct place otherwise);

/* Where the definition has this text, or `otherwise`. */
struct place checked_table_place(const struct checker *c, struct str text,
                                 struct place otherwise);

#endif
