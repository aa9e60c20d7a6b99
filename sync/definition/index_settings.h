/*
 * The settings of an index as one flat list of names, however they were written
 * ({number_of_shards: 1}, {index: {...}}, {"index.number_of_shards": 1}).
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_INDEX_SETTINGS_H
#define SYNC_DEFINITION_INDEX_SETTINGS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct arena;
struct yaml_node;

/*
 * Returns {"number_of_shards": 1, "analysis.analyzer.a.type": "custom"}, names without
 * "index.".
 */
struct yaml_node *index_settings_flatten(struct arena *a, const struct yaml_node *settings)
    RETURNS_NONNULL MUST_CHECK;

/*
 * Tell whether the engines can change the setting of an open index.  The others need a new
 * version.
 */
bool index_setting_is_live(struct str name);

/* Tell whether the setting has every document of the index pass an ingest pipeline. */
bool index_setting_names_pipeline(struct str name);

/* If Millrace sets this itself and a definition may not, returns why; else NULL. */
const char *index_setting_is_ours(struct str name);

#endif
