/*
 * A table's columns as a definition: each with its field type, its column type beside it, and
 * what of its values searches do not see.
 *
 * The text is a definition file that can be applied as it is; it says what the table's mapping
 * is without `columns`, word by word, so that a person has something to change.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_COLUMNS_GENERATE_H
#define SYNC_MODEL_COLUMNS_GENERATE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/model/field_type.h"

#include <stddef.h>

struct buf;
struct definitions;
struct foreign_key;
struct json_writer;
struct table_facts;

struct columns_request {
    struct str table; /* DATABASE.TABLE */
    const struct table_facts *facts;
    const struct definitions *definitions; /* for the names of related databases */
    const struct foreign_key *keys;        /* of the table, for relations to begin with */
    size_t n_keys;
    struct engine engine;
};

/* Append the definition file. */
void columns_append_yaml(const struct columns_request *r, struct buf *yaml);

/* Write the members `key` and `items` of the open object: the same for programs. */
void columns_write_json(const struct columns_request *r, struct json_writer *w);

#endif
