#include "config.h"

#include "src/base/map.h"

#include "src/base/hash.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#define MIN_SLOTS 16
#define EMPTY     0          /* a slot never used */
#define REMOVED   UINT32_MAX /* a slot whose entry is gone */

struct map_entry {
    char *key; /* NULL: removed */
    size_t key_len;
    void *value;
    uint64_t hash;
};

/*
 * The entries keep insertion order. slots (a power of two, open addressing) hold entry numbers
 * plus 1. At most n_slots / 2 entries fit, so probing always ends.
 */
struct map {
    struct map_entry *entries;
    uint32_t *slots;
    size_t n_slots;
    size_t used;  /* entries, including removed ones */
    size_t first; /* no entry before this one is alive */
    size_t count;
    uint64_t seed;
};

static void allocate(struct map *m, size_t n_slots)
{
    assert(n_slots / 2 < REMOVED);
    m->n_slots = n_slots;
    m->slots = mem_alloc(n_slots, sizeof(*m->slots));
    m->entries = mem_alloc(n_slots / 2, sizeof(*m->entries));
    m->used = 0;
    m->first = 0;
}

struct map *map_new(void)
{
    struct map *m = mem_alloc(1, sizeof(*m));

    m->seed = hash_seed();
    allocate(m, MIN_SLOTS);
    return m;
}

void map_free(struct map *m, void (*drop)(void *value))
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->used; i++) {
        if (m->entries[i].key != NULL && drop != NULL)
            drop(m->entries[i].value);
        free(m->entries[i].key);
    }
    free(m->entries);
    free(m->slots);
    free(m);
}

static bool holds(const struct map_entry *e, struct str key, uint64_t hash)
{
    return e->hash == hash && e->key_len == key.len &&
           (key.len == 0 || memcmp(e->key, key.ptr, key.len) == 0);
}

/* Returns the slot of key, or the empty slot where the search ended. */
static size_t find_slot(const struct map *m, struct str key, uint64_t hash)
{
    size_t mask = m->n_slots - 1;
    size_t i = hash & mask;

    while (m->slots[i] != EMPTY) {
        if (m->slots[i] != REMOVED && holds(&m->entries[m->slots[i] - 1], key, hash))
            break;
        i = (i + 1) & mask;
    }
    return i;
}

static size_t find_empty_slot(const struct map *m, uint64_t hash)
{
    size_t mask = m->n_slots - 1;
    size_t i = hash & mask;

    while (m->slots[i] != EMPTY)
        i = (i + 1) & mask;
    return i;
}

void *map_find(const struct map *m, struct str key)
{
    uint32_t slot = m->slots[find_slot(m, key, hash_bytes(key, m->seed))];

    return slot == EMPTY ? NULL : m->entries[slot - 1].value;
}

static void append(struct map *m, struct map_entry e)
{
    m->entries[m->used++] = e;
    m->slots[find_empty_slot(m, e.hash)] = (uint32_t)m->used;
}

/* Called when the entries are full: squeezes out removed ones, and doubles the table if they
 * are few. */
static void rebuild(struct map *m)
{
    struct map_entry *entries = m->entries;
    size_t used = m->used;

    free(m->slots);
    allocate(m, m->count > m->n_slots / 4 ? m->n_slots * 2 : m->n_slots);
    for (size_t i = 0; i < used; i++)
        if (entries[i].key != NULL)
            append(m, entries[i]);
    free(entries);
}

void *map_put(struct map *m, struct str key, void *value)
{
    assert(value != NULL);

    uint64_t hash = hash_bytes(key, m->seed);
    uint32_t slot = m->slots[find_slot(m, key, hash)];

    if (slot != EMPTY) {
        void *before = m->entries[slot - 1].value;

        m->entries[slot - 1].value = value;
        return before;
    }
    if (m->used == m->n_slots / 2)
        rebuild(m);

    char *copy = mem_alloc(key.len + 1, 1);

    if (key.len > 0)
        memcpy(copy, key.ptr, key.len);
    append(m, (struct map_entry){copy, key.len, value, hash});
    m->count++;
    return NULL;
}

void *map_remove(struct map *m, struct str key)
{
    size_t i = find_slot(m, key, hash_bytes(key, m->seed));

    if (m->slots[i] == EMPTY)
        return NULL;

    struct map_entry *e = &m->entries[m->slots[i] - 1];
    void *value = e->value;

    m->slots[i] = REMOVED;
    free(e->key);
    *e = (struct map_entry){0};
    m->count--;
    while (m->first < m->used && m->entries[m->first].key == NULL)
        m->first++;
    return value;
}

size_t map_count(const struct map *m)
{
    return m->count;
}

bool map_next(const struct map *m, size_t *i, struct str *key, void **value)
{
    if (*i < m->first)
        *i = m->first;
    while (*i < m->used && m->entries[*i].key == NULL)
        ++*i;
    if (*i >= m->used)
        return false;

    const struct map_entry *e = &m->entries[(*i)++];

    *key = (struct str){e->key, e->key_len};
    *value = e->value;
    return true;
}
