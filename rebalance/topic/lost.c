#include "config.h"

#include "rebalance/topic/lost.h"

#include "rebalance/state/owned.h"
#include "rebalance/topic/topics.h"

#include "src/base/log.h"

static void refuse_thing(struct coordinator *co, const struct topic *t)
{
    struct buf thing = {0};

    buf_printf(&thing, "topic/%s", t->name);
    cluster_refused(co->cluster, buf_str(&thing));
    buf_free(&thing);
}

static void leave(struct coordinator *co, struct topic *t) NEEDS(co->admin_lock)
{
    log_info("another node has taken the topic: storing nothing more",
             KV("topic", (const char *)t->name));
    coordinator_stop_topic(co, t);
    refuse_thing(co, t);
    lock_acquire(&co->topics->lock);
    err_set(&t->why, ERR_STOP,
            "another node has taken topic %s; this node takes it again as soon as the store "
            "lets it",
            t->name);
    lock_release(&co->topics->lock);
    coordinator_load_soon(co); /* the other node may have changed what is stored */
}

void coordinator_leave_lost(struct coordinator *co)
{
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL && !coordinator_owns(co, str_from(t->name)))
            leave(co, t);
}

void coordinator_ask_failed(struct coordinator *co)
{
    struct err why = {0};

    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL && pipeline_has_failed(t->pipeline) &&
            !coordinator_ask_owner(co, str_from(t->name), &why))
            log_debug("a failed topic", KV("topic", (const char *)t->name),
                      KV("owner", (const char *)why.msg));
    coordinator_leave_lost(co);
}
