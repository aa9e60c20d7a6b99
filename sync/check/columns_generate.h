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
struct catalog_index;
struct definitions;
struct foreign_key;
struct json_writer;
struct schema;
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

/* Append only `columns:` and its list, each line after the indent. */
void columns_append_list(const struct table_facts *f, const struct engine *e,
                         const char *indent, struct buf *yaml);
/*
 * Append a name for the document if that of the column at `at` is invalid; otherwise nothing.
 */
void columns_append_as(struct buf *as, const struct schema *s, size_t at);
/*
 * Find the first unique index usable as a document key if there is no primary key.  Returns
 * NULL if there is none, or a primary key.
 */
const struct catalog_index *columns_other_key(const struct table_facts *f);

/* Write the same for programs: the members `key` and `items` of the open object. */
void columns_write_json(const struct columns_request *r, struct json_writer *w);

#endif
