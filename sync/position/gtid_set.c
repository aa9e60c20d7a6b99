#include "config.h"

#include "sync/position/gtid_set.h"

#include "src/base/mem.h"
#include "sync/position/gtid_origin.h"

#include <stdlib.h>

struct gtid_set *gtid_set_new(void)
{
    return mem_alloc(1, sizeof(struct gtid_set));
}

void gtid_set_free(struct gtid_set *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n_origins; i++)
        intervals_fini(&s->origins[i].intervals);
    free(s->origins);
    free(s);
}

struct gtid_set *gtid_set_copy(const struct gtid_set *s)
{
    struct gtid_set *copy = gtid_set_new();

    copy->family = s->family;
    copy->n_origins = s->n_origins;
    copy->origins = mem_alloc(s->n_origins, sizeof(*s->origins));
    for (size_t i = 0; i < s->n_origins; i++) {
        copy->origins[i] = s->origins[i];
        copy->origins[i].intervals = intervals_copy(&s->origins[i].intervals);
    }
    return copy;
}

enum gtid_family gtid_set_family(const struct gtid_set *s)
{
    return s->family;
}

bool gtid_set_is_empty(const struct gtid_set *s)
{
    return s->n_origins == 0;
}

/* Returns false if s already belongs to another family. */
static bool join_family(struct gtid_set *s, enum gtid_family family)
{
    if (s->n_origins == 0)
        s->family = family;
    return s->family == family && family != GTID_NONE;
}

void gtid_set_add(struct gtid_set *s, const struct gtid *g)
{
    if (!join_family(s, g->family))
        return;

    const struct gtid_origin key = gtid_origin_of(g);
    struct gtid_origin *o = gtid_origin_need(s, &key);

    if (g->family == GTID_MYSQL) {
        intervals_add(&o->intervals, (struct interval){g->number, g->number + 1});
    } else {
        o->server = g->server;
        o->number = g->number;
    }
}

void gtid_set_merge(struct gtid_set *s, const struct gtid_set *other)
{
    if (!join_family(s, other->family))
        return;
    for (size_t i = 0; i < other->n_origins; i++) {
        const struct gtid_origin *from = &other->origins[i];
        struct gtid_origin *to = gtid_origin_need(s, from);

        for (size_t k = 0; k < from->intervals.n; k++)
            intervals_add(&to->intervals, from->intervals.list[k]);
        if (from->number > to->number) {
            to->server = from->server;
            to->number = from->number;
        }
    }
}

bool gtid_set_contains(const struct gtid_set *s, const struct gtid *g)
{
    if (s->family != g->family)
        return false;

    const struct gtid_origin key = gtid_origin_of(g);
    const struct gtid_origin *o = gtid_origin_find(s, &key);

    if (o == NULL)
        return false;
    if (s->family == GTID_MARIADB)
        return o->number >= g->number;
    return intervals_has(&o->intervals, (struct interval){g->number, g->number + 1});
}

bool gtid_set_includes(const struct gtid_set *s, const struct gtid_set *other)
{
    struct gtid_set *left = gtid_set_minus(other, s);
    const bool empty = gtid_set_is_empty(left);

    gtid_set_free(left);
    return empty;
}

struct gtid_set *gtid_set_minus(const struct gtid_set *a, const struct gtid_set *b)
{
    static const struct intervals none;
    struct gtid_set *out = gtid_set_new();

    out->family = a->family;
    for (size_t i = 0; i < a->n_origins; i++) {
        const struct gtid_origin *from = &a->origins[i];
        const struct gtid_origin *other =
            a->family == b->family ? gtid_origin_find(b, from) : NULL;
        struct gtid_origin left = *from;

        left.intervals = (struct intervals){0};
        for (size_t k = 0; k < from->intervals.n; k++)
            intervals_add_missing(&left.intervals, from->intervals.list[k],
                                  other != NULL ? &other->intervals : &none);
        if (a->family == GTID_MYSQL ? left.intervals.n == 0
                                    : other != NULL && other->number >= from->number)
            continue;

        struct gtid_origin *to = gtid_origin_need(out, from);

        *to = left;
    }
    return out;
}

bool gtid_set_equal(const struct gtid_set *a, const struct gtid_set *b)
{
    if (a->n_origins != b->n_origins || (a->n_origins > 0 && a->family != b->family))
        return false;
    for (size_t i = 0; i < a->n_origins; i++) {
        const struct gtid_origin *x = &a->origins[i], *y = &b->origins[i];

        if (gtid_origin_compare(a->family, x, y) != 0 || x->number != y->number ||
            (a->family == GTID_MARIADB && x->server != y->server) ||
            !intervals_equal(&x->intervals, &y->intervals))
            return false;
    }
    return true;
}
