#include "config.h"

#include "rebalance/delayed/runs.h"

#include "rebalance/delayed/page.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/fill/fills.h"
#include "rebalance/fill/level.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/runs.h"
#include "rebalance/state/turns.h"
#include "rebalance/watch/store_watch.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/store/store.h"
#include "src/store/told.h"
#include "sync/read/stall_watchdog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP_MS      20
#define WAIT_MS      200
#define RETRY_MS     2000
#define REST_MS      30000 /* whoever begins a run nudges co->stop */
#define SHARED_MS    2000  /* another node may have begun one for a topic that came here */
#define PRUNE_MS     3600000
#define UNDELAYED_MS 60000
#define TURN_MS      10000 /* before another look while an index is built */
#define POSITION_MS  5000  /* for the stored position to pass what waits */
#define DAY_MS       INT64_C(86400000)
#define KEPT_MS      (7 * DAY_MS)

struct delayed_runs {
    struct lock lock;
    struct map *whys; /* by topic, a text; guarded by lock */
    pthread_t thread;
    struct stall_watchdog *watchdog;

    /* The thread's. */
    struct level_keys known;
    int64_t prune_ms, undelayed_ms;
    struct definitions *seen; /* at the last look for tables that are not delayed any more */
};

struct delayed_runs *delayed_runs_new(void)
{
    struct delayed_runs *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_private);
    all->whys = map_new();
    all->watchdog = stall_watchdog_new(&(struct stall_watchdog_options){0});
    return all;
}

void delayed_runs_free(struct delayed_runs *all)
{
    if (all == NULL)
        return;
    map_free(all->whys, free);
    definitions_unref(all->seen);
    level_keys_fini(&all->known);
    stall_watchdog_free(all->watchdog);
    lock_fini(&all->lock);
    free(all);
}

static void note_why(struct delayed_runs *all, struct str topic, const char *why)
{
    lock_acquire(&all->lock);
    free(map_put(all->whys, topic, mem_copy(why)));
    lock_release(&all->lock);
}

void delayed_runs_append_why(struct delayed_runs *all, struct str topic, struct buf *out)
{
    lock_acquire(&all->lock);

    const char *why = map_find(all->whys, topic);

    if (why != NULL)
        buf_append(out, str_from(why));
    lock_release(&all->lock);
}

void coordinator_append_delayed_why(struct coordinator *co, struct str topic, struct buf *out)
{
    struct store_copy *c;

    if (coordinator_owns(co, topic)) {
        delayed_runs_append_why(co->delayed, topic, out);
        return;
    }
    store_watch_want(co->store_watch);
    c = store_watch_copy(co->store_watch);

    const struct stored_told *told = c == NULL ? NULL : store_copy_told(c, topic);

    if (told != NULL)
        (void)json_find_text(told->body, "/" DELAYED_TOLD, out);
    store_copy_unref(c);
}

/* ---- success ---- */

/* For whoever expects a run of each table from time to time (rebalance/state/runs.h). */
static void note_success(struct coordinator *co, const struct snapshot_run *run)
{
    struct definitions *d = coordinator_definitions(co);
    struct err err = {0};

    for (size_t i = 0; i < d->n_tables && run->one == 0; i++) {
        const struct table_definition *t = &d->tables[i];
        const struct topic_definition *topic = t->delayed ? definition_topic(d, t) : NULL;

        if (topic != NULL && str_equal(topic->name, run->topic) &&
            (run->table.len == 0 || str_equal(run->table, table_name(t))) &&
            !coordinator_note_run(co, RUN_DELAYED, table_name(t), &err))
            log_failure(LOG_WARN, &err, "could not store that a delayed run has succeeded",
                        KV("table", table_name(t)));
    }
    definitions_unref(d);
}

/* ---- the beginning ---- */

static struct pipeline *find_pipeline(struct coordinator *co, struct str topic)
{
    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, topic);
    struct pipeline *p = t == NULL || t->pipeline == NULL ? NULL : pipeline_ref(t->pipeline);

    lock_release(&co->topics->lock);
    return p;
}

/*
 * Store a position behind the newest change that waits.  If that takes too long, a restart
 * only finds again what the run took, and the next run repeats it.
 */
static bool store_position(struct coordinator *co, struct pipeline *p, uint64_t newest,
                           struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + POSITION_MS;

    while (!pipeline_done_up_to(p, newest))
        if (clock_mono_ms() > until_ms || stop_wait(&co->stop, STEP_MS))
            return true;
    return pipeline_save(p, err);
}

