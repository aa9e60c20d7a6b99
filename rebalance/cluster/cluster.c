#include "config.h"

#include "rebalance/cluster/cluster.h"

#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/store/store.h"

#include <stdlib.h>

struct embedded {
    struct cluster base;
    struct store *store;
};

static bool own(struct cluster *c, struct str thing, uint64_t *term, struct err *err)
{
    const bool ok = store_take_term(((struct embedded *)c)->store, thing, term, err);

    FAILPOINT(term_taken);
    return ok;
}

static void close_embedded(struct cluster *c)
{
    free(c);
}

struct cluster *cluster_embedded(struct store *store)
{
    static const struct cluster_ops ops = {.own = own, .close = close_embedded};
    struct embedded *e = mem_alloc(1, sizeof(*e));

    e->base = (struct cluster){.ops = &ops, .kind = "embedded"};
    e->store = store;
    return &e->base;
}
