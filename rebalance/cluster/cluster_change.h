/*
 * What a person asks of the cluster, as a change of its state: the leader of the next rebalance
 * carries it out, and people are shown before what would move.
 */
#ifndef REBALANCE_CLUSTER_CLUSTER_CHANGE_H
#define REBALANCE_CLUSTER_CLUSTER_CHANGE_H

#include "rebalance/cluster/barrier_event.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stddef.h>

struct cluster_state;
struct cluster_survey;

struct cluster_change {
    enum barrier_ask ask;
    struct str node, thing; /* as struct barrier_event has them */
    /* All that can be owned: a move takes the place of earlier moves of the thing's group. */
    const struct barrier_thing *things;
    size_t n_things;
};

/* Makes the change in the state. */
void cluster_change_make(const struct cluster_change *c, struct cluster_state *state);

/*
 * Appends a line for each thing that would move, as cluster_plan_list(), if every node that
 * lives answers. Returns how many.
 */
size_t cluster_change_list(struct buf *out, const struct cluster_change *c,
                           const struct cluster_survey *s);

#endif
