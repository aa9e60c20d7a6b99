#include "config.h"

#include "rebalance/watch/stored_facts.h"

#include <stdlib.h>

static int compare_versions(const void *a, const void *b)
{
    const struct stored_version *x = a, *y = b;
    const int c = str_order(x->index, y->index);

    return c != 0 ? c : (x->number > y->number) - (x->number < y->number);
}

static int compare_wanted(const void *a, const void *b)
{
    return str_order(((const struct wanted_index *)a)->alias,
                     ((const struct wanted_index *)b)->alias);
}

void stored_facts_order(struct stored_facts *s)
{
    if (s->n_versions > 0)
        qsort(s->versions, s->n_versions, sizeof(*s->versions), compare_versions);
    if (s->n_wanted > 0)
        qsort(s->wanted, s->n_wanted, sizeof(*s->wanted), compare_wanted);

    size_t n = 0; /* keep one of several tables that share an index */

    for (size_t i = 0; i < s->n_wanted; i++)
        if (n == 0 || !str_equal(s->wanted[n - 1].alias, s->wanted[i].alias))
            s->wanted[n++] = s->wanted[i];
    s->n_wanted = n;
}

/* Returns the position of the index's first version that is not below this number. */
static size_t find_from(const struct stored_facts *s, struct str alias, uint64_t number)
{
    const struct stored_version wanted = {.index = alias, .number = number};
    size_t low = 0, high = s->n_versions;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_versions(&s->versions[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct stored_version *stored_facts_version(const struct stored_facts *s,
                                                  struct str alias, uint64_t number)
{
    const size_t i = find_from(s, alias, number);

    return i < s->n_versions && s->versions[i].number == number &&
                   str_equal(s->versions[i].index, alias)
               ? &s->versions[i]
               : NULL;
}

bool stored_version_is_live(const struct stored_version *v)
{
    return str_equal(v->state, STR("available")) || str_equal(v->state, STR("changing")) ||
           str_equal(v->state, STR("waiting")) || str_equal(v->state, STR("returning"));
}

const struct stored_version *stored_facts_live(const struct stored_facts *s, struct str alias)
{
    for (size_t i = find_from(s, alias, 0);
         i < s->n_versions && str_equal(s->versions[i].index, alias); i++)
        if (stored_version_is_live(&s->versions[i]))
            return &s->versions[i];
    return NULL;
}

struct str stored_facts_table(const struct stored_facts *s, struct str alias)
{
    const struct wanted_index wanted = {.alias = alias};
    const struct wanted_index *found =
        s->n_wanted == 0
            ? NULL
            : bsearch(&wanted, s->wanted, s->n_wanted, sizeof(*s->wanted), compare_wanted);

    return found != NULL ? found->table : alias;
}
