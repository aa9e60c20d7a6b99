/*
 * Definitions as text: canonical JSON for the store, YAML for people.  Both walk the form.
 *
 * Canonical means: fields in form order, no values equal to their default, raw parts with
 * sorted names, objects sorted by name.  So equal definitions give equal bytes, and applying an
 * export changes nothing.  Only the store gets literal passwords; elsewhere they are `***`,
 * which `apply` reads as "keep the stored one".
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_EXPORT_H
#define SYNC_DEFINITION_EXPORT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/definition/definition.h"
#include "sync/definition/form.h"

#include <stddef.h>

#define DEFINITION_HIDDEN "***"

struct arena;
struct buf;
struct stored_definition;
struct yaml_node;

enum secrets { SECRETS_HIDDEN = 0, SECRETS_SHOWN };

/* Format everything for the store, in the arena.  Contains secrets. */
void definitions_to_store(const struct definitions *d, struct arena *a,
                          struct stored_definition **out, size_t *n);

/*
 * Take the files and variables with secrets out of a server, for whoever may not know where
 * these are.
 */
void server_hide_files(struct server_definition *server);
/* The same of all servers: a copy that borrows the rest from d, and lives as long as a. */
void definitions_hide_files(struct definitions *out, const struct definitions *d,
                            struct arena *a);

/* Append one definition file with everything; "{}" if there are no definitions. */
void definitions_append_yaml(const struct definitions *d, struct buf *yaml);

/* Append one object as JSON without secrets, for the API and for records of index versions. */
void topic_append_json(const struct topic_definition *t, struct buf *json);
void database_append_json(const struct database_definition *db, struct buf *json);
void table_append_json(const struct table_definition *t, struct buf *json);

/* Append one object in its stored form, with secrets. */
void definition_append_stored(const struct form *form, const void *object, struct buf *json);

/* Build the tree of one object, for comparisons.  Copies strings. */
struct yaml_node *definition_tree(struct arena *a, const struct form *form, const void *object,
                                  enum secrets secrets) RETURNS_NONNULL MUST_CHECK;

#endif
