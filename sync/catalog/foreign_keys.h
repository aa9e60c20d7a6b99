/*
 * The foreign keys of a table, as the server has them now, and their actions.
 *
 * @thread the connection's; blocks
 */
#ifndef SYNC_CATALOG_FOREIGN_KEYS_H
#define SYNC_CATALOG_FOREIGN_KEYS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct mysql_conn;

struct foreign_key {
    struct str name;
    struct str schema, table; /* the child table */
    struct str parent_schema, parent_table;
    struct str *columns, *parent_columns; /* in pairs */
    size_t n_columns;
    struct str on_delete, on_update; /* "CASCADE", "SET NULL", "RESTRICT", "NO ACTION", ... */
};

/* Load the foreign keys of a child table by name, in the arena. */
bool foreign_keys_load(struct mysql_conn *c, const struct catalog_name *name, struct arena *a,
                       struct foreign_key **out, size_t *n, struct err *err) MUST_CHECK;

/*
 * Load those of all tables of a schema, by table and name, with one statement.  Their actions
 * are empty.
 */
bool foreign_keys_load_all(struct mysql_conn *c, struct str schema, struct arena *a,
                           struct foreign_key **out, size_t *n, struct err *err) MUST_CHECK;

/* Tell whether the action changes rows: CASCADE, SET NULL, SET DEFAULT. */
bool foreign_key_acts(struct str action);

#endif
