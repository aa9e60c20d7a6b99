/*
 * Which nodes fill a version, and how many buckets each of them has at a time.
 *
 * All nodes reckon it from the same: who lives, who ends the build, how many buckets are open.
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_FILL_SHARE_H
#define REBALANCE_FILL_SHARE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct name_set;

#define FILLS_AT_ONCE 4 /* of one version on a node */

struct fill_nodes {
    const struct name_set *live, *evacuated; /* ids; NULL: this node has its store alone */
    struct str self, owner;                  /* who ends the build; empty: not known */
    uint64_t max;                            /* nodes that may fill it; 0: all */
};

struct fill_share {
    size_t most;    /* buckets of this node; 0: it takes no part */
    size_t nodes;   /* that take part */
    size_t sharers; /* fills of all nodes together, which share a limit of rows */
};

/*
 * How many of a node's n fills it gives back, whose share was reckoned for so many nodes: what
 * is more than its share now, if nodes have come, or it takes no part. As long as the same
 * nodes fill, what is open gets less anyway, and another one would read again what a fill has
 * not acknowledged.
 */
size_t fill_give_back(const struct fill_share *now, size_t nodes_then, size_t n);

/*
 * The owner comes first, then the others that live and are not evacuated, by their ids, up to
 * `max`; each has an equal part of n_open buckets.
 */
struct fill_share fill_share(const struct fill_nodes *nodes, size_t n_open);

#endif
