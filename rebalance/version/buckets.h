/*
 * Which buckets this node fills, and which parts of delayed runs.
 *
 * Nobody deals them out: each node that lives takes buckets that nobody has, up to its share of
 * those that are open, and gives back what is more than that when nodes come. The store decides
 * who was first, and the term of the bucket's job fences off who had it before (ADR 53).
 * Buckets that need what only the owner of the topic knows stay with it.
 */
#ifndef REBALANCE_VERSION_BUCKETS_H
#define REBALANCE_VERSION_BUCKETS_H

#include "rebalance/state/parts.h"

/* Start a fill for each bucket that has none here, as far as there is room. */
void coordinator_fill_buckets(struct coordinator *co) NEEDS(co->admin_lock);
/* Stop the fills of a version, and keep their cursors.  Blocks. */
void coordinator_stop_fills(struct coordinator *co, struct str alias, uint64_t number)
    NEEDS(co->admin_lock);
/* Stop the fills that use a pipeline, which ends; NULL: all. */
void coordinator_pause_fills(struct coordinator *co, const struct pipeline *p)
    NEEDS(co->admin_lock);
/* Ask all fills to stop, without waiting. */
void coordinator_ask_fills_to_stop(struct coordinator *co) NEEDS(co->admin_lock);
/* How many nodes may fill, this one among them; 1 without a cluster, 0: none now. */
size_t coordinator_fill_nodes(struct coordinator *co);
/* Into how many buckets a build of so many nodes (0: all) divides its rows, if nobody says. */
size_t coordinator_buckets(struct coordinator *co, uint64_t nodes);
/* Of struct index_build_options: ctx is the coordinator.  @thread a build's */
void coordinator_on_divided(void *ctx);

#endif
