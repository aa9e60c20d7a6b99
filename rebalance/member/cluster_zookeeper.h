/* The cluster of nodes that share a store and a ZooKeeper. */
#ifndef REBALANCE_MEMBER_CLUSTER_ZOOKEEPER_H
#define REBALANCE_MEMBER_CLUSTER_ZOOKEEPER_H

#include "rebalance/cluster/cluster.h"
#include "rebalance/coordination/zookeeper.h"
#include "src/base/base.h"
#include "src/base/str.h"

/* Texts are copied. */
struct cluster_node {
    struct str id;      /* of the data folder */
    struct str name;    /* of the machine, for people */
    struct str version; /* of the program */
    struct str store;   /* the id of the store that all nodes have */
    int64_t started_ms; /* of wall time */
};

/*
 * Returns a cluster of which this node is no part before cluster_start(), so that commands
 * without a daemon own nothing. The store is borrowed; wake and wake_ctx of the options are not
 * used.
 */
struct cluster *cluster_zookeeper(struct store *store, const struct cluster_node *node,
                                  const struct zookeeper_options *options,
                                  cluster_changed_fn changed,
                                  void *ctx) RETURNS_NONNULL MUST_CHECK;

#endif
