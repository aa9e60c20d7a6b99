/*
 * Which columns name a table's documents: those of `key`, else the primary key, else those of
 * the first of `unique_keys` that have no NULLs.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_TABLE_KEY_H
#define SYNC_MODEL_TABLE_KEY_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct schema;
struct table_definition;

/* Names of the definition; n 0: it is the primary key, if there is one. */
struct table_key {
    const struct str *columns; /* borrowed from the definition */
    size_t n;
};
struct table_key table_key_named(const struct table_definition *t, const struct schema *s);

/* How many columns a list of unique_keys has. */
size_t unique_key_length(const struct str *columns);

#endif
