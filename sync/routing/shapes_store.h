/*
 * The shapes of a topic's tables in the store, between runs.  Blocks on the store.
 */
#ifndef SYNC_ROUTING_SHAPES_STORE_H
#define SYNC_ROUTING_SHAPES_STORE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct shapes;
struct store;

/*
 * If loading fails, logs it and returns an empty set: shapes are then learned again, with more
 * doubt. start is the stream's start as a version; before as for shapes_parse().
 */
struct shapes *shapes_store_load(struct store *store, const char *topic, uint64_t start,
                                 uint64_t before) RETURNS_NONNULL MUST_CHECK;
bool shapes_store_save(struct store *store, const char *topic, const struct shapes *s,
                       struct err *err) MUST_CHECK;

#endif
