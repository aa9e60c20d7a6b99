#include "config.h"

#include "rebalance/version/build.h"

#include "rebalance/dead_letter/letters.h"
#include "rebalance/dead_letter/replay.h"
#include "rebalance/fill/fills.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/buckets.h"
#include "rebalance/version/claim.h"
#include "rebalance/version/rebuild.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/settings.h"
#include "rebalance/version/version_drop.h"
#include "rebalance/version/waiting.h"

#include "rebalance/fill/parameters.h"
#include "rebalance/version/builds.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/store/build_log.h"
#include "sync/mapping/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOMBSTONES_KEEP_MS 7200000 /* twice gc_deletes */

/* ---- start ---- */

static void on_build_done(void *ctx, struct index_build *b, const struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    builds_note_end(co->builds, b, err);
    stop_nudge(&co->stop);
}

/*
 * Delivery here knew nothing of the dead letters of other nodes when it wrote their documents
 * later: those that are right by now would keep them.
 */
static bool on_filled_elsewhere(void *ctx, const char *alias, struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = catalogue_version(c, str_from(alias), STR("changing"));
    struct buf index = {0};
    bool ok = v == NULL || coordinator_note_letters(co, v->topic, err);

    if (v != NULL) {
        coordinator_index_name(&index, v->index, v->number);
        ok = ok && coordinator_want_replay(co, buf_str(&index), err);
    }
    catalogue_unref(c);
    buf_free(&index);
    return ok;
}

/* What a build of the version is to do, as its job says; texts are borrowed. */
static struct index_build_options
options_of(struct coordinator *co, const struct stored_version *v, const struct definitions *d,
           const struct table_definition *t, const struct job_parameters *p)
{
    return (struct index_build_options){
        .store = co->opt.store,
        .search = co->opt.search,
        .delivery = co->delivery,
        .number = v->number,
        .start = v->start,
        .node = co->identity.uuid,
        .buckets = p->buckets > 0 ? p->buckets : coordinator_buckets(co, p->nodes),
        .asked_buckets = p->buckets > 0,
        .by_mod = p->by == BUCKETS_BY_MOD,
        .take = p->take,
        .piped = definitions_index_is_piped(d, table_index(t)),
        .synced = t->sync_every_s > 0,
        .keep = {p->keeps ? p->keep : co->opt.keep.versions, co->opt.keep.for_ms},
        .hold = p->hold,
        .check = p->check,
        .compare = co->compare_version,
        .ctx = co,
        .may_publish = coordinator_may_publish,
        .divided = coordinator_on_divided,
        .filled_elsewhere = on_filled_elsewhere,
        .done = on_build_done};
}

static bool start_build(struct coordinator *co, const struct stored_version *v,
                        const struct stored_job *job, struct topic *topic, struct err *err)
{
    const struct job_parameters p = job_parameters_read(job->parameters);
    struct buf thing = {0}, alias = {0}, index = {0}, settings = {0}, by = {0};
    struct definitions *d = NULL;
    const struct table_definition *t;
    uint64_t term;

    buf_printf(&thing, "job/%" PRIu64, job->id);
    buf_append(&alias, v->index);
    coordinator_index_name(&index, v->index, v->number);

    const bool ok = coordinator_version_definitions(co, v, &d, &t, err) &&
                    store_take_term(co->opt.store, buf_str(&thing), &term, err);

    if (ok) {
        struct index_build_options opt = options_of(co, v, d, t, &p);

        mapping_settings_final(definition_settings(d, t), &settings);
        buf_append(&by, p.by == BUCKETS_BY_KEY ? STR("") : t->bucket_column);
        opt.pipeline = topic->pipeline;
        opt.alias = alias.ptr;
        opt.index = index.ptr;
        opt.final_settings = settings.ptr;
        opt.bucket_column = by.len > 0 ? by.ptr : "";
        opt.term = term;

        struct index_build *b = index_build_new(&opt, job);

        index_build_set(b, &(struct job_change){.sets_rate = true, .rate = p.rate});
        builds_add(co->builds, b);
        index_build_start(b);
    }
    definitions_unref(d);
    buf_free(&thing);
    buf_free(&alias);
    buf_free(&index);
    buf_free(&settings);
    buf_free(&by);
    return ok;
}

