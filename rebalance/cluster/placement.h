/*
 * Who owns what: a pure function of the nodes, the things, who owns them now, and what people
 * asked for.
 *
 * Things of one group are on one node. Otherwise each admitted node has about as many things as
 * another one: no group, and no thing without a group, could go to the node with the fewest
 * things and leave both more even. Nothing moves that this does not ask for. The order of the
 * input does not count.
 */
#ifndef REBALANCE_CLUSTER_PLACEMENT_H
#define REBALANCE_CLUSTER_PLACEMENT_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

#define PLACEMENT_NOBODY ((size_t)-1)

struct placement_node {
    struct str id;
    struct str name;  /* for people; empty: the id */
    bool is_admitted; /* lives, is not evacuated, and answers */
};

struct placement_thing {
    struct str name;
    struct str group; /* empty: by itself */
    struct str owner; /* at present; empty, or a node that is gone: nobody */
    struct str wish;  /* the node that a person asked for; empty, or not admitted: none */
};

struct placement {
    const struct placement_node *nodes; /* each id once */
    size_t n_nodes;
    const struct placement_thing *things; /* each name once */
    size_t n_things;
};

/* Sets owners[i] to the node of things[i]: an index of nodes, or PLACEMENT_NOBODY for all if no
 * node is admitted. */
void placement_make(const struct placement *p, size_t *owners);

/* Appends a line for each thing that moves, "topic/shop: a -> b". Returns how many. */
size_t placement_list_moves(struct buf *out, const struct placement *p, const size_t *owners);

/* Returns why things have no owner, or NULL if they have one. */
const char *placement_reason(const struct placement *p);

#endif
