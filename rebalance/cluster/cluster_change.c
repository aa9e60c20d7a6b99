#include "config.h"

#include "rebalance/cluster/cluster_change.h"

#include "rebalance/cluster/cluster_plan.h"
#include "rebalance/cluster/cluster_survey.h"
#include "src/base/mem.h"

#include <stdlib.h>

static struct str group_of(const struct cluster_change *c)
{
    for (size_t i = 0; i < c->n_things; i++)
        if (str_equal(c->things[i].name, c->thing))
            return c->things[i].group;
    return STR("");
}

static void move(const struct cluster_change *c, struct cluster_state *state)
{
    const struct str group = group_of(c);

    for (size_t i = 0; group.len > 0 && i < c->n_things; i++)
        if (str_equal(c->things[i].group, group))
            cluster_state_set_wish(state, c->things[i].name, STR(""));
    cluster_state_set_wish(state, c->thing, c->node);
}

static void forget(struct str node, struct cluster_state *state)
{
    struct str thing;

    (void)name_set_remove(&state->evacuated, node);
    while ((thing = cluster_state_wished(state, node, 0)).len > 0)
        cluster_state_set_wish(state, thing, STR(""));
}

void cluster_change_make(const struct cluster_change *c, struct cluster_state *state)
{
    switch (c->ask) {
    case BARRIER_ASK_REBALANCE: break;
    case BARRIER_ASK_EVACUATE: (void)name_set_add(&state->evacuated, c->node); break;
    case BARRIER_ASK_ADMIT: (void)name_set_remove(&state->evacuated, c->node); break;
    case BARRIER_ASK_MOVE: move(c, state); break;
    case BARRIER_ASK_FORGET: forget(c->node, state); break;
    }
    state->asked++;
}

/* Those on which the next rebalance counts. */
static void gather_members(const struct cluster_survey *s, const struct node_data **nodes,
                           struct name_set *members)
{
    for (size_t i = 0; i < s->n; i++) {
        nodes[i] = &s->nodes[i];
        if (!cluster_plan_leaves_out(&s->state, nodes[i]))
            (void)name_set_add(members, buf_str(&nodes[i]->id));
    }
}

size_t cluster_change_list(struct buf *out, const struct cluster_change *c,
                           const struct cluster_survey *s)
{
    const struct node_data **nodes = mem_alloc(s->n + 1, sizeof(struct node_data *));
    struct cluster_state next = {0};
    struct name_set members = {0};
    size_t n;

    cluster_state_copy(&next, &s->state);
    cluster_change_make(c, &next);
    gather_members(s, nodes, &members);
    n = cluster_plan_list(out, &(struct cluster_plan){.nodes = nodes,
                                                      .n_nodes = s->n,
                                                      .members = &members,
                                                      .state = &next,
                                                      .things = c->things,
                                                      .n_things = c->n_things});
    cluster_state_free(&next);
    name_set_free(&members);
    free(nodes);
    return n;
}
