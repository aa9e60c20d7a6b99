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

void cluster_view_copy(struct cluster_view *to, const struct cluster_view *from)
{
    const struct cluster_view mine = *to;

    *to = *from;
    to->live = mine.live;
    to->evacuated = mine.evacuated;
    to->waits = mine.waits;
    name_set_copy(&to->live, &from->live);
    name_set_copy(&to->evacuated, &from->evacuated);
    buf_clear(&to->waits);
    buf_append(&to->waits, buf_str(&from->waits));
}

void cluster_view_free(struct cluster_view *v)
{
    name_set_free(&v->live);
    name_set_free(&v->evacuated);
    buf_free(&v->waits);
    *v = (struct cluster_view){0};
}

static bool start(struct cluster *c, struct err *err)
{
    (void)c, (void)err;
    return true;
}

static bool own(struct cluster *c, struct str thing, uint64_t *term, struct err *err)
{
    const bool ok = store_take_term(((struct embedded *)c)->store, thing, term, err);

    FAILPOINT(term_taken);
    return ok;
}

static enum cluster_wish wish(struct cluster *c, struct str thing)
{
    (void)c, (void)thing;
    return CLUSTER_WORK;
}

static size_t orders(struct cluster *c, struct arena *a, struct cluster_order **out)
{
    (void)c, (void)a;
    *out = NULL;
    return 0;
}

static void set_things(struct cluster *c, const struct barrier_thing *things, size_t n,
                       uint64_t revision)
{
    (void)c, (void)things, (void)n, (void)revision;
}

static void ended(struct cluster *c, struct str thing)
{
    (void)c, (void)thing;
}

static bool refuse(struct err *err)
{
    return err_set_code(err, ERR_REJECT, "http", 409,
                        "this node has its store alone, so nothing can move; fix: set "
                        "coordination to zookeeper://… at several nodes (docs/cluster.md)");
}

static bool ask(struct cluster *c, enum barrier_ask what, struct str node, struct str thing,
                struct err *err)
{
    (void)c, (void)what, (void)node, (void)thing;
    return refuse(err);
}

static bool survey(struct cluster *c, struct cluster_survey *out, struct err *err)
{
    (void)c, (void)out;
    return refuse(err);
}

static bool known(struct cluster *c, int64_t wait_ms, struct cluster_survey *out)
{
    (void)c, (void)wait_ms, (void)out;
    return false;
}

static void look(struct cluster *c, struct cluster_view *out)
{
    (void)c;
    out->is_connected = out->is_normal = true;
}

static void leave(struct cluster *c)
{
    (void)c;
}

static void close_embedded(struct cluster *c)
{
    free(c);
}

struct cluster *cluster_embedded(struct store *store)
{
    static const struct cluster_ops ops = {.start = start,
                                           .own = own,
                                           .wish = wish,
                                           .orders = orders,
                                           .set_things = set_things,
                                           .ended = ended,
                                           .refused = ended,
                                           .ask = ask,
                                           .look = look,
                                           .survey = survey,
                                           .known = known,
                                           .leave = leave,
                                           .close = close_embedded};
    struct embedded *e = mem_alloc(1, sizeof(*e));

    e->base = (struct cluster){.ops = &ops, .kind = "embedded"};
    e->store = store;
    return &e->base;
}
