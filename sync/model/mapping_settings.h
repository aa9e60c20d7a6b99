/*
 * The settings of an index version: those of its table's definition, ours, and what differs
 * while it is filled.
 *
 * While a version is filled it has no replicas and is refreshed every second;
 * mapping_settings_final() is what to put when it is full.  Deletes stay known for an hour
 * (gc_deletes), so that a late write of a lower version cannot bring a document back.
 *
 * Tables are given as definition_settings() has them.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_MAPPING_SETTINGS_H
#define SYNC_MODEL_MAPPING_SETTINGS_H

#include "src/base/base.h"
#include "src/problem.h"

#include <stdbool.h>

struct arena;
struct buf;
struct definitions;
struct table_definition;
struct yaml_node;

/* What an index is made with; has_knn: a field is a knn_vector.  In the arena. */
struct yaml_node *mapping_settings_new(struct arena *a, const struct table_definition *t,
                                       bool has_knn, bool filling) RETURNS_NONNULL MUST_CHECK;

/* Settings that a definition may not have, each at its place. */
void mapping_settings_check(const struct definitions *d, const struct table_definition *t,
                            struct problems *problems);

/* To put once a version is full: what filling changed, as the definition has it.  A JSON
 * object, appended. */
void mapping_settings_final(const struct table_definition *t, struct buf *json);

/*
 * What an index that was made by `from` needs to have the settings of `to`, as far as the
 * engine takes them while it is open; null: its own default again.  After it has been put, the
 * index has the settings `then`, as they stand in a definition.  Both are appended.  False:
 * there is nothing to do.
 */
bool mapping_settings_changed(const struct table_definition *from,
                              const struct table_definition *to, struct buf *json,
                              struct buf *then);

#endif
