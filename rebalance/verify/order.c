#include "config.h"

#include "rebalance/verify/verify.h"

#include "rebalance/state/owned.h"
#include "rebalance/verify/changed.h"
#include "rebalance/verify/condition.h"
#include "rebalance/verify/job.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/part/changed_state.h"
#include "rebalance/verify/part/places.h"
#include "rebalance/verify/reports.h"
#include "rebalance/version/marks.h"
#include "rebalance/version/pause.h"

#include "src/base/clock.h"
#include "src/base/log.h"

#include <inttypes.h>

/* ---- starting ---- */

/* Returns false if the job cannot be owned now, or too many run. */
static bool start(struct coordinator *co, const struct stored_job *stored, struct err *err)
{
    struct buf thing = {0};
    uint64_t term;

    buf_printf(&thing, "job/%" PRIu64, stored->id);

    const bool owned = store_take_term(co->opt.store, buf_str(&thing), &term, err);

    buf_free(&thing);
    if (!owned)
        return false;

    struct verify_job *j = verify_job_new(co, stored, term);

    if (verify_jobs_start(co->verifies, j, verify_job_main))
        return true;
    verify_job_free(j);
    return err_set(err, ERR_RETRY, "job %" PRIu64 " runs already, or too many", stored->id);
}

/* Name the documents that a person has named. */
static bool put_keys(struct json_writer *w, struct verify_run *run,
                     const struct verify_order *o, struct err *err)
{
    bool ok = true;

    json_write_key(w, STR("keys"));
    json_open_array(w);
    for (size_t i = 0; ok && i < o->n_keys; i++) {
        struct verify_key k = {0};

        ok = verify_run_name_key(run, o->keys[i], &k, err);
        if (ok)
            json_write_string(w, k.id);
    }
    json_close_array(w);
    return ok;
}

static bool append_parameters(struct buf *json, struct verify_run *run,
                              const struct verify_order *o, struct err *err)
{
    struct json_writer w = {.out = json};
    bool ok = true;

    json_open_object(&w);
    json_put_bool(&w, STR("repair"), o->repair);
    json_put_bool(&w, STR("yes"), o->yes);
    json_put_bool(&w, STR("values"), o->values);
    json_put_u64(&w, STR("rate"), o->rate);
    if (o->samples)
        json_put_u64(&w, STR("sample"), o->sample);
    if (o->where.len > 0) {
        json_put_string(&w, STR("where"), o->where);
        json_put_string(&w, STR("of"), o->table);
    }
    if (o->changed)
        json_put_string(&w, STR("since"), o->since);
    if (o->for_trees)
        json_put_bool(&w, STR("for_trees"), true);
    if (o->n_keys > 0)
        ok = put_keys(&w, run, o, err);
    json_close_object(&w);
    return ok;
}

/* Of each kind there can be one of an index. */
static struct str kind_of(const struct verify_order *o)
{
    if (o->exchange)
        return STR(JOB_EXCHANGE);
    if (o->rewrites)
        return STR(JOB_REFRESH);
    return o->by_itself ? STR(JOB_COMPARE) : STR(JOB_VERIFY);
}

static void fill_job(struct stored_job *job, const struct verify_run *run,
                     const struct verify_order *o)
{
    *job = (struct stored_job){.kind = kind_of(o),
                               .index = table_index(run->lead),
                               .table = table_name(run->lead),
                               .version = run->number,
                               .buckets = 1,
                               .state = STR("init"),
                               .cursor = STR(""),
                               .parameters = STR(""),
                               .error = STR(""),
                               .created_ms = clock_wall_ms(),
                               .updated_ms = clock_wall_ms()};
}

static bool store_job(struct coordinator *co, struct verify_run *run,
                      const struct verify_order *o, struct buf *parameters,
                      struct stored_job *job, struct err *err)
{
    if (!append_parameters(parameters, run, o, err))
        return false;
    job->parameters = buf_str(parameters);
    return store_new_job(co->opt.store, job, err);
}

static void answer(struct buf *json, const struct verify_order *o, const struct stored_job *job)
{
    struct json_writer w = {.out = json};
    struct buf id = {0};

    if (!o->dry_run)
        buf_append_u64(&id, job->id);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"),
                  o->rewrites ? "millrace/index-refresh/1" : "millrace/verify-start/1");
    json_put_string(&w, STR("table"), job->table);
    json_put_string(&w, STR("index"), job->index);
    json_put_u64(&w, STR("version"), job->version);
    json_put_string(&w, STR("job"), buf_str(&id));
    if (o->dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
    buf_free(&id);
}

