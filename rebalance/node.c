#include "config.h"

#include "rebalance/node.h"

#include "rebalance/delivery_values.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/peers.h"
#include "sync/routing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_MS        50
#define TOPICS_MS      2000 /* topics that could not start are tried again */
#define PRUNE_MS       600000
#define GRAVES_KEEP_MS 7200000 /* twice gc_deletes */
#define HELD_MS        30000   /* a held index may fill half of the queue this long */
#define REPLACED_MS    2000    /* and its next version waits for it this long */
#define STUCK_MS       1000 /* what is blocked may free itself, or others hand over more */
#define POLL_MS        10

bool coordinator_open(struct coordinator **out, const struct coordinator_options *opt,
                      struct err *err)
{
    struct coordinator *co = mem_alloc(1, sizeof(*co));

    co->opt = *opt;
    pthread_mutex_init(&co->doing, NULL);
    pthread_mutex_init(&co->setting, NULL);
    pthread_mutex_init(&co->fitting, NULL);
    pthread_mutex_init(&co->refreshing, NULL);
    pthread_mutex_init(&co->lock, NULL);
    stop_init(&co->stop);
    co->peers = peers_new();
    co->coordination = coordination_embedded(opt->store);
    co->started_ms = clock_steady_ms();
    if (!node_load(co, err) || !node_load_delivery_values(co, err)) {
        coordinator_close(co);
        return false;
    }
    *out = co;
    return true;
}

void coordinator_close(struct coordinator *co)
{
    if (co == NULL)
        return;
    delivery_free(co->delivery);
    node_free_topics(co);
    peers_free(co->peers);
    node_free_rebuilds(co);
    node_free_timed(co);
    node_free_purged(co);
    delivery_values_free(co->values);
    definitions_unref(co->definitions);
    node_catalogue_free(co->catalogue);
    coordination_close(co->coordination);
    stop_fini(&co->stop);
    pthread_mutex_destroy(&co->lock);
    pthread_mutex_destroy(&co->refreshing);
    pthread_mutex_destroy(&co->fitting);
    pthread_mutex_destroy(&co->setting);
    pthread_mutex_destroy(&co->doing);
    free(co);
}

/* Documents that were refused before: a later success takes their letters away. */
static bool note_dead_letters(struct coordinator *co, struct err *err)
{
    struct dead_letter_filter f = {.limit = 1000};
    size_t n;

    do {
        struct arena *a = arena_new();
        struct stored_dead_letter *list;
        const bool ok = store_load_dead_letters(co->opt.store, a, &f, &list, &n, err);

        for (size_t i = 0; ok && i < n; i++) {
            delivery_note_dead(co->delivery, list[i].index, list[i].routing, list[i].doc_id,
                               list[i].version);
            f.after_id = list[i].id;
        }
        arena_free(a);
        if (!ok)
            return err_wrap(err, "reading the dead letters");
    } while (n == f.limit);
    return true;
}

/* Index versions that are written to. */
static size_t count_live(struct coordinator *co)
{
    struct catalogue *c = node_catalogue(co);
    size_t n = 0;

    for (size_t i = 0; i < c->n_versions; i++)
        n += str_equal(c->versions[i].state, STR("changing")) ||
             str_equal(c->versions[i].state, STR("available"));
    node_catalogue_free(c);
    return n;
}

static size_t count_held(const struct coordinator *co)
{
    size_t n = 0;

    for (const struct held_index *h = co->held; h != NULL; h = h->next)
        n++;
    return n;
}

