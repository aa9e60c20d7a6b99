/*
 * Convert a row of information_schema.COLUMNS to struct column.
 *
 * The servers differ: EXTRA has words for invisible and generated columns, MariaDB notes
 * COMPRESSED and old temporal storage in comments of COLUMN_TYPE, and either writes labels with
 * '' and backslashes.
 *
 * @thread any (pure)
 */
#ifndef SYNC_CATALOG_COLUMN_H
#define SYNC_CATALOG_COLUMN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/value/schema.h"

#include <stdbool.h>

struct arena;

/* The cells of a row of information_schema.COLUMNS; ptr NULL for NULL. */
struct catalog_cells {
    struct str name, data_type, column_type, is_nullable, extra;
    struct str charset, collation;
    struct str char_length, precision, scale, fsp;
    struct str column_default, expression;
};

/* Copies everything into a. */
void catalog_column(const struct catalog_cells *cells, struct arena *a, struct column *out);

#endif
