/*
 * For the catalog's own files: how information_schema is asked about many tables at once
 * (catalog_reader.c), and the schemas that come of it (catalog_schemas.c), on which the facts
 * stand (catalog_facts.c).
 *
 * @thread that of the connection; what takes an err blocks
 */
#ifndef SYNC_MODEL_CATALOG_PARTS_H
#define SYNC_MODEL_CATALOG_PARTS_H

#include "sync/model/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_row;

#define TABLES_A_STATEMENT 50

struct catalog_reader {
    struct mysql_conn *conn;
    const struct catalog_name *names; /* of this round; borrowed */
    size_t n;
    bool any_case; /* the server compares names of tables without case */
    uint64_t seen; /* a hash of all that the last query gave */
};

/*
 * `SELECT columns FROM table WHERE condition` for each name, all in one statement, ordered by
 * the first three columns, which are schema, table and something that puts rows in order.
 */
struct catalog_query {
    const char *columns;
    const char *table;
    const char *schema_column, *table_column;
    const char *condition; /* "" or " AND ..." */
};

typedef void (*catalog_row_fn)(void *ctx, size_t table, const struct mysql_row *row);

bool catalog_reader_open(struct catalog_reader *r, struct mysql_conn *c, struct err *err);
/* Points it at the names from `start`, TABLES_A_STATEMENT at most; false: there are no more. */
bool catalog_reader_next(struct catalog_reader *r, const struct catalog_name *names, size_t n,
                         size_t start);
/* Calls found for every row that belongs to one of the names. */
bool catalog_reader_run(struct catalog_reader *r, const struct catalog_query *q,
                        catalog_row_fn found, void *ctx, struct err *err);

/* Room for one more in an array of n in an arena: for 4, then doubled. */
void *catalog_grow(struct arena *a, void *old, size_t n, size_t size);

/* Of the reader's names, each with a reference or NULL, and the server's estimates of their
 * rows. What it found before an error is the caller's, too. */
bool catalog_read_schemas(struct catalog_reader *r, struct schema **out, uint64_t *n_rows,
                          struct err *err);

#endif
