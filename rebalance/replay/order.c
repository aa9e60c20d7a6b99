#include "config.h"

#include "rebalance/replay/replay.h"

#include "rebalance/replay/job.h"
#include "rebalance/replay/keys.h"
#include "rebalance/replay/parts.h"
#include "rebalance/replay/span.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/verify/run.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/file/zone_file.h"
#include "src/format/zone.h"

#include <inttypes.h>
#include <stdlib.h>

#define REST_MS  3600000 /* an order, or a topic that comes, wakes the thread */
#define AGAIN_MS 2000    /* after a job that could not go on */

struct day_replays {
    pthread_t thread;
};

struct day_replays *day_replays_new(void)
{
    return mem_alloc(1, sizeof(struct day_replays));
}

void day_replays_free(struct day_replays *all)
{
    free(all);
}

/* ---- the thread ---- */

static void sweep(struct coordinator *co, const struct stored_job *jobs, size_t n)
{
    uint64_t *ids = mem_alloc(n + 1, sizeof(*ids));
    struct buf folder = {0};

    for (size_t i = 0; i < n; i++)
        ids[i] = jobs[i].id;
    buf_printf(&folder, "%s/replay", co->opt.data_dir);
    replay_keys_sweep(folder.ptr, ids, n);
    buf_free(&folder);
    free(ids);
}

/* Returns false if some job of ours is still to be done. */
static bool work_off(struct coordinator *co)
{
    struct arena *a = arena_new();
    struct stored_job *jobs;
    struct err err = {0};
    size_t n = 0;
    bool ok = store_load_jobs(co->opt.store, a, &jobs, &n, &err);

    for (size_t i = 0; i < n && !stop_is_set(&co->stop); i++)
        if (str_equal(jobs[i].kind, STR(JOB_REPLAY)) &&
            coordinator_owns_version(co, jobs[i].index, jobs[i].version) &&
            !replay_job_run(co, &jobs[i], &err)) {
            ok = false;
            if (err.kind != ERR_STOP)
                log_failure(LOG_WARN, &err, "a replay cannot go on yet", KV("job", jobs[i].id));
        }
    if (ok && store_load_jobs(co->opt.store, a, &jobs, &n, &err))
        sweep(co, jobs, n);
    arena_free(a);
    return ok;
}

static void *day_replay_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    int64_t rest_ms = REST_MS;
    uint64_t seen = 0;

    while (!stop_rest(&co->stop, rest_ms, &seen)) {
        if (rest_ms == REST_MS && !__atomic_exchange_n(&co->days_due, false, __ATOMIC_ACQ_REL))
            continue;
        rest_ms = work_off(co) ? REST_MS : AGAIN_MS;
    }
    return NULL;
}

void coordinator_start_day_replays(struct coordinator *co)
{
    __atomic_store_n(&co->days_due, true, __ATOMIC_RELEASE);
    co->day_replays->thread = thread_start("day_replay", day_replay_main, co);
    stop_nudge(&co->stop);
}

void coordinator_join_day_replays(struct coordinator *co)
{
    pthread_join(co->day_replays->thread, NULL);
}

/* ---- an order ---- */

static bool choose_day(struct coordinator *co, struct str topic, struct str wished,
                       int64_t *day, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    const struct topic_definition *t = definitions_topic(d, topic);
    struct zone *zone = NULL;
    bool ok = t != NULL ? zone_open(topic_day_zone(t), &zone, err)
                        : err_set(err, ERR_RETRY, "topic %" STR_FMT " is gone", STR_ARG(topic));

    if (ok) {
        const int64_t today = zone_day(zone, clock_wall_ms() / 1000);

        *day = today - 1;
        if (wished.len > 0 && !day_parse(wished, day))
            ok = refuse(err, 422, "\"%" STR_FMT "\" is not a day; fix: write it as 2026-11-26",
                        STR_ARG(wished));
        else if (*day > today)
            ok = refuse(err, 422, "%" STR_FMT " has not begun yet; fix: name a day up to today",
                        STR_ARG(wished));
    }
    zone_free(zone);
    definitions_unref(d);
    return ok;
}

