/*
 * The columns that identify a table's documents: those of `key`, else the primary key, else the
 * first of `unique_keys` without NULLs.
 *
 * @thread any (pure)
 */
#ifndef SYNC_CATALOG_TABLE_KEY_H
#define SYNC_CATALOG_TABLE_KEY_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct schema;
struct table_definition;

/* Names from the definition. n 0 means the primary key, if the table has one. */
struct table_key {
    const struct str *columns; /* borrowed from the definition */
    size_t n;
};
struct table_key table_key_named(const struct table_definition *t, const struct schema *s);

/* Count the columns in a list of unique_keys. */
size_t unique_key_length(const struct str *columns);

#endif
