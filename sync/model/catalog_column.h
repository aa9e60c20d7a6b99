/*
 * One column as information_schema.COLUMNS describes it, to struct column.
 *
 * MySQL and MariaDB differ: invisible and generated columns are words in EXTRA, MariaDB says
 * COMPRESSED and old temporal storage in comments of COLUMN_TYPE, labels are written with ''
 * and backslashes in either.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_CATALOG_COLUMN_H
#define SYNC_MODEL_CATALOG_COLUMN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/schema.h"

#include <stdbool.h>

struct arena;

/* Cells of a row of information_schema.COLUMNS; ptr NULL where the server says NULL. */
struct catalog_cells {
    struct str name, data_type, column_type, is_nullable, extra;
    struct str charset, collation;
    struct str char_length, precision, scale, fsp;
    struct str column_default, expression;
};

/* Everything is copied into a. */
void catalog_column(const struct catalog_cells *cells, struct arena *a, struct column *out);

#endif