/* ERR_RETRY if a replay of the topic is not over, on whichever node. */
static bool may_begin(struct coordinator *co, struct str topic, struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct arena *a = arena_new();
    struct stored_job *jobs;
    size_t n = 0;
    bool ok = store_load_jobs(co->opt.store, a, &jobs, &n, err);

    for (size_t i = 0; ok && i < n; i++) {
        const struct stored_version *v = catalogue_number(c, jobs[i].index, jobs[i].version);

        if (str_equal(jobs[i].kind, STR(JOB_REPLAY)) &&
            (v == NULL || str_equal(v->topic, topic)))
            ok = err_set(err, ERR_RETRY,
                         "job %" PRIu64 " replays a day of %" STR_FMT " already; fix: wait for "
                         "it, millrace report get %" PRIu64 " says how far it is",
                         jobs[i].id, STR_ARG(jobs[i].table), jobs[i].id);
    }
    arena_free(a);
    catalogue_unref(c);
    return ok;
}

static void append_parameters(struct buf *json, int64_t day, uint64_t rate)
{
    struct json_writer w = {.out = json};
    struct buf text = {0};

    day_append(&text, day);
    json_open_object(&w);
    json_put_string(&w, STR("day"), buf_str(&text));
    json_put_u64(&w, STR("rate"), rate);
    json_close_object(&w);
    buf_free(&text);
}

/* tried: where the day is in the log, if it is only asked; else NULL. */
static void answer(struct buf *json, const struct stored_job *job, int64_t day,
                   const struct replay_span *tried)
{
    struct json_writer w = {.out = json};
    struct buf id = {0}, text = {0};

    if (tried == NULL)
        buf_append_u64(&id, job->id);
    day_append(&text, day);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/replay-start/1");
    json_put_string(&w, STR("table"), job->table);
    json_put_string(&w, STR("index"), job->index);
    json_put_u64(&w, STR("version"), job->version);
    json_put_string(&w, STR("day"), buf_str(&text));
    json_put_string(&w, STR("job"), buf_str(&id));
    if (tried != NULL) {
        json_put_cstr(&w, STR("why"), tried->gone != NULL ? tried->gone : "");
        json_put_bool(&w, STR("dry_run"), true);
    }
    json_close_object(&w);
    buf_free(&id);
    buf_free(&text);
}

static bool begin(struct coordinator *co, const struct verify_run *run,
                  const struct replay_order *o, struct buf *json, struct err *err)
{
    struct buf parameters = {0};
    int64_t day = 0;
    bool ok = choose_day(co, run->topic, o->day, &day, err) && may_begin(co, run->topic, err);

    append_parameters(&parameters, day, o->has_rate ? o->rate : REPLAY_RATE);

    struct stored_job job = {.kind = STR(JOB_REPLAY),
                             .index = table_index(run->lead),
                             .table = table_name(run->lead),
                             .version = run->number,
                             .buckets = 1,
                             .state = STR("init"),
                             .cursor = STR(""),
                             .parameters = buf_str(&parameters),
                             .error = STR(""),
                             .created_ms = clock_wall_ms(),
                             .updated_ms = clock_wall_ms()};

    struct replay tried = {.co = co, .day = day};
    struct replay_span span;

    ok = ok && (o->dry_run ? replay_find_span(&tried, run->topic, run->arena, &span, err)
                           : store_new_job(co->opt.store, &job, err));
    if (ok)
        answer(json, &job, day, o->dry_run ? &span : NULL);
    buf_free(&parameters);
    return ok;
}

/* Under admin_lock, so that two orders of a topic, which its owner gets, see one another. */
static bool order(struct coordinator *co, const struct replay_order *o, struct buf *json,
                  struct err *err)
{
    struct arena *a = arena_new();
    struct verify_run run = {.co = co, .stop = &co->stop, .arena = a};

    bool ok = coordinator_begin(co, err);

    if (ok) {
        ok = verify_run_begin(&run, o->table, 0, err) && begin(co, &run, o, json, err);
        lock_release(&co->admin_lock);
    }
    verify_run_end(&run);
    arena_free(a);
    return ok;
}

bool coordinator_replay_day(struct coordinator *co, const struct replay_order *o,
                            struct buf *json, struct err *err)
{
    if (!coordinator_is_daemon(co, "replay", err) || !order(co, o, json, err))
        return false;
    if (o->dry_run)
        return true;
    __atomic_store_n(&co->days_due, true, __ATOMIC_RELEASE);
    stop_nudge(&co->stop);
    store_watch_read(co->store_watch);
    return true;
}
