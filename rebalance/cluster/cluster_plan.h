/*
 * Who shall own what in a cluster, of the nodes' data, the cluster's state and the list of
 * things: what the leader of a rebalance carries out, and what people are shown before.
 */
#ifndef REBALANCE_CLUSTER_CLUSTER_PLAN_H
#define REBALANCE_CLUSTER_CLUSTER_PLAN_H

#include "rebalance/cluster/barrier_event.h"
#include "src/base/base.h"
#include "src/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct cluster_state;
struct name_set;
struct node_data;

struct cluster_plan {
    const struct node_data *const *nodes; /* each id once */
    size_t n_nodes;
    const struct name_set *members; /* nodes that take part; NULL: those of the state */
    const struct cluster_state *state;
    const struct barrier_thing *things;
    size_t n_things;
};

/* Tells whether the next rebalance goes on without a node that the last one left out: until it
 * has answered what it was told. */
bool cluster_plan_leaves_out(const struct cluster_state *s, const struct node_data *d);

/* Sets owners[i] to the node of things[i], an index of nodes, or PLACEMENT_NOBODY. */
void cluster_plan_make(const struct cluster_plan *p, size_t *owners);

/*
 * Appends a line for each thing that would move, "topic/shop: shop-1 -> shop-2". Returns how
 * many. To show what a wish would do, give a copy of the state that has it.
 */
size_t cluster_plan_list(struct buf *out, const struct cluster_plan *p);

#endif
