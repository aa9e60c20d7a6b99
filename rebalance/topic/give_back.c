#include "config.h"

#include "rebalance/topic/give_back.h"

#include "rebalance/state/owned.h"
#include "rebalance/topic/things.h"
#include "rebalance/topic/topics.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

#include <string.h>

#define LIMIT_MS  20000 /* for what was read to be delivered; the rest is read again */
#define STILL_MS  5000  /* ... while nothing is: the engine or the source is away */
#define OWNERS_MS 10000
#define LOOK_MS   20

void coordinator_tell_things(struct coordinator *co)
{
    struct arena *a;
    struct barrier_thing *things;
    size_t n;

    if (!co->opt.is_shared || co->things == co->stored->revision + 1)
        return;
    a = arena_new();
    n = coordinator_things(co, a, &things);
    cluster_set_things(co->cluster, things, n, co->stored->revision);
    co->things = co->stored->revision + 1;
    arena_free(a);
}

/* Returns false, with what the cluster waits for, while topics may have no owner yet. */
static bool all_have_owners(struct coordinator *co, uint64_t revision, struct buf *waits)
{
    struct cluster_view v = {0};

    cluster_look(co->cluster, &v);

    const bool all = v.is_normal && v.revision >= revision;

    buf_clear(waits);
    buf_append(waits, v.waits.len > 0 ? buf_str(&v.waits) : STR("waits for the other nodes"));
    cluster_view_free(&v);
    return all;
}

void coordinator_wait_for_owners(struct coordinator *co, struct problems *problems)
{
    const int64_t until_ms = clock_mono_ms() + OWNERS_MS;
    struct buf waits = {0};
    uint64_t revision;
    bool all;

    if (!co->opt.is_shared || co->delivery == NULL)
        return;
    lock_acquire(&co->admin_lock);
    coordinator_tell_things(co);
    revision = co->stored->revision;
    lock_release(&co->admin_lock);
    while (!(all = all_have_owners(co, revision, &waits)) && clock_mono_ms() < until_ms &&
           !stop_wait(&co->stop, LOOK_MS))
        ;
    if (!all)
        problems_add(problems, SEVERITY_WARNING, (struct place){0},
                     "topics may have no owner yet: the cluster %s", waits.ptr);
    buf_free(&waits);
}

/* The name of the topic; empty: the thing is none. */
static struct str name_of(struct str thing)
{
    const struct str prefix = STR("topic/");

    if (thing.len < prefix.len || memcmp(thing.ptr, prefix.ptr, prefix.len) != 0)
        return STR("");
    return (struct str){thing.ptr + prefix.len, thing.len - prefix.len};
}

static struct topic *topic_of(struct coordinator *co, struct str thing)
{
    return topics_find(co->topics, name_of(thing));
}

/* Returns true once all that was read is done, or may not be waited for any longer. */
static bool is_done(struct topic *t)
{
    const int64_t now_ms = clock_mono_ms();

    if (t->give_back_ms == 0) {
        log_info("giving the topic back", KV("topic", (const char *)t->name));
        t->give_back_ms = now_ms + LIMIT_MS;
        t->moved_on_ms = now_ms;
        pipeline_quiesce(t->pipeline);
    }

    const uint64_t mark = pipeline_mark(t->pipeline);

    if (t->mark != mark)
        t->moved_on_ms = now_ms;
    t->mark = mark;
    return pipeline_idle(t->pipeline) || now_ms >= t->give_back_ms ||
           now_ms - t->moved_on_ms >= STILL_MS;
}

static void save(struct topic *t)
{
    struct err err = {0};

    if (!pipeline_save(t->pipeline, &err))
        log_failure(LOG_ERROR, &err, "could not store the last position",
                    KV("topic", (const char *)t->name));
}

/* Nothing of it goes on here, and the store refuses what may still be on its way. */
static void end(struct coordinator *co, struct topic *t, struct str thing) NEEDS(co->admin_lock)
{
    if (t != NULL) {
        coordinator_stop_topic(co, t);
        t->term_is_fresh = false;
        t->needs_take_over = true;
        t->next_epoch = 0;
        t->give_back_ms = 0;
        t->term = 0;
    }
    store_lose_term(co->opt.store, thing);
    FAILPOINT(topic_given_back);
    cluster_ended(co->cluster, thing);
}

/* Somebody has taken what we had, though the cluster has not told us so. */
static void look_for_loss(struct coordinator *co, struct str thing) NEEDS(co->admin_lock)
{
    struct topic *t = topic_of(co, thing);

    if (t == NULL || t->term == 0 || coordinator_owns(co, name_of(thing)))
        return;
    t->term = 0;
    t->needs_take_over = true;
    cluster_refused(co->cluster, thing);
}

static void obey(struct coordinator *co, const struct cluster_order *o) NEEDS(co->admin_lock)
{
    struct topic *t = topic_of(co, o->thing);
    const bool works = t != NULL && t->pipeline != NULL;

    if (works && o->wish == CLUSTER_GIVE_BACK) {
        if (!is_done(t))
            return;
        save(t);
        FAILPOINT(topic_saved);
    }
    if (works && o->wish == CLUSTER_END)
        log_warn("all work on the topic has ended at once", KV("topic", (const char *)t->name));
    end(co, t, o->thing);
}

void coordinator_give_back(struct coordinator *co)
{
    struct arena *a;
    struct cluster_order *orders;
    size_t n;

    if (!co->opt.is_shared)
        return;
    a = arena_new();
    n = cluster_orders(co->cluster, a, &orders);
    for (size_t i = 0; i < n; i++)
        if (orders[i].wish == CLUSTER_WORK)
            look_for_loss(co, orders[i].thing);
        else
            obey(co, &orders[i]);
    arena_free(a);
}

void coordinator_take_ordered(struct coordinator *co)
{
    if (__atomic_exchange_n(&co->has_orders, false, __ATOMIC_ACQ_REL))
        coordinator_sync_topics(co);
}

/* The coordinator's thread, which ends the topic, may wait for a store that does not answer. */
static void discard(struct coordinator *co, struct str thing)
{
    lock_acquire(&co->topics->lock);

    const struct topic *t = topic_of(co, thing);

    if (t != NULL && t->pipeline != NULL)
        pipeline_discard(t->pipeline);
    lock_release(&co->topics->lock);
}

void coordinator_on_order(void *ctx, struct str thing, enum cluster_wish wish)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    if (wish == CLUSTER_END)
        discard(co, thing);
    __atomic_store_n(&co->has_orders, true, __ATOMIC_RELEASE);
    stop_nudge(&co->stop);
}

bool coordinator_is_giving_back(struct coordinator *co)
{
    bool any = false;

    lock_acquire(&co->topics->lock);
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        any = any || t->give_back_ms != 0; /* only this thread sets it */
    lock_release(&co->topics->lock);
    return any;
}
