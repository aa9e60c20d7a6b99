#include "config.h"

#include "sync/related/cascade/parent.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/decode/row.h"
#include "sync/document/key.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

#include <stdint.h>
#include <stdlib.h>

struct cascade_parent {
    const struct cascade_table *table;
    struct schema *rows;
    struct buf *values[N_CASCADE_CAUSES]; /* for each key */
    struct buf *new_values;               /* for each key of an update */
    struct str *keys, *now;
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
    p->new_values = mem_alloc(most, sizeof(*p->new_values));
    p->keys = mem_alloc(most, sizeof(*p->keys));
    p->now = mem_alloc(most, sizeof(*p->now));
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
    for (size_t k = 0; k < p->table->on[CASCADE_UPDATE].n_keys; k++)
        buf_free(&p->new_values[k]);
    free(p->new_values);
    schema_unref(p->rows);
    free(p->keys);
    free(p->now);
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

/* Get the old values of the key's columns; nothing if one is NULL, as no row refers to that. */
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

/* Get the new values of the referred columns; nothing if one of them is NULL now. */
static struct str take_new(struct cascade_parent *p, const struct cascade_key *key,
                           const struct row_change *c, struct buf *values)
{
    enum found found = FOUND;

    buf_clear(values);
    for (size_t i = 0; found == FOUND && i < key->n_columns; i++) {
        found = find_value(p, key->parent_columns[i], c->after, values);
        if (found == FOUND_NOTHING) /* unchanged */
            found = find_value(p, key->parent_columns[i], c->before, values);
    }
    return found == FOUND ? buf_str(values) : STR("");
}

bool cascade_parent_look(struct cascade_parent *p, const struct row_change *change,
                         struct cascade_triggered *out)
{
    const enum cascade_cause cause = change->after == NULL ? CASCADE_DELETE : CASCADE_UPDATE;
    const struct cascade_effect *effect = &p->table->on[cause];
    bool any = false;

    if (change->before == NULL)
        return false;
    for (size_t k = 0; k < effect->n_keys; k++) {
        p->keys[k] = p->now[k] = STR("");
        p->unknown[k] = false;
        if (cause == CASCADE_UPDATE && !is_changed(p, &effect->keys[k], change))
            continue;
        take_old(p, &effect->keys[k], k, change->before, &p->values[cause][k]);
        if (cause == CASCADE_UPDATE && p->keys[k].len > 0)
            p->now[k] = take_new(p, &effect->keys[k], change, &p->new_values[k]);
        any = any || p->keys[k].len > 0 || p->unknown[k];
    }
    *out = (struct cascade_triggered){cause, effect, p->keys, p->now, p->unknown};
    return any;
}
