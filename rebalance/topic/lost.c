#include "config.h"

#include "rebalance/topic/lost.h"

#include "rebalance/state/owned.h"
#include "rebalance/topic/topics.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "sync/source/transport/transport.h"

#include <stdlib.h>

#define THROWN_OUT_MAX 3     /* ends of the reader for another one before a person is needed */
#define CALM_MS        60000 /* without one, before they are counted anew */

static void leave(struct coordinator *co, struct topic *t, const struct err *why)
    NEEDS(co->admin_lock)
{
    coordinator_stop_topic(co, t);
    lock_acquire(&co->topics->lock);
    t->why = *why;
    lock_release(&co->topics->lock);
    coordinator_load_soon(co); /* the other node may have changed what is stored */
}

static void leave_lost(struct coordinator *co, struct topic *t) NEEDS(co->admin_lock)
{
    struct err why;

    log_info("another node has taken the topic: storing nothing more",
             KV("topic", (const char *)t->name));
    err_set(&why, ERR_STOP,
            "another node has taken topic %s; this node takes it again as soon as %s lets it",
            t->name, co->opt.is_shared ? "the cluster" : "the store");
    leave(co, t, &why);
}

/* Its position is before what it met, so it meets that again. */
static void leave_discarded(struct coordinator *co, struct topic *t) NEEDS(co->admin_lock)
{
    struct err why;

    log_info("the topic met what only the owner of another topic may store: reading it again",
             KV("topic", (const char *)t->name));
    err_set(&why, ERR_RETRY,
            "topic %s met what only the owner of another topic may store, and another node has "
            "taken that one; Millrace tries again by itself",
            t->name);
    leave(co, t, &why);
}

void coordinator_leave_lost(struct coordinator *co)
{
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline == NULL)
            continue;
        else if (!coordinator_owns(co, str_from(t->name)))
            leave_lost(co, t);
        else if (pipeline_is_discarded(t->pipeline))
            leave_discarded(co, t);
}

static bool is_thrown_out(struct topic *t)
{
    struct pipeline_status s;

    pipeline_status(t->pipeline, &s);
    free(s.gtids);
    return transport_reason_of(&s.source.why) == TRANSPORT_DUPLICATE_ID;
}

/*
 * A reader with our server id has come, though the topic is ours: that of an owner that hung
 * comes once more before it learns of its loss, and then ends.
 */
static void read_again(struct topic *t)
{
    if (t->thrown_out >= THROWN_OUT_MAX)
        return;
    t->thrown_out++;
    t->thrown_out_ms = clock_mono_ms();
    log_info("another reader took the topic's log from this one: reading it again",
             KV("topic", (const char *)t->name));
    pipeline_retry(t->pipeline);
}

static void ask_failed(struct coordinator *co, struct topic *t) NEEDS(co->admin_lock)
{
    struct err why = {0};

    if (!coordinator_ask_owner(co, str_from(t->name), &why))
        log_debug("a failed topic", KV("topic", (const char *)t->name),
                  KV("owner", (const char *)why.msg));
    else if (is_thrown_out(t))
        read_again(t);
}

void coordinator_ask_failed(struct coordinator *co)
{
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline == NULL)
            continue;
        else if (pipeline_has_failed(t->pipeline))
            ask_failed(co, t);
        else if (clock_mono_ms() - t->thrown_out_ms > CALM_MS)
            t->thrown_out = 0;
    coordinator_leave_lost(co);
}
