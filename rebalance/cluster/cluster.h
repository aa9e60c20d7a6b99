/*
 * The cluster: which node owns what.
 *
 * Every source and build is owned under a term, and the store refuses writes under an older one
 * (docs/rules.md, rule 9). Taking a thing raises its term, which fences off who had it before.
 * The embedded cluster owns everything here; the other is rebalance/member/cluster_zookeeper.h.
 *
 * @thread any
 */
#ifndef REBALANCE_CLUSTER_CLUSTER_H
#define REBALANCE_CLUSTER_CLUSTER_H

#include "rebalance/cluster/cluster_ops.h"
#include "src/base/base.h"

struct store;

struct cluster *cluster_embedded(struct store *store) RETURNS_NONNULL MUST_CHECK;

/* Become a node of the cluster. A daemon calls it once. */
static inline bool cluster_start(struct cluster *c, struct err *err)
{
    return c->ops->start(c, err);
}

/*
 * Take ownership of thing ("topic/shop"), which this node is to work on. From now on the store
 * accepts writes under *term only. May block.
 */
static inline bool cluster_own(struct cluster *c, struct str thing, uint64_t *term,
                               struct err *err)
{
    return c->ops->own(c, thing, term, err);
}

/* Tells what this node is to do with the thing now. */
static inline enum cluster_wish cluster_wish(struct cluster *c, struct str thing)
{
    return c->ops->wish(c, thing);
}

/* Copies what this node is to work on, give back or end: nothing, if it works on all. */
static inline size_t cluster_orders(struct cluster *c, struct arena *a,
                                    struct cluster_order **out)
{
    return c->ops->orders(c, a, out);
}

/* What can be owned, in place of what was said before, of this revision of the definitions. */
static inline void cluster_set_things(struct cluster *c, const struct barrier_thing *things,
                                      size_t n, uint64_t revision)
{
    c->ops->set_things(c, things, n, revision);
}

/* All work on the thing has ended: answers CLUSTER_GIVE_BACK and CLUSTER_END. */
static inline void cluster_ended(struct cluster *c, struct str thing)
{
    c->ops->ended(c, thing);
}

/* The store has a newer term of the thing, and the work on it has ended. */
static inline void cluster_refused(struct cluster *c, struct str thing)
{
    c->ops->refused(c, thing);
}

/* Carries out a person's wish. May block for some seconds. */
static inline bool cluster_ask(struct cluster *c, enum barrier_ask ask, struct str node,
                               struct str thing, struct err *err)
{
    return c->ops->ask(c, ask, node, thing, err);
}

/* Zero-initialise *out; cluster_view_free() frees it. */
static inline void cluster_look(struct cluster *c, struct cluster_view *out)
{
    c->ops->look(c, out);
}

/* Reads who lives, and the cluster's state. May block for some seconds. */
static inline bool cluster_survey(struct cluster *c, struct cluster_survey *out,
                                  struct err *err)
{
    return c->ops->survey(c, out, err);
}

/* Leave the cluster: others take over what this node still has. May block. */
static inline void cluster_leave(struct cluster *c)
{
    c->ops->leave(c);
}

static inline void cluster_close(struct cluster *c) /* NULL is fine */
{
    if (c != NULL)
        c->ops->close(c);
}

#endif
