#include "config.h"

#include "rebalance/cluster/placement.h"

#include "src/base/mem.h"

#include <stdlib.h>

/* What goes together: the things of a group, or one thing. */
struct unit {
    const struct placement_thing **things; /* in the order of their names */
    size_t n;
    size_t owner;
    bool is_wished;
};

struct placing {
    const struct placement *in;
    size_t *by_id; /* nodes in the order of their ids */
    size_t *load;  /* things, by node */
    const struct placement_thing **sorted;
    struct unit *units;
    size_t n_units;
};

static int order_of_things(const void *a, const void *b)
{
    const struct placement_thing *x = *(const struct placement_thing *const *)a;
    const struct placement_thing *y = *(const struct placement_thing *const *)b;
    const int order = str_order(x->group, y->group);

    return order != 0 ? order : str_order(x->name, y->name);
}

/* The heaviest first, so that the others fill up; then by name. */
static int order_of_units(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return str_order(x->things[0]->name, y->things[0]->name);
}

static void sort_nodes(struct placing *m)
{
    const struct placement_node *nodes = m->in->nodes;

    for (size_t i = 0; i < m->in->n_nodes; i++) {
        size_t at = i;

        for (; at > 0 && str_order(nodes[m->by_id[at - 1]].id, nodes[i].id) > 0; at--)
            m->by_id[at] = m->by_id[at - 1];
        m->by_id[at] = i;
    }
}

/* Returns the admitted node of that id. */
static size_t node_of(const struct placing *m, struct str id)
{
    size_t low = 0, high = m->in->n_nodes;

    while (id.len > 0 && low < high) {
        const size_t at = low + (high - low) / 2, node = m->by_id[at];
        const int order = str_order(m->in->nodes[node].id, id);

        if (order == 0)
            return m->in->nodes[node].is_admitted ? node : PLACEMENT_NOBODY;
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return PLACEMENT_NOBODY;
}

/* Returns the node that has most things of the unit now, the first by id of several. */
static size_t owner_of_most(const struct placing *m, const struct unit *u)
{
    size_t best = PLACEMENT_NOBODY, best_n = 0;

    for (size_t i = 0; i < u->n; i++) {
        const size_t node = node_of(m, u->things[i]->owner);
        size_t n = 0;

        if (node == PLACEMENT_NOBODY || node == best)
            continue;
        for (size_t k = 0; k < u->n; k++)
            n += str_equal(u->things[k]->owner, u->things[i]->owner);
        if (n > best_n ||
            (n == best_n && str_order(m->in->nodes[node].id, m->in->nodes[best].id) < 0)) {
            best = node;
            best_n = n;
        }
    }
    return best;
}

/* The first thing of the unit, by name, whose wish can be met decides for all of them. */
static size_t wish_of(const struct placing *m, const struct unit *u)
{
    for (size_t i = 0; i < u->n; i++) {
        const size_t node = node_of(m, u->things[i]->wish);

        if (node != PLACEMENT_NOBODY)
            return node;
    }
    return PLACEMENT_NOBODY;
}

static void give(struct placing *m, struct unit *u, size_t node)
{
    if (u->owner != PLACEMENT_NOBODY)
        m->load[u->owner] -= u->n;
    u->owner = node;
    if (node != PLACEMENT_NOBODY)
        m->load[node] += u->n;
}

static void gather_units(struct placing *m)
{
    const size_t n = m->in->n_things;

    for (size_t i = 0; i < n; i++)
        m->sorted[i] = &m->in->things[i];
    if (n > 0)
        qsort(m->sorted, n, sizeof(struct placement_thing *), order_of_things);
    for (size_t i = 0; i < n;) {
        struct unit *u = &m->units[m->n_units++];

        *u = (struct unit){.things = m->sorted + i, .n = 1, .owner = PLACEMENT_NOBODY};
        while (m->sorted[i]->group.len > 0 && i + u->n < n &&
               str_equal(m->sorted[i]->group, m->sorted[i + u->n]->group))
            u->n++;
        i += u->n;
    }
    if (m->n_units > 0)
        qsort(m->units, m->n_units, sizeof(*m->units), order_of_units);
}

/* Returns the admitted node with the fewest things, the first by id of several. */
static size_t emptiest(const struct placing *m)
{
    size_t best = PLACEMENT_NOBODY;

    for (size_t i = 0; i < m->in->n_nodes; i++) {
        const size_t node = m->by_id[i];

        if (m->in->nodes[node].is_admitted &&
            (best == PLACEMENT_NOBODY || m->load[node] < m->load[best]))
            best = node;
    }
    return best;
}

/* Where it is, where somebody wants it, or where the fewest things are. */
static void place_units(struct placing *m)
{
    for (size_t i = 0; i < m->n_units; i++) {
        struct unit *u = &m->units[i];
        const size_t wish = wish_of(m, u);

        u->is_wished = wish != PLACEMENT_NOBODY;
        give(m, u, u->is_wished ? wish : owner_of_most(m, u));
    }
    for (size_t i = 0; i < m->n_units; i++)
        if (m->units[i].owner == PLACEMENT_NOBODY)
            give(m, &m->units[i], emptiest(m));
}

/*
 * Tells whether a is better to move than b to a node with `least` things: from the fuller node,
 * and what leaves the two closest. Of equal ones the first by name goes.
 */
static bool is_better(const struct placing *m, const struct unit *a, const struct unit *b,
                      size_t least)
{
    const size_t from_a = m->load[a->owner], from_b = m->load[b->owner];
    const size_t gap_a = from_a - least, gap_b = from_b - least;
    const size_t left_a = gap_a > 2 * a->n ? gap_a - 2 * a->n : 2 * a->n - gap_a;
    const size_t left_b = gap_b > 2 * b->n ? gap_b - 2 * b->n : 2 * b->n - gap_b;

    if (from_a != from_b)
        return from_a > from_b;
    return left_a < left_b;
}

/* Each step makes the sum of the squared loads smaller, so it ends. */
static void even_out(struct placing *m)
{
    for (;;) {
        const size_t to = emptiest(m);
        struct unit *best = NULL;

        for (size_t i = 0; i < m->n_units; i++) {
            struct unit *u = &m->units[i];

            if (!u->is_wished && m->load[u->owner] > m->load[to] + u->n &&
                (best == NULL || is_better(m, u, best, m->load[to])))
                best = u;
        }
        if (best == NULL)
            return;
        give(m, best, to);
    }
}

const char *placement_reason(const struct placement *p)
{
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].is_admitted)
            return NULL;
    return "no node is admitted";
}

