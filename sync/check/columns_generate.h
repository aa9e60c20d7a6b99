/*
 * Generate a definition from a table's columns: each with its field type, a comment with its
 * column type, and what searches will not see of its values.
 *
 * The output is a definition file that can be applied as it is.  It states explicitly what the
 * table maps to without `columns`, so that the user has something to edit.
 *
 * @thread any (pure)
 */
#ifndef SYNC_CHECK_COLUMNS_GENERATE_H
#define SYNC_CHECK_COLUMNS_GENERATE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/definition/field_type.h"

#include <stddef.h>

struct buf;
struct definitions;
struct foreign_key;
struct json_writer;
struct table_facts;

struct columns_request {
    struct str table; /* DATABASE.TABLE */
    const struct table_facts *facts;
    const struct definitions *definitions; /* names the related databases */
    const struct foreign_key *keys;        /* of the table, for initial relations */
    size_t n_keys;
    struct engine engine;
};

/* Append the definition file. */
void columns_append_yaml(const struct columns_request *r, struct buf *yaml);

/* Write the same for programs: the members `key` and `items` of the open object. */
void columns_write_json(const struct columns_request *r, struct json_writer *w);

#endif
