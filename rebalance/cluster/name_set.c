#include "config.h"

#include "rebalance/cluster/name_set.h"

#include "src/base/mem.h"

#include <stdlib.h>

/* Returns where the name is, or belongs. */
static size_t place_of(const struct name_set *s, struct str name, bool *found)
{
    size_t low = 0, high = s->n;

    *found = false;
    while (low < high) {
        const size_t at = low + (high - low) / 2;
        const int order = str_order(s->list[at], name);

        if (order == 0) {
            *found = true;
            return at;
        }
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

static struct str copy_of(struct str name)
{
    char *text = mem_alloc(name.len + 1, 1);

    if (name.len > 0)
        memcpy(text, name.ptr, name.len);
    return (struct str){text, name.len};
}

bool name_set_add(struct name_set *s, struct str name)
{
    bool found;
    const size_t at = place_of(s, name, &found);

    if (found)
        return false;
    if (s->n == s->cap) {
        s->cap = s->cap == 0 ? 4 : s->cap * 2;
        s->list = mem_resize(s->list, s->cap, sizeof(*s->list));
    }
    memmove(s->list + at + 1, s->list + at, (s->n - at) * sizeof(*s->list));
    s->list[at] = copy_of(name);
    s->n++;
    return true;
}

bool name_set_remove(struct name_set *s, struct str name)
{
    bool found;
    const size_t at = place_of(s, name, &found);

    if (!found)
        return false;
    mem_free_const(s->list[at].ptr);
    s->n--;
    memmove(s->list + at, s->list + at + 1, (s->n - at) * sizeof(*s->list));
    return true;
}

bool name_set_has(const struct name_set *s, struct str name)
{
    bool found;

    (void)place_of(s, name, &found);
    return found;
}

bool name_set_equal(const struct name_set *a, const struct name_set *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_equal(a->list[i], b->list[i]))
            return false;
    return true;
}

void name_set_copy(struct name_set *to, const struct name_set *from)
{
    name_set_clear(to);
    for (size_t i = 0; i < from->n; i++)
        (void)name_set_add(to, from->list[i]);
}

void name_set_clear(struct name_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        mem_free_const(s->list[i].ptr);
    s->n = 0;
}

void name_set_free(struct name_set *s)
{
    name_set_clear(s);
    free(s->list);
    *s = (struct name_set){0};
}
