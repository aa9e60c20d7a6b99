#include "config.h"

#include "rebalance/state/owned.h"

#include "rebalance/state/parts.h"

#include "src/base/buf.h"
#include "src/base/magic.h"
#include "src/search/search.h"

static void append_thing(struct buf *out, struct str topic)
{
    buf_append(out, STR("topic/"));
    buf_append(out, topic);
}

static void on_loss(void *ctx)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    stop_nudge(&co->stop);
}

static bool may_change(void *ctx, struct str name, struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    return store_ask_index(co->opt.store, name, err);
}

bool coordinator_is_shared(const struct coordinator *co)
{
    return co->opt.is_shared;
}

void coordinator_watch_loss(struct coordinator *co)
{
    store_watch_loss(co->opt.store, on_loss, co);
    if (co->opt.search != NULL)
        search_guard(co->opt.search, may_change, co);
}

void coordinator_unwatch_loss(struct coordinator *co)
{
    store_watch_loss(co->opt.store, NULL, NULL);
    if (co->opt.search != NULL)
        search_guard(co->opt.search, NULL, NULL);
}

bool coordinator_shall_own(struct coordinator *co, struct str topic)
{
    struct buf thing = {0};

    append_thing(&thing, topic);

    const bool shall = cluster_wish(co->cluster, buf_str(&thing)) == CLUSTER_WORK;

    buf_free(&thing);
    return shall;
}

bool coordinator_owns(struct coordinator *co, struct str topic)
{
    struct buf thing = {0};

    append_thing(&thing, topic);

    const bool owns = store_owns(co->opt.store, buf_str(&thing));

    buf_free(&thing);
    return owns;
}

bool coordinator_find_term(struct coordinator *co, struct str topic, uint64_t *term)
{
    struct buf thing = {0};

    append_thing(&thing, topic);

    const bool owns = store_find_term(co->opt.store, buf_str(&thing), term);

    buf_free(&thing);
    return owns;
}

bool coordinator_owns_version(struct coordinator *co, struct str index, uint64_t number)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = catalogue_number(c, index, number);
    const bool owns = v == NULL || coordinator_owns(co, v->topic);

    catalogue_unref(c);
    return owns;
}

bool coordinator_ask_owner(struct coordinator *co, struct str topic, struct err *err)
{
    struct buf thing = {0};

    append_thing(&thing, topic);

    const bool ours = store_ask_term(co->opt.store, buf_str(&thing), err);

    buf_free(&thing);
    return ours;
}
