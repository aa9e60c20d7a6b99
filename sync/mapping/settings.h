/*
 * The settings of an index version: the definition's, ours, and those that differ while it is
 * being filled.
 *
 * A version being filled has no replicas and refreshes every second; mapping_settings_final()
 * gives the settings to put afterwards.  Deletes stay known for an hour (gc_deletes), so that a
 * late write of a lower version cannot resurrect a document.  Pass tables as
 * definition_settings() returns them.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MAPPING_SETTINGS_H
#define SYNC_MAPPING_SETTINGS_H

#include "src/base/base.h"
#include "src/format/problem.h"

#include <stdbool.h>

struct arena;
struct buf;
struct definitions;
struct table_definition;
struct yaml_node;

/* The settings to create an index with, in the arena. has_knn: some field is a knn_vector. */
struct yaml_node *mapping_settings_new(struct arena *a, const struct table_definition *t,
                                       bool has_knn, bool filling) RETURNS_NONNULL MUST_CHECK;

/* Report settings that a definition may not have, each at its place. */
void mapping_settings_check(const struct definitions *d, const struct table_definition *t,
                            struct problems *problems);

/*
 * Append a JSON object with the settings to put on a filled version: undo what filling changed.
 */
void mapping_settings_final(const struct table_definition *t, struct buf *json);

/*
 * Append the live settings to put on an index made by `from` to give it those of `to`; null
 * restores the engine's default.  `then` receives the settings that the index has afterwards,
 * as in a definition.  Returns false if there is nothing to put.
 */
bool mapping_settings_changed(const struct table_definition *from,
                              const struct table_definition *to, struct buf *json,
                              struct buf *then);

#endif