/*
 * Fix and store the position from which changes also go to this version, before anything is
 * read (rule 8).
 */
static bool fix_start(struct coordinator *co, struct stored_version *v, int64_t timeout_ms,
                      struct err *err)
{
    uint64_t from;

    if (v->start != 0)
        return true;
    if (!coordinator_route_build(co, v, timeout_ms, &from, err))
        return false;
    if ((from & ((UINT64_C(1) << 53) - 1)) == 0)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " has no position yet",
                       STR_ARG(v->topic));
    v->start = from;
    FAILPOINT(build_stored);

    const struct version_name name = {v->index, v->number};
    const bool ok = store_set_version_start(co->opt.store, &name, from, err);

    FAILPOINT(build_fixed);
    return ok && coordinator_refresh(co, err);
}

/* ---- end ---- */

static struct str table_of(struct coordinator *co, const struct stored_version *v,
                           struct definitions **d)
{
    const struct table_definition *t;
    struct err err = {0};

    return coordinator_version_definitions(co, v, d, &t, &err) ? table_name(t) : v->index;
}

static void succeed(struct coordinator *co, const struct stored_version *v, struct str table)
    NEEDS(co->admin_lock)
{
    struct buf index = {0};

    coordinator_index_name(&index, v->index, v->number);
    engine_watch_count_now(co->engine_watch, buf_str(&index));
    buf_free(&index);
    coordinator_forget_other_letters(co, v);
    store_watch_read(co->store_watch); /* the job is gone for every reader */
    coordinator_settings_due(co);      /* the definition may have changed meanwhile */
    log_info("index build done", KV("index", v->index), KV("version", v->number));
    coordinator_log(co, table, v->index, v->number, "built", "searches use this version");
}

/* The drop that follows leaves this end as it is. */
static void log_end(struct coordinator *co, const struct stored_version *v, const char *outcome,
                    const struct err *why)
{
    const struct version_name name = {v->index, v->number};
    struct err err = {0};

    if (!store_end_build(co->opt.store, &name, outcome, str_from(why->msg), &err))
        log_failure(LOG_WARN, &err, "could not log why a build failed", KV("index", v->index),
                    KV("version", v->number));
}

static void fail_as(struct coordinator *co, const struct stored_version *v, struct str table,
                    const char *outcome, const struct err *why) NEEDS(co->admin_lock)
{
    struct err err = {0};

    log_failure(LOG_ERROR, why, "index build failed", KV("index", v->index),
                KV("version", v->number));
    log_end(co, v, outcome, why);
    coordinator_log(co, table, v->index, v->number, "failed", why->msg);
    coordinator_note_build_failed(co, table, why);
    if (!coordinator_drop_version(co, v, &err))
        log_failure(LOG_ERROR, &err, "could not drop the failed version",
                    KV("index", v->index));
}

static void fail(struct coordinator *co, const struct stored_version *v, struct str table,
                 const struct err *why) NEEDS(co->admin_lock)
{
    fail_as(co, v, table, BUILD_FAILED, why);
}

/* The version was stopped while it was built: that is why, whatever its build met. */
static void fail_stopped(struct coordinator *co, const struct stored_version *v,
                         struct str table) NEEDS(co->admin_lock)
{
    struct err why;

    err_set(&why, ERR_REJECT, "%" STR_FMT, STR_ARG(v->error));
    fail(co, v, table, &why);
}

static void end_build(struct coordinator *co, const struct stored_version *v,
                      const struct err *why) NEEDS(co->admin_lock)
{
    struct definitions *d = NULL;
    const struct str table = table_of(co, v, &d);

    if (str_equal(v->state, STR("waiting")))
        coordinator_on_waiting(co, v, table);
    else if (str_equal(v->state, STR("available")))
        succeed(co, v, table);
    else if (why->kind != ERR_NONE && catalogue_is_coming(v) && v->error.len > 0)
        fail_stopped(co, v, table);
    else if (why->kind != ERR_NONE && catalogue_is_coming(v))
        fail(co, v, table, why);
    /* Otherwise it was resumed meanwhile, or retired. */
    definitions_unref(d);
}

