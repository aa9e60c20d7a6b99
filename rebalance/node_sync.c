#include "config.h"

#include "rebalance/node.h"

#include "rebalance/table_sync.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/routing.h"

#include <stdlib.h>

/*
 * The syncs by time: one thread, one run after the other, each index version when it is due.
 *
 * Its runs look into pipelines without a lock: one that is stopped meanwhile is kept until the
 * coordinator ends, and what was handed over ends undone.
 */

#define TICK_MS     200
#define OVERLAP_S   60 /* at least; two intervals where these are longer */

/* What is known of one index version that is read by time; guarded by the node's lock. */
struct timed_index {
    char *index;
    int64_t last_ms, next_ms; /* steady time: a run that succeeded began, the next begins; 0: not known */
    uint64_t rows;            /* of that run */
    bool seen;                /* it is still there */
    struct err why;           /* the last run failed; ERR_NONE */
    struct timed_index *next;
};

/* ---- the list ---- */

static struct timed_index *find(const struct coordinator *co, struct str index)
{
    for (struct timed_index *t = co->timed; t != NULL; t = t->next)
        if (str_equal(str_from(t->index), index))
            return t;
    return NULL;
}

static struct timed_index *find_or_add(struct coordinator *co, struct str index)
{
    struct timed_index *t = find(co, index);

    if (t == NULL) {
        t = mem_alloc(1, sizeof(*t));
        t->index = strndup(index.ptr, index.len);
        t->next = co->timed;
        co->timed = t;
    }
    t->seen = true;
    return t;
}

static void drop_unseen(struct coordinator *co, bool all)
{
    for (struct timed_index **at = &co->timed; *at != NULL;) {
        struct timed_index *t = *at;

        if (t->seen && !all) {
            t->seen = false;
            at = &t->next;
            continue;
        }
        *at = t->next;
        free(t->index);
        free(t);
    }
}

void node_free_timed(struct coordinator *co)
{
    drop_unseen(co, true);
}

/* ---- a run ---- */

static uint32_t overlap_of(const struct table_definition *t)
{
    return t->sync_every_s > OVERLAP_S / 2 ? t->sync_every_s * 2 : OVERLAP_S;
}

/* What is written to the version now, and by whom; false: not now. */
static bool begin_run(struct coordinator *co, struct str topic, struct str index,
                      struct table_sync *run, struct err *err)
{
    pthread_mutex_lock(&co->lock);

    struct topic *t = node_topic(co, topic);

    run->pipeline = t == NULL ? NULL : t->pipeline;
    run->target = run->pipeline == NULL ? NULL : pipeline_target(run->pipeline, index, STR(""));
    pthread_mutex_unlock(&co->lock);
    if (run->target == NULL)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " does not follow it yet",
                       STR_ARG(topic));

    struct reading *reading = run->target->plan;

    if (__atomic_load_n(&reading->stopped, __ATOMIC_RELAXED)) {
        target_unref(run->target);
        return err_set(err, ERR_RETRY, "its table is stopped");
    }
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

    if (!begin_run(co, v->topic, index, &run, err))
        return false;

    const bool ok = table_sync_run(&run, rows, err);

    target_unref(run.target);
    return ok;
}

static void end_run(struct coordinator *co, const struct table_definition *t, struct str index,
                    int64_t began_ms, uint64_t rows, const struct err *why)
{
    pthread_mutex_lock(&co->lock);

    struct timed_index *timed = find_or_add(co, index);
    const bool news = why->kind != ERR_NONE && timed->why.kind == ERR_NONE;

    timed->why = *why;
    timed->next_ms = began_ms + (int64_t)t->sync_every_s * 1000;
    if (why->kind == ERR_NONE) {
        timed->last_ms = began_ms;
        timed->rows = rows;
    }
    pthread_mutex_unlock(&co->lock);
    if (news)
        log_failure(LOG_WARN, why, "a sync by time waits", KV("index", index));
}

static bool is_due(struct coordinator *co, struct str index)
{
    pthread_mutex_lock(&co->lock);

    const bool due = find_or_add(co, index)->next_ms <= clock_steady_ms();

    pthread_mutex_unlock(&co->lock);
    return due;
}

/* The versions of one table that are written to. */
static void sync_table(struct coordinator *co, const struct catalogue *c,
                       const struct table_definition *t)
{
    for (size_t i = 0; i < c->n_versions && !stop_is_set(&co->stop); i++) {
        const struct stored_version *v = &c->versions[i];
        const int64_t began_ms = clock_steady_ms();
        struct buf index = {0};
        struct err err = {0};
        uint64_t rows = 0;

        if (!catalogue_is_live(v) || !str_equal(v->index, table_index(t)))
            continue;
        node_index_name(&index, v->index, v->number);
        if (is_due(co, buf_str(&index)) &&
            (sync_version(co, t, v, buf_str(&index), &rows, &err) || err.kind != ERR_STOP))
            end_run(co, t, buf_str(&index), began_ms, rows, &err);
        buf_free(&index);
    }
}

static void *sync_main(void *arg)
{
    struct coordinator *co = arg;

    while (!stop_wait(&co->stop, TICK_MS)) {
        struct definitions *d = node_definitions(co);
        struct catalogue *c = node_catalogue(co);

        for (size_t i = 0; i < d->n_tables; i++)
            if (d->tables[i].sync_every_s > 0)
                sync_table(co, c, &d->tables[i]);
        node_catalogue_free(c);
        definitions_unref(d);
        pthread_mutex_lock(&co->lock);
        drop_unseen(co, false);
        pthread_mutex_unlock(&co->lock);
    }
    return NULL;
}

void node_start_syncs(struct coordinator *co)
{
    co->sync_thread = thread_start("sync", sync_main, co);
}

void node_join_syncs(struct coordinator *co)
{
    pthread_join(co->sync_thread, NULL);
}

/* ---- status ---- */

struct str node_sync_reason(const struct coordinator *co, struct str index)
{
    const struct timed_index *timed = find(co, index);

    return timed == NULL ? STR("") : str_from(timed->why.msg);
}

void node_append_sync(const struct coordinator *co, struct json_writer *w,
                      const struct table_definition *t, struct str index)
{
    const struct timed_index *timed = find(co, index);
    const int64_t now = clock_steady_ms();

    json_write_key(w, STR("sync"));
    if (t->sync_every_s == 0 || timed == NULL) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_put_u64(w, STR("every_seconds"), t->sync_every_s);
    json_put_string(w, STR("column"), t->daily_check_column);
    node_put_time(w, STR("last"), timed->last_ms);
    node_put_time(w, STR("next"), timed->next_ms);
    if (timed->last_ms > 0)
        json_put_double(w, STR("lag_seconds"), (double)(now - timed->last_ms) / 1000);
    else
        json_put_null(w, STR("lag_seconds"));
    json_put_u64(w, STR("rows"), timed->rows);
    json_put_cstr(w, STR("reason"), timed->why.msg);
    json_close_object(w);
}
