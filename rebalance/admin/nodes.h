/*
 * The calls about the nodes that share the store.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_ADMIN_NODES_H
#define REBALANCE_ADMIN_NODES_H

#include "rebalance/cluster/barrier_event.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct coordinator;

/* name: of one node, or its id, or the first 8 digits of that; empty: all nodes. */
bool coordinator_nodes(struct coordinator *co, struct str name, struct buf *json,
                       struct err *err) MUST_CHECK;

struct node_request {
    enum barrier_ask ask;
    struct str node;  /* as above; of a move also "any" */
    struct str topic; /* of a move */
    bool dry_run;     /* only say what would move */
};

/* Returns once the cluster has the request: what moves then moves by itself. */
bool coordinator_change_nodes(struct coordinator *co, const struct node_request *r,
                              struct buf *json, struct err *err) MUST_CHECK;

/* What remains of a node that does not come back: its last words, and what people asked of it.
 * Refuses one that lives. */
bool coordinator_forget_node(struct coordinator *co, struct str name, bool dry_run,
                             struct buf *json, struct err *err) MUST_CHECK;

#endif