/* It did not end: whoever has its topic goes on from the cursor that is stored. */
static bool is_others(struct coordinator *co, const struct stored_version *v,
                      const struct err *why)
{
    return why->kind == ERR_STOP || (why->kind != ERR_NONE && !coordinator_owns(co, v->topic));
}

/* Returns false if the store does not answer; the build then stays on the finished list. */
static bool finish_build(struct coordinator *co, const struct catalogue *c,
                         const struct finished_build *f) NEEDS(co->admin_lock)
{
    const struct str index = str_from(index_build_alias(f->build));
    const uint64_t number = index_build_number(f->build);
    const struct stored_version *v = catalogue_number(c, index, number);
    struct err err = {0};

    if (v != NULL && str_equal(v->state, STR("available")) &&
        !store_delete_jobs(co->opt.store, index, number, &err) && err.kind != ERR_STOP)
        return false; /* ERR_STOP: its topic's owner does it */
    coordinator_stop_fills(co, index, number);
    builds_remove(co->builds, f->build);
    if (v != NULL && is_others(co, v, &f->why))
        log_failure(LOG_INFO, &f->why, "an index build ends here", KV("index", v->index),
                    KV("version", number));
    else if (v != NULL)
        end_build(co, v, &f->why);
    return true;
}

static void route_finished(struct coordinator *co, const struct catalogue *c,
                           const struct finished_build *list, size_t n) NEEDS(co->admin_lock)
{
    const struct stored_version *published[BUILDS_MAX];
    size_t n_published = 0;

    for (size_t i = 0; i < n; i++) {
        const struct stored_version *v = catalogue_number(
            c, str_from(index_build_alias(list[i].build)), index_build_number(list[i].build));

        if (v != NULL && str_equal(v->state, STR("available")))
            published[n_published++] = v;
    }
    coordinator_route_published(co, published, n_published);
}

/* Trust the store: if a version was published or parked, only the answer may have been lost. */
void coordinator_finish_builds(struct coordinator *co)
{
    struct finished_build *list = mem_alloc(BUILDS_MAX, sizeof(*list));
    const size_t n = builds_finished(co->builds, list);
    struct err err = {0};

    if (n > 0 && coordinator_refresh(co, &err)) {
        struct catalogue *c = coordinator_catalogue(co);

        route_finished(co, c, list, n);
        for (size_t i = 0; i < n && finish_build(co, c, &list[i]); i++)
            ;
        catalogue_unref(c);
    }
    free(list);
}

void coordinator_ask_builds_to_stop(struct coordinator *co)
{
    struct index_build *list[BUILDS_MAX];
    const size_t n = builds_list(co->builds, list);

    for (size_t i = 0; i < n; i++)
        index_build_ask_to_stop(list[i]);
    coordinator_ask_fills_to_stop(co);
}

/* If the build ends while we stop it, its own outcome counts. */
static void stop_build(struct coordinator *co, struct index_build *b) NEEDS(co->admin_lock)
{
    coordinator_stop_fills(co, str_from(index_build_alias(b)), index_build_number(b));
    index_build_stop(b);
    if (!builds_is_over(co->builds, b))
        builds_remove(co->builds, b);
}

void coordinator_pause_builds(struct coordinator *co, const struct pipeline *p)
{
    struct index_build *list[BUILDS_MAX];
    const size_t n = builds_list(co->builds, list);

    coordinator_pause_fills(co, p);
    for (size_t i = 0; i < n; i++)
        if (index_build_pipeline(list[i]) == p)
            stop_build(co, list[i]);
    coordinator_finish_builds(co);
}

void coordinator_stop_builds(struct coordinator *co)
{
    struct index_build *list[BUILDS_MAX];
    const size_t n = builds_list(co->builds, list);

    coordinator_pause_fills(co, NULL);
    for (size_t i = 0; i < n; i++)
        builds_remove(co->builds, list[i]);
}

static bool is_coming(struct coordinator *co, const struct stored_version *v)
{
    struct catalogue *c = coordinator_catalogue(co);
    bool found = false;

    for (size_t i = 0; i < c->n_versions && !found; i++)
        found = c->versions[i].number == v->number &&
                str_equal(c->versions[i].index, v->index) &&
                catalogue_is_coming(&c->versions[i]);
    catalogue_unref(c);
    return found;
}

