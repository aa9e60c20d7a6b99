/*
 * The foreign keys of tables, as the server has them now, and their actions.
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

/* Those of one child table, by name. */
struct foreign_keys {
    struct foreign_key *keys;
    size_t n;
};

/*
 * Load the foreign keys of child tables, in the arena: fill out with one element per name, in
 * the same order.  Their actions are "RESTRICT" until foreign_keys_load_actions().
 */
bool foreign_keys_load(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                       struct arena *a, struct foreign_keys *out, struct err *err) MUST_CHECK;
/* Set the actions of loaded keys. */
bool foreign_keys_load_actions(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                               struct arena *a, struct foreign_keys *of,
                               struct err *err) MUST_CHECK;

/* Tell whether the action changes rows: CASCADE, SET NULL, SET DEFAULT. */
bool foreign_key_acts(struct str action);

#endif
