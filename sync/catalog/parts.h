/*
 * For the catalog's own files: querying information_schema about many tables at once
 * (sync/catalog/reader.c), and building schemas from that
 * (catalog_schemas.c) for the facts (sync/catalog/facts.c).
 *
 * @thread the connection's; what takes an err blocks
 */
#ifndef SYNC_CATALOG_PARTS_H
#define SYNC_CATALOG_PARTS_H

#include "src/base/buf.h"
#include "sync/catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;
struct mysql_row;

struct catalog_reader {
    struct mysql_conn *conn;
    const struct catalog_name *names; /* of the current round; borrowed */
    size_t n;
    struct map *by_name; /* "schema\0table" -> its element of names */
    struct buf key;
    bool any_case; /* the server compares table names without case */
};

/*
 * One statement runs `SELECT columns FROM table WHERE condition` for all names.  It orders by
 * the first four columns: schema, table, and two that order the rows.
 */
struct catalog_query {
    const char *columns;
    const char *table;
    const char *schema_column, *table_column;
    const char *condition; /* "" or " AND ..." */
};

typedef void (*catalog_row_fn)(void *ctx, size_t table, const struct mysql_row *row);

/* Close it also after this failed. */
bool catalog_reader_open(struct catalog_reader *r, struct mysql_conn *c, struct err *err);
void catalog_reader_close(struct catalog_reader *r);
/* Take as many names from `start` on as fit a statement.  Returns false if none is left. */
bool catalog_reader_next(struct catalog_reader *r, const struct catalog_name *names, size_t n,
                         size_t start);
/* Take exactly these; borrowed. */
void catalog_reader_take(struct catalog_reader *r, const struct catalog_name *names, size_t n);
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
