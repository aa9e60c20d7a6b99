#include "config.h"

#include "sync/cascade_parent.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/binlog/row.h"
#include "sync/binlog/schema.h"
#include "sync/binlog/value.h"
#include "sync/document/key.h"

#include <stdint.h>
#include <stdlib.h>

struct cascade_parent {
    const struct cascade_table *table;
    struct schema *rows;
    struct buf *values[N_CASCADE_CAUSES]; /* of each key */
    struct str *keys;
    bool *unknown;
    struct buf old_value, new_value; /* scratch */
};

struct cascade_parent *cascade_parent_new(const struct cascade_table *t, struct schema *rows)
{
    struct cascade_parent *p = mem_alloc(1, sizeof(*p));
    size_t most = 1;

    p->table = t;
    p->rows = schema_ref(rows);
    for (int cause = 0; cause < N_CASCADE_CAUSES; cause++) {
        p->values[cause] = mem_alloc(t->on[cause].n_keys + 1, sizeof(struct buf));
        if (t->on[cause].n_keys > most)
            most = t->on[cause].n_keys;
    }
    p->keys = mem_alloc(most, sizeof(*p->keys));
    p->unknown = mem_alloc(most, sizeof(*p->unknown));
    return p;
}

void cascade_parent_free(struct cascade_parent *p)
{
    if (p == NULL)
        return;
    for (int cause = 0; cause < N_CASCADE_CAUSES; cause++) {
        for (size_t k = 0; k < p->table->on[cause].n_keys; k++)
            buf_free(&p->values[cause][k]);
        free(p->values[cause]);
    }
    schema_unref(p->rows);
    free(p->keys);
    free(p->unknown);
    buf_free(&p->old_value);
    buf_free(&p->new_value);
    free(p);
}

enum found { FOUND = 0, FOUND_NULL, FOUND_NOTHING };

static enum found find_value(const struct cascade_parent *p, struct str column,
                             const struct value *row, struct buf *out)
{
    const size_t at = schema_find(p->rows, column);
    struct err err = {0};

    if (at == SIZE_MAX || row[at].kind == VALUE_ABSENT)
        return FOUND_NOTHING;
    if (row[at].kind == VALUE_NULL)
        return FOUND_NULL;
    return key_append(out, &p->rows->columns[at], &row[at], &err) ? FOUND : FOUND_NOTHING;
}

/* The old values of the key's columns; nobody refers to a NULL. */
static void take_old(struct cascade_parent *p, const struct cascade_key *key, size_t k,
                     const struct value *row, struct buf *values)
{
    bool null = false;

    buf_clear(values);
    p->unknown[k] = false;
    for (size_t i = 0; i < key->n_columns; i++)
        switch (find_value(p, key->parent_columns[i], row, values)) {
        case FOUND: break;
        case FOUND_NULL: null = true; break;
        case FOUND_NOTHING: p->unknown[k] = true; break;
        }
    if (null) {
        buf_clear(values);
        p->unknown[k] = false;
    }
    p->keys[k] = null || p->unknown[k] ? STR("") : buf_str(values);
}

/* A column that the new image lacks was not changed. */
static bool is_changed(struct cascade_parent *p, const struct cascade_key *key,
                       const struct row_change *c)
{
    for (size_t i = 0; i < key->n_columns; i++) {
        buf_clear(&p->old_value);
        buf_clear(&p->new_value);

        const enum found is = find_value(p, key->parent_columns[i], c->after, &p->new_value);
        const enum found was = find_value(p, key->parent_columns[i], c->before, &p->old_value);

        if (is != FOUND_NOTHING &&
            (is != was || !str_equal(buf_str(&p->old_value), buf_str(&p->new_value))))
            return true;
    }
    return false;
}

bool cascade_parent_look(struct cascade_parent *p, const struct row_change *change,
                         struct cascade_set_off *out)
{
    const enum cascade_cause cause = change->after == NULL ? CASCADE_DELETE : CASCADE_UPDATE;
    const struct cascade_effect *effect = &p->table->on[cause];
    bool any = false;

    if (change->before == NULL)
        return false;
    for (size_t k = 0; k < effect->n_keys; k++) {
        p->keys[k] = STR("");
        p->unknown[k] = false;
        if (cause == CASCADE_UPDATE && !is_changed(p, &effect->keys[k], change))
            continue;
        take_old(p, &effect->keys[k], k, change->before, &p->values[cause][k]);
        any = any || p->keys[k].len > 0 || p->unknown[k];
    }
    *out = (struct cascade_set_off){cause, effect, p->keys, p->unknown};
    return any;
}
