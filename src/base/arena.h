/*
 * struct arena: many small allocations, one release.
 *
 * Everything decoded from one transaction lives in that transaction's arena and dies with it.
 * Nothing inside an arena is freed on its own.
 */
#ifndef SRC_BASE_ARENA_H
#define SRC_BASE_ARENA_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

struct arena;

struct arena *arena_new(void) RETURNS_NONNULL MUST_CHECK;
void arena_free(struct arena *a);

/* Returns zero-filled memory for n objects, aligned for any type. Valid until arena_free() or
 * arena_reset(). */
void *arena_alloc(struct arena *a, size_t n, size_t size) RETURNS_NONNULL MUST_CHECK;

/* Returns uninitialised, unaligned memory for n bytes of text. */
char *arena_bytes(struct arena *a, size_t n) RETURNS_NONNULL MUST_CHECK;

/* Copies s into the arena and puts a NUL behind it. */
struct str arena_copy(struct arena *a, struct str s);

/* Drops the contents. Keeps some memory for the next use. */
void arena_reset(struct arena *a);

/* Returns the bytes held, for queue accounting. */
size_t arena_size(const struct arena *a);

#endif