void placement_make(const struct placement *p, size_t *owners)
{
    struct placing m = {.in = p};

    for (size_t i = 0; i < p->n_things; i++)
        owners[i] = PLACEMENT_NOBODY;
    if (placement_reason(p) != NULL || p->n_things == 0)
        return;
    m.by_id = mem_alloc(p->n_nodes, sizeof(*m.by_id));
    m.load = mem_alloc(p->n_nodes, sizeof(*m.load));
    m.sorted = mem_alloc(p->n_things, sizeof(struct placement_thing *));
    m.units = mem_alloc(p->n_things, sizeof(*m.units));
    sort_nodes(&m);
    gather_units(&m);
    place_units(&m);
    even_out(&m);
    for (size_t i = 0; i < m.n_units; i++)
        for (size_t k = 0; k < m.units[i].n; k++)
            owners[m.units[i].things[k] - p->things] = m.units[i].owner;
    free(m.by_id);
    free(m.load);
    free(m.sorted);
    free(m.units);
}

static size_t count_names(const struct placement *p, struct str name)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_nodes; i++)
        n += str_equal(p->nodes[i].name, name);
    return n;
}

/* A node's name; its id if the node is gone, or another one has that name. */
static struct str name_of(const struct placement *p, struct str id)
{
    for (size_t i = 0; i < p->n_nodes; i++)
        if (str_equal(p->nodes[i].id, id) && p->nodes[i].name.len > 0 &&
            count_names(p, p->nodes[i].name) == 1)
            return p->nodes[i].name;
    return id.len > 0 ? id : STR("nobody");
}

size_t placement_list_moves(struct buf *out, const struct placement *p, const size_t *owners)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_things; i++) {
        const struct placement_thing *t = &p->things[i];
        const struct str to =
            owners[i] == PLACEMENT_NOBODY ? (struct str){NULL, 0} : p->nodes[owners[i]].id;

        if (str_equal(t->owner, to))
            continue;
        buf_append(out, t->name);
        buf_append(out, STR(": "));
        buf_append(out, name_of(p, t->owner));
        buf_append(out, STR(" -> "));
        buf_append(out, name_of(p, to));
        buf_append_char(out, '\n');
        n++;
    }
    return n;
}
