#include "config.h"

#include "rebalance/poll/sync.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"

#include "rebalance/poll/table_sync.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

/*
 * Syncs by time: one thread runs them one after the other, each index version when it is due.
 *
 * A run uses its pipeline without a lock, by a reference.  If the pipeline stops meanwhile,
 * documents already handed over end undone.
 */

#define TICK_MS   200   /* at least, between looks */
#define REST_MS   60000 /* at most */
#define OVERLAP_S 60    /* seconds, at least; two intervals if that is longer */

/* The sync state of one index version. */
struct timed_index {
    char *index;
    int64_t last_ms, next_ms; /* steady time: start of the last successful run, and of the next;
                                 0: unknown */
    uint64_t rows;            /* of the last successful run */
    bool seen;                /* the version still exists */
    struct err why;           /* why the last run failed, or ERR_NONE */
    struct timed_index *next;
};

struct syncs {
    pthread_t thread;
    struct lock lock;
    struct timed_index *first; /* guarded by lock */
};

/* ---- the list ---- */

static struct timed_index *find(const struct syncs *all, struct str index) NEEDS(all->lock)
{
    for (struct timed_index *t = all->first; t != NULL; t = t->next)
        if (str_equal(str_from(t->index), index))
            return t;
    return NULL;
}

static struct timed_index *find_or_add(struct syncs *all, struct str index) NEEDS(all->lock)
{
    struct timed_index *t = find(all, index);

    if (t == NULL) {
        t = mem_alloc(1, sizeof(*t));
        t->index = strndup(index.ptr, index.len);
        t->next = all->first;
        all->first = t;
    }
    t->seen = true;
    return t;
}

/* Needs the lock, or to be alone. */
static void drop_unseen(struct syncs *all)
{
    for (struct timed_index **at = &all->first; *at != NULL;) {
        struct timed_index *t = *at;

        if (t->seen) {
            t->seen = false;
            at = &t->next;
            continue;
        }
        *at = t->next;
        free(t->index);
        free(t);
    }
}

struct syncs *syncs_new(void)
{
    struct syncs *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_private);
    return all;
}

void syncs_free(struct syncs *all)
{
    if (all == NULL)
        return;
    for (struct timed_index *t = all->first; t != NULL; t = t->next)
        t->seen = false;
    drop_unseen(all);
    lock_fini(&all->lock);
    free(all);
}

/* ---- a run ---- */

static uint32_t overlap_of(const struct table_definition *t)
{
    return t->sync_every_s > OVERLAP_S / 2 ? t->sync_every_s * 2 : OVERLAP_S;
}

/*
 * Find the version's target and plan, which the caller gives back.  Returns false with
 * ERR_RETRY if its topic or table is not followed now.
 */
static bool begin_run(struct coordinator *co, struct str topic, struct str index,
                      struct table_sync *run, struct err *err)
{
    lock_acquire(&co->topics->lock);

    struct topic *t = topics_find(co->topics, topic);

    if (t != NULL && t->pipeline != NULL) {
        run->pipeline = pipeline_ref(t->pipeline);
        run->target = pipeline_target(run->pipeline, index, STR(""));
    }
    lock_release(&co->topics->lock);
    if (run->target == NULL)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " is not running yet", STR_ARG(topic));

    struct reading *reading = run->target->plan;

    if (__atomic_load_n(&reading->stopped, __ATOMIC_RELAXED))
        return err_set(err, ERR_RETRY, "the table is stopped");
    run->plan = reading->plan;
    return true;
}

static bool sync_version(struct coordinator *co, const struct table_definition *t,
                         const struct stored_version *v, struct str index, uint64_t *rows,
                         struct err *err)
{
    struct table_sync run = {.store = co->opt.store,
                             .delivery = co->delivery,
                             .check = t->daily_check_column,
                             .overlap_s = overlap_of(t),
                             .stop = &co->stop};

    const bool ok =
        begin_run(co, v->topic, index, &run, err) && table_sync_run(&run, rows, err);

    target_unref(run.target);
    pipeline_unref(run.pipeline);
    return ok;
}

static void end_run(struct coordinator *co, const struct table_definition *t, struct str index,
                    int64_t began_ms, uint64_t rows, const struct err *why)
{
    lock_acquire(&co->syncs->lock);

    struct timed_index *timed = find_or_add(co->syncs, index);
    const bool news = why->kind != ERR_NONE && timed->why.kind == ERR_NONE;

    timed->why = *why;
    timed->next_ms = began_ms + (int64_t)t->sync_every_s * 1000;
    if (why->kind == ERR_NONE) {
        timed->last_ms = began_ms;
        timed->rows = rows;
    }
    lock_release(&co->syncs->lock);
    if (news)
        log_failure(LOG_WARN, why, "a sync waits", KV("index", index));
}

