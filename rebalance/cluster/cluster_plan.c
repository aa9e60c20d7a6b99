#include "config.h"

#include "rebalance/cluster/cluster_plan.h"

#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/name_set.h"
#include "rebalance/cluster/node_data.h"
#include "rebalance/cluster/placement.h"
#include "src/base/mem.h"

#include <stdlib.h>

bool cluster_plan_leaves_out(const struct cluster_state *s, const struct node_data *d)
{
    return name_set_has(&s->left_out, buf_str(&d->id)) &&
           !(d->status == NODE_CLEAN_OK && d->jobs.n == 0);
}

/* Of two nodes that say that they have a thing, the one of the newer session is right. */
static struct str owner_of(const struct cluster_plan *p, struct str thing)
{
    const struct node_data *owner = NULL;

    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct node_data *d = p->nodes[i];

        if (name_set_has(&d->jobs, thing) && (owner == NULL || d->session > owner->session))
            owner = d;
    }
    return owner == NULL ? (struct str){NULL, 0} : buf_str(&owner->id);
}

static struct placement placement_of(const struct cluster_plan *p)
{
    struct placement_node *nodes = mem_alloc(p->n_nodes + 1, sizeof(*nodes));
    struct placement_thing *things = mem_alloc(p->n_things + 1, sizeof(*things));
    const struct name_set *members = p->members != NULL ? p->members : &p->state->members;

    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct str id = buf_str(&p->nodes[i]->id);

        nodes[i] =
            (struct placement_node){.id = id,
                                    .name = buf_str(&p->nodes[i]->name),
                                    .is_admitted = name_set_has(members, id) &&
                                                   !name_set_has(&p->state->evacuated, id)};
    }
    for (size_t i = 0; i < p->n_things; i++)
        things[i] =
            (struct placement_thing){.name = p->things[i].name,
                                     .group = p->things[i].group,
                                     .owner = owner_of(p, p->things[i].name),
                                     .wish = cluster_state_wish(p->state, p->things[i].name)};
    return (struct placement){nodes, p->n_nodes, things, p->n_things};
}

static void free_placement(struct placement *placement)
{
    mem_free_const(placement->nodes);
    mem_free_const(placement->things);
}

void cluster_plan_make(const struct cluster_plan *p, size_t *owners)
{
    struct placement placement = placement_of(p);

    placement_make(&placement, owners);
    free_placement(&placement);
}

size_t cluster_plan_list(struct buf *out, const struct cluster_plan *p)
{
    struct placement placement = placement_of(p);
    size_t *owners = mem_alloc(p->n_things + 1, sizeof(*owners)), n;

    placement_make(&placement, owners);
    n = placement_list_moves(out, &placement, owners);
    free_placement(&placement);
    free(owners);
    return n;
}