/* Whoever repairs however much differs has seen how much that is. */
static bool has_seen(struct coordinator *co, const struct verify_run *run,
                     const struct verify_order *o, struct err *err)
{
    bool have = true;

    if (o->repair && o->yes && !o->rewrites &&
        !verify_reports_have(co, table_index(run->lead), run->number, &have, err))
        return false;
    return have || refuse(err, 409,
                          "--yes repairs however much differs, and nobody has looked how much "
                          "that is; fix: millrace verify %" STR_FMT " first",
                          STR_ARG(table_name(run->lead)));
}

static bool is_whole(const struct verify_order *o)
{
    return !o->samples && !o->changed && !o->exchange && !o->rewrites && o->where.len == 0;
}

static bool begin(struct coordinator *co, struct verify_run *run, const struct verify_order *o,
                  struct buf *json, struct err *err)
{
    struct buf parameters = {0};
    struct stored_job job;
    struct err ignored = {0};

    fill_job(&job, run, o);

    bool ok = o->dry_run ? append_parameters(&parameters, run, o, err)
                         : store_job(co, run, o, &parameters, &job, err);

    if (ok && o->dry_run) {
        answer(json, o, &job);
    } else if (ok) {
        /* Only what compares all of it can take the mark away. */
        ok = (!is_whole(o) || coordinator_begin_mark(co, run->index, job.id, err)) &&
             start(co, &job, err);
        if (ok)
            answer(json, o, &job);
        else if (!store_delete_job(co->opt.store, job.id, &ignored))
            log_failure(LOG_WARN, &ignored, "a verification that did not start is stored");
    }
    buf_free(&parameters);
    return ok;
}

static bool check(struct coordinator *co, const struct verify_order *o, struct err *err)
{
    if (!coordinator_is_daemon(co, "verify", err))
        return false;
    if (o->rewrites && (o->where.len > 0) == (o->n_keys > 0))
        return refuse(
            err, 422,
            "give either a condition or keys, to say which rows to read again; fix: a "
            "new version with all rows is millrace index create %" STR_FMT,
            STR_ARG(o->table));
    if (o->n_keys > VERIFY_KEYS_MAX)
        return refuse(err, 422,
                      "a request names 1 to %d keys, not %zu; fix: name fewer, or give "
                      "a condition",
                      VERIFY_KEYS_MAX, o->n_keys);
    if (o->samples && (o->sample == 0 || o->sample > VERIFY_SAMPLE_MAX))
        return refuse(err, 422, "a sample has 1 to %d documents, not %" PRIu64,
                      VERIFY_SAMPLE_MAX, o->sample);
    if (o->samples + o->changed + (o->where.len > 0) > 1)
        return refuse(err, 422, "give only one of `sample`, `where` and `since`");
    if (o->changed && o->since.len > 0 && !verify_changed_is_time(o->since))
        return refuse(err, 422,
                      "\"%" STR_FMT "\" is not a time; fix: write it as 2026-11-25 or "
                      "2026-11-25 13:00:00, as the column has it (a TIMESTAMP in UTC)",
                      STR_ARG(o->since));
    return o->where.len == 0 || condition_check(co, o->table, o->where, err);
}

/* Some table of the index must tell when its rows changed. */
static bool has_column(struct coordinator *co, const struct verify_run *run,
                       const struct verify_order *o, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    bool has = !o->changed;

    for (size_t i = 0; i < run->n_targets; i++)
        has = has || verify_changed_column(d, str_from(run->targets[i]->table)).len > 0;
    definitions_unref(d);
    return has || refuse(err, 422,
                         "%" STR_FMT " has no daily_check_column, so nobody can say which of "
                         "its rows have changed; fix: name one in its definition, or compare "
                         "all: millrace verify %" STR_FMT,
                         STR_ARG(o->table), STR_ARG(o->table));
}

/* ---- after a restart, or when a topic comes back ---- */

static bool resume(struct coordinator *co, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_job *jobs;
    struct verify_progress ignored;
    size_t n = 0;
    bool ok = __atomic_load_n(&co->verifies_run, __ATOMIC_ACQUIRE);

    if (!ok) {
        /* Before: one of them may end meanwhile, as another node's. */
        __atomic_store_n(&co->verifies_run, true, __ATOMIC_RELEASE);
        ok = store_load_jobs(co->opt.store, a, &jobs, &n, err);
        for (size_t i = 0; i < n; i++)
            if (verify_jobs_have_kind(jobs[i].kind) &&
                coordinator_owns_version(co, jobs[i].index, jobs[i].version) &&
                !verify_jobs_find(co->verifies, jobs[i].id, &ignored))
                ok = start(co, &jobs[i], err) && ok;
        if (!ok)
            __atomic_store_n(&co->verifies_run, false, __ATOMIC_RELEASE);
    }
    arena_free(a);
    return ok;
}

void coordinator_resume_verifies(struct coordinator *co)
{
    struct err err = {0};

    if (!resume(co, &err))
        log_failure(LOG_WARN, &err, "a verification cannot go on yet");
}

/* ---- an order ---- */