static void stop_held(struct coordinator *co, const char *index, const struct err *why)
{
    struct target *t = NULL;
    struct err err = {0};

    for (struct topic *topic = co->topics; topic != NULL && t == NULL; topic = topic->next)
        if (topic->pipeline != NULL)
            t = pipeline_target(topic->pipeline, str_from(index), STR(""));
    if (t == NULL)
        return;
    /* Durable first: what is deferred lets the checkpoint pass. */
    if (!__atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED)) {
        struct buf fix = {0}, lead = {0};

        node_lead_name(co, t, &lead);
        buf_append(&fix, STR("millrace index create "));
        buf_append_word(&fix, buf_str(&lead));
        if (node_stop_target(co, t, &(struct node_stop){why->msg, fix.ptr, false}, &err)) {
            __atomic_store_n(&((struct reading *)t->plan)->stopped, true, __ATOMIC_RELAXED);
            delivery_drop(co->delivery, str_from(index));
            if (!node_route(co, str_from(t->topic), 0, NULL, &err))
                log_debug("the stop reaches the builder soon");
        }
        buf_free(&lead);
        buf_free(&fix);
    }
    target_unref(t);
}

/* All rows are written, and what happened meanwhile is waited for. */
static bool is_finishing(struct index_build *b)
{
    return strcmp(index_build_status(b).phase, "finishing") == 0;
}

static bool any_is_finishing(const struct coordinator *co)
{
    for (size_t i = 0; i < co->n_builds; i++)
        if (is_finishing(co->builds[i]))
            return true;
    return false;
}

/* The version that takes its place waits for nothing but what this one does not take. */
static bool is_replaced(const struct coordinator *co, const char *index)
{
    for (size_t i = 0; i < co->n_builds; i++) {
        struct index_build *b = co->builds[i];
        const char *alias = index_build_alias(b);
        const size_t len = strlen(alias);

        if (is_finishing(b) && strncmp(index, alias, len) == 0 &&
            strncmp(index + len, "_v", 2) == 0 &&
            strtoull(index + len + 2, NULL, 10) < index_build_number(b))
            return true;
    }
    return false;
}

/* What a build writes is not purged. */
static bool is_being_built(const struct coordinator *co, const char *index)
{
    for (size_t i = 0; i < co->n_builds; i++) {
        struct index_build *b = co->builds[i];
        const char *alias = index_build_alias(b);
        const size_t len = strlen(alias);

        if (strncmp(index, alias, len) == 0 && strncmp(index + len, "_v", 2) == 0 &&
            strtoull(index + len + 2, NULL, 10) == index_build_number(b))
            return true;
    }
    return false;
}

/* It says no because of what this index or its documents are, and not to everybody. */
static bool is_its_own(const struct err *why)
{
    if (why->origin == NULL)
        return true;
    if (strcmp(why->origin, "item") == 0)
        return why->code == 400 || why->code == 404 || why->code == 413;
    return strcmp(why->origin, "http") == 0 && why->code == 400;
}

/* What foreign keys change in other tables waits until this one shows what went with it. */
static bool is_waited_for(const struct coordinator *co, const char *index)
{
    for (const struct topic *t = co->topics; t != NULL; t = t->next)
        if (t->pipeline != NULL && pipeline_cascades_wait_for(t->pipeline, str_from(index)))
            return true;
    return false;
}

/*
 * One held index must not stop the others: when it fills the queue and its changes cannot be purged, or a build or
 * foreign keys wait for it, its table is stopped, and a rebuild brings it back.  Trouble that may be that of the whole engine (log-in, full disks, nobody
 * there) is waited for, unless others were written meanwhile.
 */
static bool is_in_the_way(struct coordinator *co, const struct held_index *h,
                          const struct delivery_status *s, size_t n_live)
{
    const struct delivery_settings settings = delivery_get(co->delivery);
    const bool is_full = s->bytes_held >= settings.bytes_max / 2 ||
                         (co->blocked_since_ms != 0 &&
                          clock_mono_ms() - co->blocked_since_ms > HELD_MS);
    const bool fills =
        is_full && (settings.purge == PURGE_OFF || is_being_built(co, h->index));
    const int64_t held_ms = clock_mono_ms() - h->since_ms;

    if (held_ms > REPLACED_MS && is_replaced(co, h->index))
        return true;
    return (fills || any_is_finishing(co) || is_waited_for(co, h->index)) &&
           held_ms > HELD_MS &&
           count_held(co) < n_live && (is_its_own(&h->why) || s->good_ms > h->since_ms);
}

