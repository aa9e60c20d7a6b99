/*
 * Definitions back to text: canonical JSON for the store, YAML for people, both walking the
 * form.
 *
 * Canonical: fields in the form's order, nothing that equals its default, raw parts with sorted
 * names, objects sorted by name.  So equal definitions give equal bytes, and applying an export
 * changes nothing.  A literal password is written only for the store; everywhere else it is
 * `***`, which `apply` takes for "the one that is stored".
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_DEFINITION_EXPORT_H
#define SYNC_MODEL_DEFINITION_EXPORT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/model/definition.h"
#include "sync/model/definition_form.h"

#include <stddef.h>

#define DEFINITION_HIDDEN "***"

struct arena;
struct buf;
struct stored_definition;
struct yaml_node;

enum secrets { SECRETS_HIDDEN = 0, SECRETS_SHOWN };

/* What the store keeps; everything in the arena.  Contains secrets. */
void definitions_to_store(const struct definitions *d, struct arena *a,
                          struct stored_definition **out, size_t *n);

/* The whole as a definition file; empty definitions give "{}". */
void definitions_append_yaml(const struct definitions *d, struct buf *yaml);

/* One object as JSON, without secrets: for the API, and what index versions keep. */
void topic_append_json(const struct topic_definition *t, struct buf *json);
void database_append_json(const struct database_definition *db, struct buf *json);
void table_append_json(const struct table_definition *t, struct buf *json);

/* One object as the store keeps it, with secrets. */
void definition_append_stored(const struct form *form, const void *object, struct buf *json);

/* The tree of one object, for those who compare; strings are copied. */
struct yaml_node *definition_tree(struct arena *a, const struct form *form, const void *object,
                                  enum secrets secrets) RETURNS_NONNULL MUST_CHECK;

#endif