/* Refuse what cannot begin, before anything makes way for it. */
static bool may_begin(struct coordinator *co, const struct verify_run *run,
                      const struct verify_order *o, struct err *err)
{
    struct err why = {0};

    if (!resume(co, &why))
        return err_set(err, ERR_RETRY,
                       "the daemon first goes on with the verifications of its store: %s",
                       why.msg);
    return has_column(co, run, o, err) && has_seen(co, run, o, err) &&
           (!o->rewrites ||
            coordinator_is_not_paused(co, table_index(run->lead), o->table, err)) &&
           (o->by_itself || verify_jobs_may_start(co->verifies, run->index, err));
}

/* index is set, and json NULL: only look whether it may begin. */
static bool order(struct coordinator *co, const struct verify_order *o, struct buf *index,
                  struct buf *json, struct err *err)
{
    struct arena *a = arena_new();
    struct verify_run run = {.co = co, .stop = &co->stop, .arena = a};
    const bool ok = verify_run_begin(&run, o->table, o->version, err) &&
                    may_begin(co, &run, o, err) &&
                    (json == NULL || begin(co, &run, o, json, err));

    if (ok && index != NULL)
        buf_append(index, run.index);
    verify_run_end(&run);
    arena_free(a);
    return ok;
}

bool coordinator_order_verify(struct coordinator *co, const struct verify_order *o,
                              struct buf *json, struct err *err)
{
    return order(co, o, NULL, json, err);
}

static bool order_for_person(struct coordinator *co, const struct verify_order *o,
                             struct buf *index, struct buf *json, struct err *err)
{
    if (!coordinator_begin(co, err))
        return false;

    const bool ok = order(co, o, index, json, err);

    lock_release(&co->admin_lock);
    return ok;
}

/*
 * What compares all of the index by itself would do so twice, and both would fill its trees.
 * Whatever starts by itself does so under admin_lock: it is in the list once that was free, or
 * sees the order.
 */
static bool order_whole(struct coordinator *co, const struct verify_order *o, struct buf *json,
                        struct err *err)
{
    struct buf index = {0};

    verify_jobs_order(co->verifies);

    bool ok = order_for_person(co, o, &index, NULL, err);

    if (ok && !verify_jobs_make_way(co->verifies, buf_str(&index), &co->stop))
        ok = err_set(err, ERR_RETRY,
                     "Millrace compares this index by itself, and the step that it is in takes "
                     "long; fix: try again, or see millrace job list");
    ok = ok && order_for_person(co, o, NULL, json, err);
    verify_jobs_ordered(co->verifies);
    buf_free(&index);
    return ok;
}

bool coordinator_verify_all(struct coordinator *co, const struct verify_order *o,
                            struct buf *json, struct err *err)
{
    const bool ok = check(co, o, err) &&
                    (is_whole(o) && !o->dry_run ? order_whole(co, o, json, err)
                                                : order_for_person(co, o, NULL, json, err));

    if (ok && !o->dry_run)
        store_watch_read(co->store_watch);
    return ok;
}

/* ---- the end of a refresh ---- */

/* Whoever has just taken its topic over goes on with it first. */
static bool find_index(struct coordinator *co, struct str table, struct buf *index,
                       struct str *alias, struct arena *a, struct err *err)
{
    struct verify_run run = {.co = co, .stop = &co->stop, .arena = a};
    bool ok = resume(co, err) && verify_run_begin(&run, table, 0, err);

    if (ok) {
        buf_append(index, run.index);
        *alias = arena_copy(a, table_index(run.lead));
    }
    verify_run_end(&run);
    return ok;
}

static void answer_cancelled(struct buf *json, struct str alias, size_t n, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/index-refresh-cancel/1");
    json_put_string(&w, STR("index"), alias);
    json_put_u64(&w, STR("count"), n);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

bool coordinator_cancel_refresh(struct coordinator *co, struct str table, bool dry_run,
                                struct buf *json, struct err *err)
{
    struct arena *a = arena_new();
    struct buf index = {0};
    struct str alias = STR("");
    size_t n = 0, left = 0;
    bool ok = coordinator_is_daemon(co, "a refresh", err) && coordinator_begin(co, err);

    if (ok) {
        ok = find_index(co, table, &index, &alias, a, err);
        lock_release(&co->admin_lock);
    }

    if (ok && dry_run)
        n = verify_jobs_count_refreshes(co->verifies, buf_str(&index));
    else if (ok)
        n = verify_jobs_cancel(co->verifies, buf_str(&index), &co->stop, &left);
    if (ok && left > 0)
        ok = err_set(err, ERR_RETRY,
                     "the refresh will end after the step that it is in; fix: see millrace job "
                     "list");
    else if (ok)
        answer_cancelled(json, alias, n, dry_run);
    buf_free(&index);
    arena_free(a);
    return ok;
}
