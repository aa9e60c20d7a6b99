/*
 * struct key_set: distinct keys, numbered from 0 in order of insertion.
 *
 * The caller provides the storage: zero-initialise it; release it with key_set_fini().
 *
 * @thread one at a time
 */
#ifndef SYNC_DOCUMENT_KEY_SET_H
#define SYNC_DOCUMENT_KEY_SET_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

#define KEY_SET_NONE UINT32_MAX

struct key_set_entry {
    size_t at; /* in bytes */
    uint32_t len;
    uint32_t hash;
};

struct key_set {
    struct buf bytes; /* of all keys */
    struct key_set_entry *entries;
    uint32_t n, cap;
    uint32_t *slots;  /* numbers; KEY_SET_NONE marks a free slot */
    uint32_t n_slots; /* a power of two, or 0 */
};

/* Add a copy of the key unless the set has it.  Returns its number. */
uint32_t key_set_add(struct key_set *s, struct str key);

/* Returns the key's number or KEY_SET_NONE. */
uint32_t key_set_find(const struct key_set *s, struct str key);

/* Borrowed until the next key_set_add(). */
struct str key_set_get(const struct key_set *s, uint32_t number);

void key_set_fini(struct key_set *s);

#endif
