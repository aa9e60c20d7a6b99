#include "config.h"

#include "sync/delivery/document/dirty_set.h"

#include "src/base/lock.h"
#include "src/base/mem.h"
#include "sync/delivery/document/operation.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct rows { /* of one table */
    char *table;
    struct key_set keys;
};

struct dirty_set {
    struct dirty_set *next; /* in the list of watchers */
    char *index;
    uint32_t max;

    struct lock lock;

    /* All guarded by lock; ids and tables are not once closed is set. */
    bool closed;
    struct key_set ids;
    struct rows *tables;
    size_t n_tables;
    uint64_t more;
};

struct dirty_set *dirty_set_new(const char *index, uint32_t max)
{
    struct dirty_set *t = mem_alloc(1, sizeof(*t));

    t->index = mem_copy(index);
    t->max = max;
    lock_init(&t->lock, LOCK_private);
    return t;
}

void dirty_set_free(struct dirty_set *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->n_tables; i++) {
        free(t->tables[i].table);
        key_set_fini(&t->tables[i].keys);
    }
    free(t->tables);
    key_set_fini(&t->ids);
    lock_fini(&t->lock);
    free(t->index);
    free(t);
}

static const struct rows *find_rows(const struct dirty_set *t, const char *table)
{
    for (size_t i = 0; i < t->n_tables; i++)
        if (strcmp(t->tables[i].table, table) == 0)
            return &t->tables[i];
    return NULL;
}

static struct key_set *keys_of(struct dirty_set *t, const char *table) NEEDS(t->lock)
{
    const struct rows *known = find_rows(t, table);

    if (known == NULL) {
        t->tables = mem_resize(t->tables, t->n_tables + 1, sizeof(*t->tables));
        t->tables[t->n_tables] = (struct rows){.table = mem_copy(table)};
        known = &t->tables[t->n_tables++];
    }
    return &t->tables[known - t->tables].keys;
}

/* A delete repeated from the store has no key, so nobody could look at its row. */
static void note_one(struct dirty_set *t, const struct doc_write *w) NEEDS(t->lock)
{
    if (t->closed || w->key.len == 0 ||
        (t->ids.n >= t->max && key_set_find(&t->ids, w->id) == KEY_SET_NONE)) {
        t->more++;
        return;
    }
    if (w->id.len > 0) /* else there is no such document, nor can one be requested */
        (void)key_set_add(&t->ids, w->id);
    (void)key_set_add(keys_of(t, w->target->table), w->key);
}

void dirty_set_link(struct dirty_set **first, struct dirty_set *t)
{
    t->next = *first;
    *first = t;
}

void dirty_set_unlink(struct dirty_set **first, struct dirty_set *t)
{
    while (*first != t)
        first = &(*first)->next;
    *first = t->next;
}

void dirty_set_add(struct dirty_set *t, const struct doc_write *writes, size_t n)
{
    lock_acquire(&t->lock);
    for (size_t i = 0; i < n; i++)
        if (strcmp(writes[i].target->index, t->index) == 0)
            note_one(t, &writes[i]);
    lock_release(&t->lock);
}

void dirty_set_note(struct dirty_set *first, const struct doc_write *writes, size_t n)
{
    for (struct dirty_set *t = first; t != NULL; t = t->next)
        dirty_set_add(t, writes, n);
}

void dirty_set_close(struct dirty_set *t)
{
    lock_acquire(&t->lock);
    t->closed = true;
    lock_release(&t->lock);
}

const struct key_set *dirty_set_ids(const struct dirty_set *t)
{
    return &t->ids;
}

const struct key_set *dirty_set_keys(const struct dirty_set *t, const char *table)
{
    static const struct key_set none;
    const struct rows *known = find_rows(t, table);

    return known == NULL ? &none : &known->keys;
}

uint64_t dirty_set_more(struct dirty_set *t)
{
    lock_acquire(&t->lock);

    const uint64_t more = t->more;

    lock_release(&t->lock);
    return more;
}
