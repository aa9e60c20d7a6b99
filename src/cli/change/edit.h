/*
 * Changes of one definition's tree, as `set` and `add` commands name them.
 *
 * An assignment is FIELD=VALUE.  FIELD may lead into maps: tls.verify.  A VALUE that begins
 * with [ { " or ' is YAML; any other is the text as it is, or the number, true, false or null
 * that it looks like.  Without VALUE the field goes, and its default counts again.
 *
 * A relation is named by a path of the names that documents show: items.product.
 *
 * Strings are borrowed: they must live as long as the arena.  Failures are ERR_REJECT.
 *
 * @thread any (pure)
 */
#ifndef SRC_CLI_CHANGE_EDIT_H
#define SRC_CLI_CHANGE_EDIT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct yaml_node;

bool edit_set(struct arena *a, struct yaml_node *map, const char *const *assignments, size_t n,
              struct err *err) MUST_CHECK;

/* The name that documents show: `as`, or the table's without its database. */
struct str edit_relation_name(const struct yaml_node *relation);
/* The relation at the path, or NULL. */
struct yaml_node *edit_find_relation(struct yaml_node *table, struct str path,
                                     struct err *err) MUST_CHECK;
/* Add an empty relation of that name, and set its `as`.  NULL if there is one. */
struct yaml_node *edit_add_relation(struct arena *a, struct yaml_node *table, struct str path,
                                    struct err *err) MUST_CHECK;
bool edit_delete_relation(struct yaml_node *table, struct str path, struct err *err) MUST_CHECK;

/* The columns that are listed, at least `*`, which stands for those that are not.  Or NULL. */
struct yaml_node *edit_columns(struct arena *a, struct yaml_node *owner,
                               struct err *err) MUST_CHECK;
/* One that is listed, as a map, which is no part of the tree; or NULL. */
struct yaml_node *edit_listed_column(struct arena *a, struct yaml_node *owner, struct str name,
                                     struct err *err) MUST_CHECK;
/* A column of a list as a map: {name: it} of one that is only named. */
struct yaml_node *edit_column_map(struct arena *a, struct yaml_node *column) MUST_CHECK;
/*
 * A column of a table or relation, as a map.  Without `columns`, or with `*` among them, every
 * column is shown: then one that is not listed is listed for its changes.  NULL: it is not
 * shown.
 */
struct yaml_node *edit_column(struct arena *a, struct yaml_node *owner, struct str name,
                              struct err *err) MUST_CHECK;
/* Show one more.  NULL if it is shown already. */
struct yaml_node *edit_add_column(struct arena *a, struct yaml_node *owner, struct str name,
                                  struct err *err) MUST_CHECK;
/* Show it no longer: where every column is shown, by `skip`. */
bool edit_delete_column(struct arena *a, struct yaml_node *owner, struct str name,
                        struct err *err) MUST_CHECK;

#endif
