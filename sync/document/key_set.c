#include "config.h"

#include "sync/document/key_set.h"

#include "src/base/hash.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

#define SLOTS_MIN 64

static uint32_t hash_of(struct str key)
{
    return (uint32_t)hash_bytes(key, hash_seed());
}

/* Find the slot of the key, or the free slot for it. */
static uint32_t *find_slot(const struct key_set *s, struct str key, uint32_t hash)
{
    const uint32_t mask = s->n_slots - 1;

    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t number = s->slots[i];

        if (number == KEY_SET_NONE ||
            (s->entries[number].hash == hash && str_equal(key_set_get(s, number), key)))
            return &s->slots[i];
    }
}

static void grow_slots(struct key_set *s)
{
    s->n_slots = s->n_slots == 0 ? SLOTS_MIN : s->n_slots * 2;
    s->slots = mem_resize(s->slots, s->n_slots, sizeof(*s->slots));
    for (uint32_t i = 0; i < s->n_slots; i++)
        s->slots[i] = KEY_SET_NONE;

    const uint32_t mask = s->n_slots - 1;

    for (uint32_t number = 0; number < s->n; number++) {
        uint32_t i = s->entries[number].hash & mask;

        while (s->slots[i] != KEY_SET_NONE)
            i = (i + 1) & mask;
        s->slots[i] = number;
    }
}

uint32_t key_set_add(struct key_set *s, struct str key)
{
    uint32_t hash = hash_of(key);

    assert(s->n < KEY_SET_NONE / 4 && key.len < UINT32_MAX);
    if (s->n >= s->n_slots / 2)
        grow_slots(s);
    uint32_t *slot = find_slot(s, key, hash);

    if (*slot != KEY_SET_NONE)
        return *slot;
    if (s->n == s->cap) {
        s->cap = s->cap == 0 ? SLOTS_MIN : s->cap * 2;
        s->entries = mem_resize(s->entries, s->cap, sizeof(*s->entries));
    }
    s->entries[s->n] = (struct key_set_entry){s->bytes.len, (uint32_t)key.len, hash};
    buf_append(&s->bytes, key);
    *slot = s->n;
    return s->n++;
}

uint32_t key_set_find(const struct key_set *s, struct str key)
{
    return s->n_slots == 0 ? KEY_SET_NONE : *find_slot(s, key, hash_of(key));
}

struct str key_set_get(const struct key_set *s, uint32_t number)
{
    assert(number < s->n);
    return (struct str){s->bytes.ptr + s->entries[number].at, s->entries[number].len};
}

void key_set_fini(struct key_set *s)
{
    buf_free(&s->bytes);
    free(s->entries);
    free(s->slots);
    *s = (struct key_set){0};
}
