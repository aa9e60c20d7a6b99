/*
 * For the catalog's own files: querying information_schema about many tables at once, each by
 * its names or all of a schema (sync/catalog/reader.c), and building schemas from that
 * (catalog_schemas.c) for the facts (sync/catalog/facts.c).
 *
 * @thread the connection's; what takes an err blocks
 */
#ifndef SYNC_CATALOG_PARTS_H
#define SYNC_CATALOG_PARTS_H

#include "sync/catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_row;

#define TABLES_A_STATEMENT 50

struct catalog_reader {
    struct mysql_conn *conn;
    const struct catalog_name *names; /* of the current round; borrowed */
    size_t n;
    bool whole;    /* the names are those of one schema: ask for all its tables at once */
    size_t latest; /* the name found last; rows come in the order of the names */
    bool any_case; /* the server compares table names without case */
    uint64_t seen; /* a hash of everything that the last query returned */
};

/*
 * One statement runs `SELECT columns FROM table WHERE condition` for all names.  It orders by
 * the first three columns: schema, table, and one that orders the rows.
 */
struct catalog_query {
    const char *columns;
    const char *table;
    const char *schema_column, *table_column;
    const char *condition; /* "" or " AND ..." */
};

typedef void (*catalog_row_fn)(void *ctx, size_t table, const struct mysql_row *row);

bool catalog_reader_open(struct catalog_reader *r, struct mysql_conn *c, struct err *err);
/* Take up to TABLES_A_STATEMENT names from `start` on.  Returns false if none is left. */
bool catalog_reader_next(struct catalog_reader *r, const struct catalog_name *names, size_t n,
                         size_t start);
/* Call found for every row of one of the names. */
bool catalog_reader_run(struct catalog_reader *r, const struct catalog_query *q,
                        catalog_row_fn found, void *ctx, struct err *err);

/* Make room for one more element of an array in an arena: for 4 at first, then doubling. */
void *catalog_grow(struct arena *a, void *old, size_t n, size_t size);

/*
 * Read the schemas of the reader's names, each a reference or NULL, and the server's row
 * estimates.  After an error, the caller still owns the schemas read so far.
 */
bool catalog_read_schemas(struct catalog_reader *r, struct schema **out, uint64_t *n_rows,
                          struct err *err);

#endif
