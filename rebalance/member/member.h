/*
 * This node's part in a cluster: one thread that runs the barrier (rebalance/cluster/barrier.h)
 * over a coordination (rebalance/coordination/coordination.h). It keeps what this node is to
 * work on; whoever does the work looks at it after each `changed`, and says what became of it.
 *
 *     ──► WORK ──► GIVE_BACK ──► END ──►      member_has() once the term is taken,
 *          └────────────────────┘             member_ended() answers the other two
 *
 * @thread any (locked inside), but for member_new(), _start(), _stop() and _free()
 */
#ifndef REBALANCE_MEMBER_MEMBER_H
#define REBALANCE_MEMBER_MEMBER_H

#include "rebalance/cluster/barrier.h"
#include "rebalance/cluster/cluster.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coordination;
struct member;

/* store: the id of the store that all nodes have. changed: there is a new order. */
struct member *member_new(const struct barrier_options *options, struct str store,
                          cluster_changed_fn changed, void *ctx) RETURNS_NONNULL MUST_CHECK;
/* For the coordination to call: something happened there. member: struct member. Never blocks.
 */
void member_wake(void *member);
/* Starts the thread, which owns the coordination from now on. */
void member_start(struct member *m, struct coordination *c);
/* Leaves the cluster, so that others take over at once, and ends the thread. Blocks. */
void member_stop(struct member *m);
void member_free(struct member *m); /* after member_stop(), or without a start; NULL is fine */

/* What can be owned, in place of what was said before; revision: of the definitions that say
 * so, the same at all nodes. The texts are copied. */
void member_set_things(struct member *m, const struct barrier_thing *things, size_t n,
                       uint64_t revision);

enum cluster_wish member_wish(struct member *m, struct str thing);
/* Copies what this node is to work on, give back, or end, to the arena. */
size_t member_orders(struct member *m, struct arena *a, struct cluster_order **out);

void member_has(struct member *m, struct str thing);     /* its term is taken */
void member_ended(struct member *m, struct str thing);   /* all work on it */
void member_refused(struct member *m, struct str thing); /* the store has a newer term; the
                                                            work has ended */

/* Writes a person's wish into the cluster's state. Blocks for some seconds at most. ERR_RETRY:
 * the coordination did not take it in time; it may yet. */
bool member_ask(struct member *m, enum barrier_ask ask, struct str node, struct str thing,
                struct err *err) MUST_CHECK;
/* Reads the nodes that live and the cluster's state. Blocks for some seconds at most.
 * ERR_RETRY: the coordination does not answer. Zero-initialise *out. */
bool member_survey(struct member *m, struct cluster_survey *out, struct err *err) MUST_CHECK;
/* The same, but the last survey will do if nothing has changed since. Waits wait_ms at most,
 * and not at all while the coordination does not answer. */
bool member_known(struct member *m, int64_t wait_ms, struct cluster_survey *out) MUST_CHECK;
/* As of the last turn of the thread; zero-initialise *out, cluster_view_free() frees it. */
void member_look(struct member *m, struct cluster_view *out);

#endif
