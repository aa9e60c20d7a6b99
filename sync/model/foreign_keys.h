/*
 * The foreign keys of one table, as the server has them now, and what they do by themselves.
 *
 * @thread that of the connection; blocks
 */
#ifndef SYNC_MODEL_FOREIGN_KEYS_H
#define SYNC_MODEL_FOREIGN_KEYS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/model/catalog.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct mysql_conn;

struct foreign_key {
    struct str name;
    struct str schema, table; /* the child's */
    struct str parent_schema, parent_table;
    struct str *columns, *parent_columns; /* in pairs */
    size_t n_columns;
    struct str on_delete, on_update; /* "CASCADE", "SET NULL", "RESTRICT", "NO ACTION", ... */
};

/* Where the table is the child, by name; everything in the arena. */
bool foreign_keys_load(struct mysql_conn *c, const struct catalog_name *name, struct arena *a,
                       struct foreign_key **out, size_t *n,
                       struct err *err) MUST_CHECK;

/* CASCADE, SET NULL and SET DEFAULT change rows. */
bool foreign_key_acts(struct str action);

#endif
