/*
 * struct map: byte-string keys to pointers, iterated in insertion order.
 *
 * The map copies keys. Values belong to the caller and are never NULL.
 *
 * @thread one at a time
 */
#ifndef SRC_BASE_MAP_H
#define SRC_BASE_MAP_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct map;

struct map *map_new(void) RETURNS_NONNULL MUST_CHECK;
void map_free(struct map *m, void (*drop)(void *value)); /* drop may be NULL */

void *map_find(const struct map *m, struct str key); /* NULL if absent */
/* Stores value under key. Returns the previous value, or NULL. */
void *map_put(struct map *m, struct str key, void *value);
/* Removes key. Returns its value, or NULL. */
void *map_remove(struct map *m, struct str key);
size_t map_count(const struct map *m);

/*
 *     for (size_t i = 0; map_next(m, &i, &key, &value);)
 *
 * The loop may call map_remove(), but must not map_put() a new key.
 */
bool map_next(const struct map *m, size_t *i, struct str *key, void **value);

#endif