/* Under the lock under which builds begin; one of another node may begin meanwhile. */
static bool begin_in_turn(struct coordinator *co, struct arena *a,
                          const struct snapshot_owner *owner, struct snapshot_run *run,
                          bool *busy, struct err *err)
{
    if (!coordinator_begin(co, err))
        return false;

    const bool ok =
        coordinator_refresh(co, err) && coordinator_may_run_delayed(co, run, err) &&
        store_begin_snapshot_run(co->opt.store, a, owner, clock_wall_ms(), run, busy, err);

    lock_release(&co->admin_lock);
    return ok;
}

bool coordinator_begin_delayed(struct coordinator *co, struct arena *a, struct str topic,
                               struct snapshot_run *run, bool *busy, struct err *err)
{
    struct snapshot_owner owner = {.topic = topic};
    struct pipeline *p = find_pipeline(co, topic);
    uint64_t newest = 0;
    bool ok;

    run->topic = topic;

    if (p == NULL || !coordinator_owns(co, topic) ||
        !coordinator_find_term(co, topic, &owner.term))
        ok = refuse(err, 503,
                    "topic %" STR_FMT " is not running here now; fix: millrace status says why",
                    STR_ARG(topic));
    else
        ok = store_newest_snapshot(co->opt.store, topic, run->table, &run->up_to, &newest,
                                   err) &&
             (newest == 0 || store_position(co, p, newest, err)) &&
             begin_in_turn(co, a, &owner, run, busy, err);
    FAILPOINT(delayed_begun);
    if (ok && !*busy && run->n_all == 0) /* nothing waits, which is well */
        note_success(co, run);
    if (p != NULL)
        pipeline_unref(p);
    return ok;
}

/* ---- one run ---- */

static void say_end(const struct delayed_run *r)
{
    log_info("a delayed run has ended", KV("topic", r->owner.topic), KV("table", r->at.table),
             KV("snapshots", r->at.n_all), KV("not_built", r->n_unbuilt));
}

static void note_wait(const struct delayed_run *r)
{
    struct buf why = {0};

    if (r->waits_for != NULL)
        buf_append(&why, str_from(r->waits_for));
    else if (r->part_waits.len > 0)
        buf_printf(&why, "a part that waits: %" STR_FMT, STR_ARG(r->part_waits));
    else
        buf_printf(&why,
                   "%" PRIu64 " jobs read documents again; millrace job get delayed-%" PRIu64
                   " shows them",
                   r->n_jobs + r->n_parts, r->at.id);
    note_why(r->co->delayed, r->owner.topic, why.ptr);
    buf_free(&why);
}

/* Returns for how many ms there is nothing to do. */
static int64_t step(struct delayed_run *r)
{
    enum delayed_step how;
    struct err err = {0};

    if (!delayed_run_step(r, &how, &err)) {
        note_why(r->co->delayed, r->owner.topic, err.msg);
        if (err.kind != ERR_STOP)
            log_failure(LOG_WARN, &err, "a delayed run waits", KV("topic", r->owner.topic));
        return RETRY_MS;
    }
    if (how == DELAYED_WAITS)
        note_wait(r);
    else
        note_why(r->co->delayed, r->owner.topic, "");
    if (how == DELAYED_ENDED) {
        level_keys_fini(r->known);
        say_end(r);
        if (r->n_unbuilt == 0)
            note_success(r->co, &r->at);
    }
    return how == DELAYED_WAITS ? WAIT_MS : STEP_MS;
}

static void note_question(const struct delayed_run *r, struct str table)
{
    struct buf why = {0};

    buf_printf(&why, "the answer to `level_sql` of %" STR_FMT ", which may take a minute",
               STR_ARG(table));
    note_why(r->co->delayed, r->owner.topic, why.ptr);
    buf_free(&why);
}

static int64_t bring_on(struct coordinator *co, struct arena *a, const struct snapshot_run *run)
{
    struct delayed_run r = {.co = co,
                            .at = *run,
                            .arena = a,
                            .asks = note_question,
                            .watchdog = co->delayed->watchdog,
                            .known = &co->delayed->known};
    int64_t ms = RETRY_MS;

    r.owner.topic = run->topic;
    if (!coordinator_owns(co, run->topic) ||
        !coordinator_find_term(co, run->topic, &r.owner.term))
        return ms;
    r.pipeline = find_pipeline(co, run->topic);
    if (r.pipeline == NULL)
        note_why(co->delayed, run->topic, "its topic is not running; millrace status says why");
    else
        ms = step(&r);
    if (r.pipeline != NULL)
        pipeline_unref(r.pipeline);
    return ms;
}

/* ---- tables that are not delayed any more ---- */

