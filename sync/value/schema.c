#include "config.h"

#include "sync/value/schema.h"

#include <assert.h>
#include <limits.h>

struct schema *schema_new(struct str database, struct str table)
{
    struct arena *a = arena_new();
    struct schema *s = arena_alloc(a, 1, sizeof(*s));

    s->arena = a;
    s->database = arena_copy(a, database);
    s->table = arena_copy(a, table);
    s->refs = 1;
    return s;
}

struct schema *schema_ref(struct schema *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void schema_unref(struct schema *s)
{
    if (s == NULL)
        return;

    const unsigned left = __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL);

    assert(left != UINT_MAX);
    if (left == 0)
        arena_free(s->arena);
}

size_t schema_find(const struct schema *s, struct str name)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (str_equal_any_case(s->columns[i].name, name))
            return i;
    return SIZE_MAX;
}

bool schema_keeps_history(const struct schema *s)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (s->columns[i].row_end)
            return true;
    return false;
}

size_t schema_n_hashes(const struct schema *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_columns; i++)
        n += s->columns[i].invisible && str_equal(s->columns[i].name, SCHEMA_HASH);
    return n;
}

static bool lists(const struct str *columns, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal_any_case(columns[i], name))
            return true;
    return false;
}

bool schema_is_unique(const struct schema *s, const struct str *columns, size_t n)
{
    bool inside = s->n_key > 0;

    for (size_t k = 0; inside && k < s->n_key; k++)
        inside = lists(columns, n, s->columns[s->key[k]].name);
    for (size_t i = 0; !inside && i < s->n_uniques; i++) {
        const struct schema_unique *u = &s->uniques[i];

        inside = u->n > 0;
        for (size_t k = 0; inside && k < u->n; k++)
            inside = u->columns[k] < s->n_columns &&
                     lists(columns, n, s->columns[u->columns[k]].name);
    }
    return inside;
}