static bool any_held(struct coordinator *co)
{
    pthread_mutex_lock(&co->lock);

    const bool any = co->held != NULL;

    pthread_mutex_unlock(&co->lock);
    return any;
}

/* Since when somebody has waited to hand over changes, as far as was looked. */
static void note_blocked(struct coordinator *co, size_t n_callers)
{
    if (n_callers == 0)
        co->blocked_since_ms = 0;
    else if (co->blocked_since_ms == 0)
        co->blocked_since_ms = clock_mono_ms();
}

static void relieve(struct coordinator *co)
{
    char *index = NULL;
    struct err why;

    if (!any_held(co))
        return;

    const struct delivery_status s = delivery_status(co->delivery);
    const size_t n_live = count_live(co);

    note_blocked(co, s.blocked);

    pthread_mutex_lock(&co->lock);
    for (const struct held_index *h = co->held; h != NULL && index == NULL; h = h->next)
        if (is_in_the_way(co, h, &s, n_live)) {
            index = mem_copy(h->index);
            why = h->why;
        }
    pthread_mutex_unlock(&co->lock);
    if (index != NULL)
        stop_held(co, index, &why);
    free(index);
}

/* Or is to be, when its topic is back. */
static bool any_is_built(struct coordinator *co)
{
    struct catalogue *c = node_catalogue(co);
    bool any = co->n_builds > 0;

    for (size_t i = 0; i < c->n_versions; i++)
        any = any || str_equal(c->versions[i].state, STR("changing"));
    node_catalogue_free(c);
    return any;
}

void node_drop_tombstones(struct coordinator *co)
{
    struct err err = {0};

    if (!any_is_built(co) &&
        !store_drop_tombstones(co->opt.store, clock_steady_ms() - GRAVES_KEEP_MS, &err))
        log_failure(LOG_WARN, &err, "old tombstones were not dropped");
}

static void prune(struct coordinator *co)
{
    if (clock_mono_ms() - co->pruned_ms < PRUNE_MS)
        return;
    co->pruned_ms = clock_mono_ms();
    node_drop_tombstones(co);
    node_warn_of_dead_letters(co);
}

static void *coordinator_main(void *arg)
{
    struct coordinator *co = arg;
    int64_t topics_ms = 0;

    while (!stop_wait(&co->stop, TICK_MS)) {
        pthread_mutex_lock(&co->doing);
        node_finish_builds(co);
        if (clock_mono_ms() - topics_ms > TOPICS_MS) {
            node_sync_topics(co);
            node_resume_builds(co);
            node_sync_settings(co, NULL);
            topics_ms = clock_mono_ms();
        }
        node_follow_moved(co);
        node_close_gaps(co);
        node_route_again(co);
        node_rebuild_tables(co);
        node_forget_gone(co);
        relieve(co);
        node_look_at_aliases(co);
        node_relieve_away(co);
        node_end_drops(co);
        prune(co);
        pthread_mutex_unlock(&co->doing);
    }
    return NULL;
}

bool coordinator_start(struct coordinator *co, struct err *err)
{
    struct delivery_options o = node_delivery_options(co);
    struct delivery_settings settings, defaults;

    if (!node_delivery_settings(co, &settings, err))
        return false;
    delivery_settings_put(&settings, &o);
    co->delivery = delivery_new(co->opt.search, &o);
    node_end_promoted(co);
    /* Once more, for those whose 0 means something. */
    if (!delivery_set(co->delivery, &settings, &defaults, err) || !note_dead_letters(co, err) ||
        !node_load_purged(co, err))
        return false;
    delivery_start(co->delivery);
    pthread_mutex_lock(&co->doing);
    co->settings_due = true;
    node_sync_topics(co);
    pthread_mutex_unlock(&co->doing);
    co->thread = thread_start("coordinator", coordinator_main, co);
    node_start_syncs(co);
    node_start_repairs(co);
    __atomic_store_n(&co->started, true, __ATOMIC_RELEASE);
    return true;
}

