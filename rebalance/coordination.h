/*
 * Coordination: who owns what.
 *
 * A source or a build is owned under a term; the store refuses what an older term writes
 * (design part 7, rule 9).  Embedded: this node owns everything, and taking a thing raises its
 * term, so that a forgotten other process is fenced.  ZooKeeper comes as a second
 * implementation.
 *
 * @thread any
 */
#ifndef REBALANCE_COORDINATION_H
#define REBALANCE_COORDINATION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct store;
struct coordination;

struct coordination_ops {
    bool (*own)(struct coordination *c, struct str thing, uint64_t *term, struct err *err);
    void (*close)(struct coordination *c);
};

/* What every implementation begins with. */
struct coordination {
    const struct coordination_ops *ops;
    const char *kind; /* "embedded" */
};

struct coordination *coordination_embedded(struct store *store) RETURNS_NONNULL MUST_CHECK;

/* Take thing ("topic/shop", "index/orders/2"); writes under *term count from now on.  May
 * block. */
static inline bool coordination_own(struct coordination *c, struct str thing, uint64_t *term,
                                    struct err *err)
{
    return c->ops->own(c, thing, term, err);
}

static inline void coordination_close(struct coordination *c) /* NULL is fine */
{
    if (c != NULL)
        c->ops->close(c);
}

#endif