/* Of a table that is gone a person says what becomes of it. */
static bool follows_at_once(struct coordinator *co, struct str table)
{
    struct definitions *d = coordinator_definitions(co);
    const struct table_definition *t = definitions_table(d, table);
    const bool is = t != NULL && !t->delayed;

    definitions_unref(d);
    return is;
}

static void begin(struct coordinator *co, struct arena *a, const struct snapshot_count *c)
{
    struct snapshot_run run = {.table = c->table};
    struct err err = {0};
    bool busy;

    if (!coordinator_owns(co, c->topic))
        return;
    if (coordinator_begin_delayed(co, a, c->topic, &run, &busy, &err)) {
        if (busy)
            co->delayed->undelayed_ms = clock_mono_ms() + RETRY_MS;
        else
            log_info("a table is not delayed any more: what waits is run",
                     KV("table", c->table), KV("snapshots", run.n_all));
        return;
    }
    if (err.code == TURN_TAKEN)
        co->delayed->undelayed_ms = clock_mono_ms() + TURN_MS;
    log_failure(err.code == TURN_TAKEN ? LOG_INFO : LOG_WARN, &err,
                "what waits of a table that is not delayed any more stays",
                KV("table", c->table));
}

/* The definitions are others, or the topic may have come from a node that did not see to it. */
static bool is_look_due(struct coordinator *co)
{
    struct delayed_runs *all = co->delayed;
    struct definitions *now = coordinator_definitions(co);
    const bool is = now != all->seen || clock_mono_ms() >= all->undelayed_ms;

    definitions_unref(all->seen);
    all->seen = now;
    if (is)
        all->undelayed_ms = clock_mono_ms() + UNDELAYED_MS;
    return is;
}

static void begin_undelayed(struct coordinator *co, struct arena *a)
{
    struct snapshot_count *list;
    struct err err = {0};
    size_t n;

    if (!store_count_snapshots(co->opt.store, a, &list, &n, &err)) {
        log_debug("snapshots are counted later", KV("why", (const char *)err.msg));
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].n_waiting > 0 && follows_at_once(co, list[i].table))
            begin(co, a, &list[i]);
}

/* ---- the thread ---- */

static void prune(struct coordinator *co)
{
    struct err err = {0};

    if (clock_mono_ms() < co->delayed->prune_ms)
        return;
    co->delayed->prune_ms = clock_mono_ms() + PRUNE_MS;
    if (!store_prune_snapshots(co->opt.store, clock_wall_ms() - KEPT_MS, &err))
        log_failure(LOG_WARN, &err, "snapshots that are done stay in the store");
}

/* An older release may have ended their run without them. */
static bool has_parts(struct coordinator *co, struct arena *a)
{
    struct stored_job *list;
    struct err err = {0};
    size_t n = 0;
    bool has = !store_load_jobs(co->opt.store, a, &list, &n, &err);

    for (size_t i = 0; !has && i < n; i++)
        has = str_equal(list[i].kind, STR(JOB_PART)) && bucket_is_open(&list[i]);
    return has;
}

static int64_t turn(struct coordinator *co)
{
    struct arena *a = arena_new();
    struct snapshot_run *list;
    struct err err = {0};
    int64_t rest_ms = co->opt.is_shared ? SHARED_MS : REST_MS;
    size_t n = 0;

    if (is_look_due(co))
        begin_undelayed(co, a);
    if (!store_load_snapshot_runs(co->opt.store, a, STR(""), &list, &n, &err))
        rest_ms = RETRY_MS;
    else
        fills_note_run(co->fills, n > 0 || has_parts(co, a));
    for (size_t i = 0; i < n && !stop_is_set(&co->stop); i++) {
        const int64_t ms = bring_on(co, a, &list[i]);

        rest_ms = ms < rest_ms ? ms : rest_ms;
    }
    prune(co);
    arena_free(a);

    const int64_t look_ms = co->delayed->undelayed_ms - clock_mono_ms();

    return look_ms < rest_ms ? look_ms : rest_ms;
}

static void *delayed_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    int64_t rest_ms = 0;
    uint64_t seen = 0;

    while (!stop_rest(&co->stop, rest_ms > STEP_MS ? rest_ms : STEP_MS, &seen))
        rest_ms = turn(co);
    return NULL;
}

void coordinator_start_delayed(struct coordinator *co)
{
    stall_watchdog_start(co->delayed->watchdog);
    co->delayed->thread = thread_start("delayed", delayed_main, co);
}

void coordinator_join_delayed(struct coordinator *co)
{
    stall_watchdog_stop(co->delayed->watchdog);
    pthread_join(co->delayed->thread, NULL);
}