void coordinator_end_build(struct coordinator *co, struct str alias, uint64_t number)
{
    struct index_build *b = builds_find(co->builds, alias, number);

    if (b == NULL)
        return;
    stop_build(co, b);
    coordinator_finish_builds(co);
}

bool coordinator_drop_build(struct coordinator *co, const struct stored_version *v,
                            bool *dropped, struct err *err)
{
    *dropped = false;
    coordinator_end_build(co, v->index, v->number);
    if (!coordinator_refresh(co, err))
        return false;
    *dropped = is_coming(co, v);
    return !*dropped || coordinator_drop_version(co, v, err);
}

/* ---- resuming builds ---- */

/* The version was stopped, and its build was killed before it could report that. */
static void fail_killed(struct coordinator *co, const struct stored_version *v)
    NEEDS(co->admin_lock)
{
    struct definitions *d = NULL;

    fail_stopped(co, v, table_of(co, v, &d));
    definitions_unref(d);
}

/* The version's creator was killed before it stored a job: nobody will ever fill it. */
static void fail_unmade(struct coordinator *co, const struct stored_version *v)
    NEEDS(co->admin_lock)
{
    struct definitions *d = NULL;
    const struct str table = table_of(co, v, &d);
    struct err why;

    err_set(&why, ERR_REJECT,
            "the daemon ended while it created version %" PRIu64 " of %" STR_FMT "; fix: "
            "millrace index create %" STR_FMT,
            v->number, STR_ARG(v->index), STR_ARG(table));
    fail_as(co, v, table, BUILD_INTERRUPTED, &why);
    definitions_unref(d);
}

static void resume_build(struct coordinator *co, const struct stored_version *v,
                         const struct stored_job *jobs, size_t n) NEEDS(co->admin_lock)
{
    struct stored_version started = *v;
    struct topic *t = topics_find(co->topics, v->topic);
    struct err err = {0};

    if (builds_find(co->builds, v->index, v->number) != NULL || t == NULL ||
        t->pipeline == NULL || !coordinator_owns(co, v->topic) ||
        builds_n(co->builds) == BUILDS_MAX)
        return;
    if (v->error.len > 0) {
        fail_killed(co, v);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (str_equal(jobs[i].kind, STR(JOB_INDEX)) && str_equal(jobs[i].index, v->index) &&
            jobs[i].version == v->number) {
            if (!fix_start(co, &started, 1000, &err) ||
                !start_build(co, &started, &jobs[i], t, &err))
                log_failure(LOG_WARN, &err, "an index build cannot start yet",
                            KV("index", v->index));
            return;
        }
    fail_unmade(co, v);
}

void coordinator_resume_builds(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct arena *a = arena_new();
    struct stored_job *jobs = NULL;
    struct err err = {0};
    size_t n = 0;
    bool any = false;

    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].state, STR("waiting")) && c->versions[i].error.len > 0 &&
            coordinator_owns(co, c->versions[i].topic))
            fail_killed(co, &c->versions[i]);
    for (size_t i = 0; i < c->n_versions; i++)
        any = any ||
              (str_equal(c->versions[i].state, STR("changing")) &&
               builds_find(co->builds, c->versions[i].index, c->versions[i].number) == NULL);
    if (any && store_load_jobs(co->opt.store, a, &jobs, &n, &err))
        for (size_t i = 0; i < c->n_versions; i++)
            if (str_equal(c->versions[i].state, STR("changing")))
                resume_build(co, &c->versions[i], jobs, n);
    arena_free(a);
    catalogue_unref(c);
}

/* Whether a version is being built, or will be when its topic is back. */
static bool any_is_built(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);
    bool any = builds_n(co->builds) > 0;

    for (size_t i = 0; i < c->n_versions; i++)
        any = any || str_equal(c->versions[i].state, STR("changing"));
    catalogue_unref(c);
    return any;
}

void coordinator_drop_tombstones(struct coordinator *co)
{
    struct err err = {0};

    if (!any_is_built(co) && !fills_have_run(co->fills) && /* whose ends repeat deletes */
        !store_drop_tombstones(co->opt.store, clock_steady_ms() - TOMBSTONES_KEEP_MS, &err))
        log_failure(LOG_WARN, &err, "could not drop old tombstones");
}
