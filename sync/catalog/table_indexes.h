/*
 * What the indexes of a table provide: a key, uniqueness, fast look-ups.
 *
 * Columns are given by name, in any case and order.
 *
 * @thread any (pure)
 */
#ifndef SYNC_CATALOG_TABLE_INDEXES_H
#define SYNC_CATALOG_TABLE_INDEXES_H

#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct catalog_index;
struct table_facts;

/*
 * Tell whether some unique index without NULLs lies within these columns: each row has a key.
 */
bool table_indexes_have_key(const struct table_facts *f, const struct str *columns, size_t n);
/* Tell whether some unique index has exactly these columns. */
bool table_indexes_have_unique(const struct table_facts *f, const struct str *columns,
                               size_t n);
/* Tell whether some index begins with these columns and so finds rows by them. */
bool table_indexes_begin_with(const struct table_facts *f, const struct str *columns, size_t n);
/* Tell whether no two rows share a value in these columns, NULLs aside. */
bool table_indexes_single_out(const struct table_facts *f, const struct str *columns, size_t n);

/*
 * Returns an index, borrowed, that has the rows in the order of these columns; NULL if none
 * has. No two rows agree in all of them.  InnoDB's indexes end with the primary key.
 */
const struct catalog_index *table_indexes_in_order(const struct table_facts *f,
                                                   const struct str *columns, size_t n);

/* Append "a, b", or the same quoted for SQL. */
void table_indexes_append(struct buf *b, const struct str *columns, size_t n, bool quoted);

#endif
