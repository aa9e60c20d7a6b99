/*
 * struct arena: many small allocations, one release.
 *
 * Everything decoded from one transaction lives in that transaction's arena
 * and dies with it; nothing inside an arena is ever freed on its own.
 */
#ifndef SRC_BASE_ARENA_H
#define SRC_BASE_ARENA_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

struct arena;

struct arena *arena_new(void) RETURNS_NONNULL MUST_CHECK;
void arena_free(struct arena *a);

/* Zero-filled memory for n objects, aligned for any type; valid until arena_free(). */
void *arena_alloc(struct arena *a, size_t n, size_t size) RETURNS_NONNULL MUST_CHECK;

/* Memory for n bytes of text: neither aligned nor filled. */
char *arena_bytes(struct arena *a, size_t n) RETURNS_NONNULL MUST_CHECK;

/* A copy of s inside the arena, with a NUL behind it. */
struct str arena_copy(struct arena *a, struct str s);

/* Forget everything inside, as if new; some memory is kept for the next use. */
void arena_reset(struct arena *a);

/* Bytes held, for queue accounting. */
size_t arena_size(const struct arena *a);

#endif
