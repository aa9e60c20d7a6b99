#include "config.h"

#include "rebalance/cluster/barrier_parts.h"
#include "rebalance/cluster/cluster_plan.h"
#include "rebalance/cluster/placement.h"
#include "src/base/mem.h"

#include <stdlib.h>

void barrier_plan_free(struct barrier *b)
{
    for (size_t i = 0; i < b->plan_ids.n; i++)
        name_set_free(&b->plan[i]);
    free(b->plan);
    b->plan = NULL;
    name_set_free(&b->plan_ids);
}

static struct name_set *plan_of(const struct barrier *b, struct str id)
{
    for (size_t i = 0; i < b->plan_ids.n; i++)
        if (str_equal(b->plan_ids.list[i], id))
            return &b->plan[i];
    return NULL;
}

static void keep_plan(struct barrier *b, const struct name_set *members, const size_t *owners)
{
    name_set_copy(&b->plan_ids, members);
    b->plan = mem_alloc(members->n + 1, sizeof(*b->plan));
    for (size_t i = 0; i < b->n_things; i++) {
        const struct str thing = buf_str(&b->things[i].name);

        if (owners[i] != PLACEMENT_NOBODY)
            (void)name_set_add(plan_of(b, buf_str(&barrier_at(b, owners[i])->id)), thing);
    }
}

struct barrier_thing *barrier_things(const struct barrier *b)
{
    struct barrier_thing *things = mem_alloc(b->n_things + 1, sizeof(*things));

    for (size_t i = 0; i < b->n_things; i++)
        things[i] = (struct barrier_thing){.name = buf_str(&b->things[i].name),
                                           .group = buf_str(&b->things[i].group)};
    return things;
}

void barrier_plan(struct barrier *b, const struct name_set *members)
{
    const struct node_data **nodes = mem_alloc(b->n_nodes + 1, sizeof(struct node_data *));
    struct barrier_thing *things = barrier_things(b);
    size_t *owners = mem_alloc(b->n_things + 1, sizeof(*owners));

    barrier_plan_free(b);
    for (size_t i = 0; i < b->n_nodes; i++)
        nodes[i] = &barrier_at(b, i)->data;
    cluster_plan_make(&(struct cluster_plan){.nodes = nodes,
                                             .n_nodes = b->n_nodes,
                                             .members = members,
                                             .state = &b->state,
                                             .things = things,
                                             .n_things = b->n_things},
                      owners);
    keep_plan(b, members, owners);
    free(nodes);
    free(things);
    free(owners);
}

const struct name_set *barrier_planned(const struct barrier *b, struct str id)
{
    return plan_of(b, id);
}

/* Tells whether every member has what it shall have, and was told to work. */
bool barrier_plan_is_kept(struct barrier *b)
{
    for (size_t i = 0; i < b->plan_ids.n; i++) {
        const struct barrier_node *node = barrier_find(b, b->plan_ids.list[i]);
        const struct node_data *d;

        if (node == NULL)
            return false;
        d = &(str_equal(b->plan_ids.list[i], buf_str(&b->id)) ? &b->mine : node)->data;
        if (!name_set_equal(&d->jobs, &b->plan[i]) || d->status == NODE_CLEAN ||
            d->status == NODE_CLEAN_OK || d->session != b->state.session)
            return false;
    }
    return true;
}

static bool is_interrupted(const struct barrier *b, struct str thing)
{
    for (size_t i = 0; i < b->n_things; i++)
        if (b->things[i].is_interrupted && str_equal(buf_str(&b->things[i].name), thing))
            return true;
    return false;
}

void barrier_plan_keep(const struct barrier *b, const struct barrier_node *node,
                       struct name_set *keep)
{
    const struct name_set *planned = barrier_planned(b, buf_str(&node->id));

    name_set_clear(keep);
    for (size_t i = 0; planned != NULL && i < planned->n; i++)
        if (name_set_has(&node->data.jobs, planned->list[i]) &&
            !is_interrupted(b, planned->list[i]))
            (void)name_set_add(keep, planned->list[i]);
}
