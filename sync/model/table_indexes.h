/*
 * What the indexes of a table are good for: a key, a unique value, a fast look-up.
 *
 * Columns are given by name, in any case and order.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_TABLE_INDEXES_H
#define SYNC_MODEL_TABLE_INDEXES_H

#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct table_facts;

/* A unique index without NULLs, all of whose columns are among those given: each row has a key.
 */
bool table_indexes_have_key(const struct table_facts *f, const struct str *columns, size_t n);
/* A unique index of just these columns. */
bool table_indexes_have_unique(const struct table_facts *f, const struct str *columns,
                               size_t n);
/* An index begins with these columns: rows are found by it. */
bool table_indexes_begin_with(const struct table_facts *f, const struct str *columns, size_t n);
/* These columns have a value at most once; NULLs aside. */
bool table_indexes_single_out(const struct table_facts *f, const struct str *columns, size_t n);

/* "a, b", or quoted for SQL. */
void table_indexes_append(struct buf *b, const struct str *columns, size_t n, bool quoted);

#endif
