#include "config.h"

#include "rebalance/member/cluster_zookeeper.h"

#include "rebalance/cluster/cluster_survey.h"
#include "rebalance/member/member.h"

#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/store/store.h"

#include <stdlib.h>

#define STOP_LIMIT_MS  30000 /* to deliver what was read, and store the position */
#define START_LIMIT_MS 30000 /* to take the terms of the store */
#define SETTLE_MS      300
#define STAGGER_MS     200

struct by_zookeeper {
    struct cluster base;
    struct store *store;
    struct buf servers, auth, tls;
    unsigned timeout_ms;
    struct member *member;
};

static bool start(struct cluster *c, struct err *err)
{
    struct by_zookeeper *z = (struct by_zookeeper *)c;
    struct coordination *coordination = NULL;

    if (!zookeeper_open(&(struct zookeeper_options){.servers = buf_str(&z->servers),
                                                    .auth = buf_str(&z->auth),
                                                    .tls = buf_str(&z->tls),
                                                    .timeout_ms = z->timeout_ms,
                                                    .wake = member_wake,
                                                    .wake_ctx = z->member},
                        &coordination, err))
        return false;
    member_start(z->member, coordination);
    return true;
}

static bool own(struct cluster *c, struct str thing, uint64_t *term, struct err *err)
{
    struct by_zookeeper *z = (struct by_zookeeper *)c;

    if (member_wish(z->member, thing) != CLUSTER_WORK)
        return err_set(err, ERR_STOP,
                       "%" STR_FMT " is another node's; millrace node list says whose",
                       STR_ARG(thing));
    if (!store_take_term(z->store, thing, term, err))
        return false;
    FAILPOINT(term_taken);
    member_has(z->member, thing);
    return true;
}

static enum cluster_wish wish(struct cluster *c, struct str thing)
{
    return member_wish(((struct by_zookeeper *)c)->member, thing);
}

static size_t orders(struct cluster *c, struct arena *a, struct cluster_order **out)
{
    return member_orders(((struct by_zookeeper *)c)->member, a, out);
}

static void set_things(struct cluster *c, const struct barrier_thing *things, size_t n,
                       uint64_t revision)
{
    member_set_things(((struct by_zookeeper *)c)->member, things, n, revision);
}

static void ended(struct cluster *c, struct str thing)
{
    member_ended(((struct by_zookeeper *)c)->member, thing);
}

static void refused(struct cluster *c, struct str thing)
{
    member_refused(((struct by_zookeeper *)c)->member, thing);
}

static bool ask(struct cluster *c, enum barrier_ask what, struct str node, struct str thing,
                struct err *err)
{
    return member_ask(((struct by_zookeeper *)c)->member, what, node, thing, err);
}

static void look(struct cluster *c, struct cluster_view *out)
{
    struct by_zookeeper *z = (struct by_zookeeper *)c;

    member_look(z->member, out);
    out->asked_ms = z->timeout_ms;
}

static bool survey(struct cluster *c, struct cluster_survey *out, struct err *err)
{
    struct by_zookeeper *z = (struct by_zookeeper *)c;

    if (!member_survey(z->member, out, err))
        return false;
    out->view.asked_ms = z->timeout_ms;
    return true;
}

static bool known(struct cluster *c, int64_t wait_ms, struct cluster_survey *out)
{
    struct by_zookeeper *z = (struct by_zookeeper *)c;

    return member_known(z->member, wait_ms, out);
}

static void leave(struct cluster *c)
{
    member_stop(((struct by_zookeeper *)c)->member);
}

static void close_zookeeper(struct cluster *c)
{
    struct by_zookeeper *z = (struct by_zookeeper *)c;

    member_stop(z->member);
    member_free(z->member);
    buf_free(&z->servers);
    buf_free(&z->auth);
    buf_free(&z->tls);
    free(z);
}

struct cluster *cluster_zookeeper(struct store *store, const struct cluster_node *node,
                                  const struct zookeeper_options *options,
                                  cluster_changed_fn changed, void *ctx)
{
    static const struct cluster_ops ops = {.start = start,
                                           .own = own,
                                           .wish = wish,
                                           .orders = orders,
                                           .set_things = set_things,
                                           .ended = ended,
                                           .refused = refused,
                                           .ask = ask,
                                           .look = look,
                                           .survey = survey,
                                           .known = known,
                                           .leave = leave,
                                           .close = close_zookeeper};
    const struct barrier_options barrier = {.id = node->id,
                                            .name = node->name,
                                            .version = node->version,
                                            .started_ms = node->started_ms,
                                            .suspend_ms = (int64_t)options->timeout_ms * 6 / 10,
                                            .stop_limit_ms = STOP_LIMIT_MS,
                                            .start_limit_ms = START_LIMIT_MS,
                                            .settle_ms = SETTLE_MS,
                                            .stagger_ms = STAGGER_MS};
    struct by_zookeeper *z = mem_alloc(1, sizeof(*z));

    z->base = (struct cluster){.ops = &ops, .kind = "zookeeper"};
    z->store = store;
    z->timeout_ms = options->timeout_ms;
    buf_append(&z->servers, options->servers);
    buf_append(&z->auth, options->auth);
    buf_append(&z->tls, options->tls);
    z->member = member_new(&barrier, node->store, changed, ctx);
    return &z->base;
}
