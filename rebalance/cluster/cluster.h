/*
 * The cluster: which node owns what.
 *
 * Every source and build is owned under a term, and the store refuses writes under an older
 * term (docs/rules.md, rule 9). The embedded implementation owns everything on this node.
 * Taking a thing raises its term, which fences off a forgotten other process. ZooKeeper will be
 * the second implementation.
 *
 * @thread any
 */
#ifndef REBALANCE_CLUSTER_CLUSTER_H
#define REBALANCE_CLUSTER_CLUSTER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct store;
struct cluster;

struct cluster_ops {
    bool (*own)(struct cluster *c, struct str thing, uint64_t *term, struct err *err);
    void (*close)(struct cluster *c);
};

/* The first member of every implementation. */
struct cluster {
    const struct cluster_ops *ops;
    const char *kind; /* "embedded" */
};

struct cluster *cluster_embedded(struct store *store) RETURNS_NONNULL MUST_CHECK;

/*
 * Take ownership of thing ("topic/shop", "index/orders/2"). From now on the store accepts
 * writes under *term only. May block.
 */
static inline bool cluster_own(struct cluster *c, struct str thing, uint64_t *term,
                               struct err *err)
{
    return c->ops->own(c, thing, term, err);
}

static inline void cluster_close(struct cluster *c) /* NULL is fine */
{
    if (c != NULL)
        c->ops->close(c);
}

#endif