static bool all_idle(struct coordinator *co)
{
    for (struct topic *t = co->topics; t != NULL; t = t->next)
        if (t->pipeline != NULL && !pipeline_idle(t->pipeline))
            return false;
    return true;
}

static void nap(int64_t ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static bool all_handed_over(struct coordinator *co)
{
    for (struct topic *t = co->topics; t != NULL; t = t->next)
        if (t->pipeline != NULL && !pipeline_is_handed_over(t->pipeline))
            return false;
    return true;
}

static uint64_t count_queued(struct coordinator *co)
{
    const struct delivery_status s = delivery_status(co->delivery);

    return s.queued + s.loading + s.in_flight;
}

/*
 * One drain after the other, for who was read for hands over more; a blocked one is the end when
 * nobody will, or nobody can because the queue is full of what is blocked.
 */
static enum drain_end drain_pipelines(struct coordinator *co, int64_t timeout_ms)
{
    const int64_t until = clock_mono_ms() + timeout_ms;
    uint64_t blocked = UINT64_MAX; /* so many were left when a drain was blocked last */

    while (!all_idle(co)) {
        const int64_t left_ms = until - clock_mono_ms();
        const uint64_t queued = count_queued(co);
        const bool handed_over = all_handed_over(co); /* before it: what comes during it follows */
        enum drain_end end = DRAIN_DONE;

        if (left_ms <= 0)
            return DRAIN_TIMED_OUT;
        if (queued > 0)
            end = delivery_drain_partition(co->delivery, DRAIN_ALL, left_ms);
        if (end == DRAIN_IN_PROGRESS) { /* one by hand: ours is of all, and goes first */
            delivery_drain_cancel(co->delivery);
            nap(POLL_MS);
            continue;
        }
        if (end == DRAIN_BLOCKED && (handed_over || queued == blocked))
            return end;
        if (end != DRAIN_DONE && end != DRAIN_BLOCKED)
            return end;
        blocked = end == DRAIN_BLOCKED ? queued : UINT64_MAX;
        nap(end == DRAIN_BLOCKED ? STUCK_MS : POLL_MS);
    }
    return DRAIN_DONE;
}

/* What was read goes out within the deadline; the rest is read again after the next start. */
static void drain(struct coordinator *co)
{
    const struct delivery_settings settings = delivery_get(co->delivery);

    for (struct topic *t = co->topics; t != NULL; t = t->next)
        if (t->pipeline != NULL)
            pipeline_quiesce(t->pipeline);
    if (!settings.drain)
        log_info("not drained: delivery.drain is false");
    else
        log_info("drained",
                 KV("end", drain_end_name(drain_pipelines(co, settings.drain_timeout_ms))),
                 KV("complete", all_idle(co)));
    for (struct topic *t = co->topics; t != NULL; t = t->next) {
        struct err err = {0};

        if (t->pipeline != NULL && !pipeline_save(t->pipeline, &err))
            log_failure(LOG_ERROR, &err, "the last position could not be stored",
                        KV("topic", (const char *)t->name));
        if (t->pipeline != NULL)
            pipeline_discard(t->pipeline);
    }
}

void coordinator_stop(struct coordinator *co)
{
    if (co->delivery == NULL)
        return;
    stop_set(&co->stop);
    if (co->started) {
        pthread_join(co->thread, NULL);
        node_join_syncs(co);
        node_join_repairs(co);
    }
    __atomic_store_n(&co->started, false, __ATOMIC_RELEASE);
    pthread_mutex_lock(&co->doing);
    node_hush_builds(co); /* one that waits for delivery ends when delivery does */
    drain(co);
    delivery_stop(co->delivery);
    node_stop_builds(co);
    for (struct topic *t = co->topics; t != NULL; t = t->next)
        if (t->pipeline != NULL)
            pipeline_join(t->pipeline);
    pthread_mutex_unlock(&co->doing);
}
