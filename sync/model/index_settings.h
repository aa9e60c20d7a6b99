/*
 * The settings of an index: one flat list of names, whichever way they were written
 * ({number_of_shards: 1}, {index: {...}}, {"index.number_of_shards": 1}).
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_INDEX_SETTINGS_H
#define SYNC_MODEL_INDEX_SETTINGS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct arena;
struct yaml_node;

/* {"number_of_shards": 1, "analysis.analyzer.a.type": "custom"}, without "index." in front. */
struct yaml_node *index_settings_flatten(struct arena *a, const struct yaml_node *settings)
    RETURNS_NONNULL MUST_CHECK;

/* Whether the engines take it for an index that is open; the others need a new version. */
bool index_setting_is_live(struct str name);

/* Whether Millrace sets it itself, so that a definition may not: why, or NULL. */
const char *index_setting_is_ours(struct str name);

#endif