static bool is_due(struct coordinator *co, struct str index)
{
    lock_acquire(&co->syncs->lock);

    const bool due = find_or_add(co->syncs, index)->next_ms <= clock_steady_ms();

    lock_release(&co->syncs->lock);
    return due;
}

/* Sync the live versions of one table that are due. */
static void sync_table(struct coordinator *co, const struct catalogue *c,
                       const struct table_definition *t)
{
    for (size_t i = 0; i < c->n_versions && !stop_is_set(&co->stop); i++) {
        const struct stored_version *v = &c->versions[i];
        const int64_t began_ms = clock_steady_ms();
        struct buf index = {0};
        struct err err = {0};
        uint64_t rows = 0;

        if (!catalogue_is_live(v) || !str_equal(v->index, table_index(t)) ||
            !coordinator_owns(co, v->topic))
            continue;
        coordinator_index_name(&index, v->index, v->number);
        if (is_due(co, buf_str(&index)) &&
            (sync_version(co, t, v, buf_str(&index), &rows, &err) || err.kind != ERR_STOP))
            end_run(co, t, buf_str(&index), began_ms, rows, &err);
        buf_free(&index);
    }
}

/* Until the next run is due. A new definition or version nudges co->stop. */
static int64_t rest_ms(struct syncs *all)
{
    int64_t ms = REST_MS;

    lock_acquire(&all->lock);
    for (const struct timed_index *t = all->first; t != NULL; t = t->next) {
        const int64_t due_ms = t->next_ms - clock_steady_ms();

        ms = due_ms < ms ? due_ms : ms;
    }
    lock_release(&all->lock);
    return ms < TICK_MS ? TICK_MS : ms;
}

static void *sync_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    uint64_t seen = 0;

    while (!stop_rest(&co->stop, rest_ms(co->syncs), &seen)) {
        struct definitions *d = coordinator_definitions(co);
        struct catalogue *c = coordinator_catalogue(co);

        for (size_t i = 0; i < d->n_tables; i++)
            if (d->tables[i].sync_every_s > 0)
                sync_table(co, c, &d->tables[i]);
        catalogue_unref(c);
        definitions_unref(d);
        lock_acquire(&co->syncs->lock);
        drop_unseen(co->syncs);
        lock_release(&co->syncs->lock);
    }
    return NULL;
}

void coordinator_start_syncs(struct coordinator *co)
{
    co->syncs->thread = thread_start("sync", sync_main, co);
}

void coordinator_join_syncs(struct coordinator *co)
{
    pthread_join(co->syncs->thread, NULL);
}

/* ---- status ---- */

void coordinator_append_sync_reason(const struct coordinator *co, struct str index,
                                    struct buf *b)
{
    lock_acquire(&co->syncs->lock);

    const struct timed_index *timed = find(co->syncs, index);

    if (timed != NULL)
        buf_append(b, str_from(timed->why.msg));
    lock_release(&co->syncs->lock);
}

struct lag coordinator_sync_lag(const struct coordinator *co, struct str index)
{
    struct lag lag = {.since_ms = LAG_NONE};

    lock_acquire(&co->syncs->lock);

    const struct timed_index *timed = find(co->syncs, index);

    if (timed != NULL)
        lag = (struct lag){.since_ms =
                               timed->last_ms == 0
                                   ? LAG_UNKNOWN
                                   : clock_wall_ms() - (clock_steady_ms() - timed->last_ms),
                           .at_most = true};
    lock_release(&co->syncs->lock);
    return lag;
}

static void put_sync(struct json_writer *w, const struct table_definition *t,
                     const struct timed_index *timed)
{
    json_open_object(w);
    json_put_u64(w, STR("every_seconds"), t->sync_every_s);
    json_put_string(w, STR("column"), t->daily_check_column);
    coordinator_put_time(w, STR("last"), timed->last_ms);
    coordinator_put_time(w, STR("next"), timed->next_ms);
    if (timed->last_ms > 0)
        json_put_double(w, STR("lag_seconds"),
                        (double)(clock_steady_ms() - timed->last_ms) / 1000);
    else
        json_put_null(w, STR("lag_seconds"));
    json_put_u64(w, STR("rows"), timed->rows);
    json_put_cstr(w, STR("reason"), timed->why.msg);
    json_close_object(w);
}

void coordinator_append_sync(const struct coordinator *co, struct json_writer *w,
                             const struct table_definition *t, struct str index)
{
    json_write_key(w, STR("sync"));
    lock_acquire(&co->syncs->lock);

    const struct timed_index *timed = find(co->syncs, index);

    if (t->sync_every_s > 0 && timed != NULL)
        put_sync(w, t, timed);
    else
        json_write_null(w);
    lock_release(&co->syncs->lock);
}
