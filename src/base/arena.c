#include "config.h"

#include "src/base/arena.h"

#include "src/base/mem.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

#define CHUNK_SIZE (16 * 1024)

/* Larger pieces get chunks of their own and leave the current chunk as it is. */
#define SHARED_MAX (CHUNK_SIZE / 4)

/* arena_reset() keeps a chunk of at most this size. */
#define KEEP_MAX ((size_t)256 * 1024)

struct arena_block {
    struct arena_block *next;
    size_t cap;
    size_t used;
    alignas(max_align_t) char data[];
};

struct arena {
    struct arena_block *head; /* the chunk being filled */
    size_t size;
};

struct arena *arena_new(void)
{
    return mem_alloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
    if (a == NULL)
        return;
    for (struct arena_block *c = a->head; c != NULL;) {
        struct arena_block *next = c->next;

        free(c);
        c = next;
    }
    free(a);
}

static struct arena_block *make_chunk(struct arena *a, size_t cap)
{
    struct arena_block *c = mem_alloc(1, sizeof(*c) + cap);

    c->cap = cap;
    a->size += sizeof(*c) + cap;
    return c;
}

static void add_chunk(struct arena *a)
{
    struct arena_block *c = make_chunk(a, CHUNK_SIZE);

    c->next = a->head;
    a->head = c;
}

/* Allocates a separate chunk and puts it behind the one being filled. */
static char *take_own(struct arena *a, size_t bytes)
{
    struct arena_block *c = make_chunk(a, bytes);

    c->used = bytes;
    if (a->head == NULL) {
        a->head = c;
    } else {
        c->next = a->head->next;
        a->head->next = c;
    }
    return c->data;
}

static char *take(struct arena *a, size_t bytes)
{
    if (a->head == NULL || bytes > a->head->cap - a->head->used) {
        if (bytes > SHARED_MAX)
            return take_own(a, bytes);
        add_chunk(a);
    }

    char *p = a->head->data + a->head->used;

    a->head->used += bytes;
    return p;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
    const size_t align = alignof(max_align_t);

    assert(size == 0 || n < SIZE_MAX / 2 / size);

    const size_t bytes = (n * size + align - 1) / align * align;
    struct arena_block *c = a->head;

    if (c != NULL) {
        const size_t used = (c->used + align - 1) / align * align;

        c->used = used < c->cap ? used : c->cap;
    }
    return take(a, bytes);
}

char *arena_bytes(struct arena *a, size_t n)
{
    assert(n < SIZE_MAX / 2);
    return take(a, n);
}

struct str arena_copy(struct arena *a, struct str s)
{
    char *p = arena_bytes(a, s.len + 1);

    if (s.len > 0)
        memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return (struct str){p, s.len};
}

void arena_reset(struct arena *a)
{
    struct arena_block *kept = NULL;

    if (a->head != NULL && a->head->used == 0 && a->head->next == NULL)
        return;
    for (struct arena_block *c = a->head; c != NULL;) {
        struct arena_block *next = c->next;

        if (kept == NULL && c->cap <= KEEP_MAX)
            kept = c;
        else
            free(c);
        c = next;
    }
    a->head = kept;
    a->size = 0;
    if (kept == NULL)
        return;
    kept->next = NULL;
    memset(kept->data, 0, kept->used);
    kept->used = 0;
    a->size = sizeof(*kept) + kept->cap;
}

size_t arena_size(const struct arena *a)
{
    return a->size;
}
