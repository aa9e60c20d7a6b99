#include "config.h"

#include "rebalance/node.h"

#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/model/mapping_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- those that run ---- */

struct index_build *node_find_build(struct coordinator *co, struct str index, uint64_t number)
{
    for (size_t i = 0; i < co->n_builds; i++)
        if (str_equal(str_from(index_build_alias(co->builds[i])), index) &&
            (number == 0 || index_build_number(co->builds[i]) == number))
            return co->builds[i];
    return NULL;
}

static void remove_build(struct coordinator *co, struct index_build *b)
{
    pthread_mutex_lock(&co->lock);
    for (size_t i = 0; i < co->n_builds; i++)
        if (co->builds[i] == b) {
            co->builds[i] = co->builds[--co->n_builds];
            break;
        }
    for (struct finished_build **at = &co->finished; *at != NULL;) {
        struct finished_build *f = *at;

        if (f->build == b) {
            *at = f->next;
            free(f);
        } else {
            at = &f->next;
        }
    }
    pthread_mutex_unlock(&co->lock);
    index_build_stop(b);
    index_build_free(b);
}

/* ---- start ---- */

static void on_build_done(void *ctx, struct index_build *b, const struct err *err)
{
    struct coordinator *co = ctx;
    struct finished_build *f = mem_alloc(1, sizeof(*f));

    f->build = b;
    if (err != NULL)
        f->why = *err;
    pthread_mutex_lock(&co->lock);
    f->next = co->finished;
    co->finished = f;
    pthread_mutex_unlock(&co->lock);
}

static bool on_build_dead(void *ctx, const struct dead_letter_note *note)
{
    struct coordinator *co = ctx;
    struct err err = {0};

    while (!node_keep_dead_letters(co, note, 1, &err)) {
        log_failure(LOG_ERROR, &err, "a dead letter could not be stored, trying again");
        if (stop_wait(&co->stop, 500))
            return false;
    }
    delivery_note_dead(co->delivery, str_from(note->target->index), note->routing, note->id,
                       note->version);
    return true;
}

static bool start_build(struct coordinator *co, const struct stored_version *v,
                        const struct stored_job *job, struct topic *topic, struct err *err)
{
    struct buf thing = {0}, index = {0}, settings = {0};
    struct definitions *d = NULL;
    const struct table_definition *t;
    uint64_t term, rate = 0, chunk = 0;

    buf_printf(&thing, "job/%" PRIu64, job->id);
    node_index_name(&index, v->index, v->number);

    const bool ok = node_version_definitions(co, v, &d, &t, err) &&
                    coordination_own(co->coordination, buf_str(&thing), &term, err);

    if (ok) {
        mapping_settings_final(definition_settings(d, t), &settings);
        (void)json_find_u64(job->parameters, "/rate", &rate);
        (void)json_find_u64(job->parameters, "/chunk", &chunk);

        struct buf alias = {0};

        buf_append(&alias, v->index);

        struct index_build *b =
            index_build_new(&(struct index_build_options){.store = co->opt.store,
                                                          .search = co->opt.search,
                                                          .delivery = co->delivery,
                                                          .pipeline = topic->pipeline,
                                                          .alias = alias.ptr,
                                                          .index = index.ptr,
                                                          .final_settings = settings.ptr,
                                                          .number = v->number,
                                                          .start = v->start,
                                                          .term = term,
                                                          .chunk = chunk,
                                                          .synced = t->sync_every_s > 0,
                                                          .ctx = co,
                                                          .dead = on_build_dead,
                                                          .done = on_build_done},
                            job);

        index_build_set_rate(b, rate);
        pthread_mutex_lock(&co->lock);
        co->builds[co->n_builds++] = b;
        pthread_mutex_unlock(&co->lock);
        index_build_start(b);
        buf_free(&alias);
    }
    definitions_unref(d);
    buf_free(&thing);
    buf_free(&index);
    buf_free(&settings);
    return ok;
}

/* The position from which changes go to the version too, kept before anything is read (rule 8).
 */
static bool fix_start(struct coordinator *co, struct stored_version *v, int64_t timeout_ms,
                      struct err *err)
{
    uint64_t from;

    if (v->start != 0)
        return true;
    if (!node_route_build(co, v, timeout_ms, &from, err))
        return false;
    if ((from & ((UINT64_C(1) << 53) - 1)) == 0)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " has no position yet",
                       STR_ARG(v->topic));
    v->start = from;
    FAILPOINT(build_stored);

    const bool ok = store_save_version(co->opt.store, v, err);

    FAILPOINT(build_fixed);
    return ok && node_refresh(co, err);
}

/* ---- end ---- */

static struct str table_of(struct coordinator *co, const struct stored_version *v,
                           struct definitions **d)
{
    const struct table_definition *t;
    struct err err = {0};

    return node_version_definitions(co, v, d, &t, &err) ? table_name(t) : v->index;
}

static void succeed(struct coordinator *co, const struct stored_version *v, struct str table)
{
    struct err err = {0};

    if (!node_refresh(co, &err) ||
        !store_delete_jobs(co->opt.store, v->index, v->number, &err) ||
        !node_route(co, v->topic, ROUTE_AWAY_MS, NULL, &err) ||
        !node_route_guests(co, v, ROUTE_AWAY_MS, &err))
        log_failure(LOG_WARN, &err, "the version before is still written to",
                    KV("index", v->index));
    node_forget_older_letters(co, v);
    co->settings_due = true; /* the definition may have changed while it was built */
    log_info("index build is done", KV("index", v->index), KV("version", v->number));
    node_log(co, table, v->index, v->number, "built", "searches use this version");
}

static void fail(struct coordinator *co, const struct stored_version *v, struct str table,
                 const struct err *why)
{
    struct err err = {0};

    log_failure(LOG_ERROR, why, "index build failed", KV("index", v->index),
                KV("version", v->number));
    node_log(co, table, v->index, v->number, "failed", why->msg);
    node_note_build_failed(co, table, why);
    if (!node_drop_version(co, v, &err))
        log_failure(LOG_ERROR, &err, "the failed version is still there",
                    KV("index", v->index));
}

static void finish_build(struct coordinator *co, struct index_build *b, const struct err *why)
{
    struct catalogue *c = NULL;
    struct definitions *d = NULL;
    struct err err = {0};

    if (node_refresh(co, &err)) {
        c = node_catalogue(co);
        for (size_t i = 0; i < c->n_versions; i++) {
            const struct stored_version *v = &c->versions[i];

            if (!str_equal(v->index, str_from(index_build_alias(b))) ||
                v->number != index_build_number(b))
                continue;

            const struct str table = table_of(co, v, &d);

            remove_build(co, b);
            if (why->kind == ERR_NONE)
                succeed(co, v, table);
            else
                fail(co, v, table, why);
            definitions_unref(d);
            node_catalogue_free(c);
            return;
        }
        node_catalogue_free(c);
    }
    remove_build(co, b);
}

void node_finish_builds(struct coordinator *co)
{
    for (;;) {
        pthread_mutex_lock(&co->lock);

        struct finished_build *f = co->finished;
        struct index_build *b = f == NULL ? NULL : f->build;
        struct err why = f == NULL ? (struct err){0} : f->why;

        pthread_mutex_unlock(&co->lock);
        if (b == NULL)
            return;
        finish_build(co, b, &why);
    }
}

void node_hush_builds(struct coordinator *co)
{
    for (size_t i = 0; i < co->n_builds; i++)
        index_build_ask_to_stop(co->builds[i]);
}

void node_pause_builds(struct coordinator *co, const struct pipeline *p)
{
    size_t i = 0;

    for (size_t k = 0; k < co->n_builds; k++)
        if (index_build_pipeline(co->builds[k]) == p)
            index_build_stop(co->builds[k]);
    node_finish_builds(co); /* those that were over before they could be stopped */
    while (i < co->n_builds)
        if (index_build_pipeline(co->builds[i]) == p)
            remove_build(co, co->builds[i]);
        else
            i++;
}

void node_stop_builds(struct coordinator *co)
{
    while (co->n_builds > 0)
        remove_build(co, co->builds[0]);
}

static bool is_changing(struct coordinator *co, const struct stored_version *v)
{
    struct catalogue *c = node_catalogue(co);
    bool found = false;

    for (size_t i = 0; i < c->n_versions && !found; i++)
        found = c->versions[i].number == v->number &&
                str_equal(c->versions[i].index, v->index) &&
                str_equal(c->versions[i].state, STR("changing"));
    node_catalogue_free(c);
    return found;
}

/* A build that ends while it is being stopped has ended as it says. */
bool node_drop_build(struct coordinator *co, const struct stored_version *v, bool *dropped,
                     struct err *err)
{
    struct index_build *b = node_find_build(co, v->index, v->number);

    *dropped = false;
    if (b != NULL) {
        index_build_stop(b);
        node_finish_builds(co);
        b = node_find_build(co, v->index, v->number);
    }
    if (b != NULL)
        remove_build(co, b);
    if (!node_refresh(co, err))
        return false;
    *dropped = is_changing(co, v);
    return !*dropped || node_drop_version(co, v, err);
}

bool node_drop_builds(struct coordinator *co, struct str topic, struct err *err)
{
    struct definitions *d = node_definitions(co);
    struct catalogue *c = node_catalogue(co);
    bool ok = true, dropped;

    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        const struct table_definition *lead = definition_lead_of(d, v->index);

        if (str_equal(v->state, STR("changing")) &&
            (str_equal(v->topic, topic) || (lead != NULL && node_shows_topic(d, lead, topic))))
            ok = node_drop_build(co, v, &dropped, err);
    }
    node_catalogue_free(c);
    definitions_unref(d);
    return ok;
}

/* ---- going on ---- */

/* It was stopped, and whoever built it did not live to say so. */
static void fail_stopped(struct coordinator *co, const struct stored_version *v)
{
    struct definitions *d = NULL;
    const struct str table = table_of(co, v, &d);
    char reason[512];
    struct err why;

    snprintf(reason, sizeof(reason), "%" STR_FMT, STR_ARG(v->error));
    err_set(&why, ERR_REJECT, "%s", reason);
    fail(co, v, table, &why);
    definitions_unref(d);
}

/* Whoever made it ended before it had a job: nobody will ever fill it. */
static void fail_unmade(struct coordinator *co, const struct stored_version *v)
{
    struct definitions *d = NULL;
    const struct str table = table_of(co, v, &d);
    struct err why;

    err_set(&why, ERR_REJECT,
            "the daemon ended while version %" PRIu64 " of %" STR_FMT
            " was made; fix: millrace index create %" STR_FMT,
            v->number, STR_ARG(v->index), STR_ARG(table));
    fail(co, v, table, &why);
    definitions_unref(d);
}

static void resume_build(struct coordinator *co, struct stored_version *v,
                         const struct stored_job *jobs, size_t n)
{
    struct topic *t = node_topic(co, v->topic);
    struct err err = {0};

    if (node_find_build(co, v->index, v->number) != NULL || t == NULL || t->pipeline == NULL ||
        co->n_builds == BUILDS_MAX)
        return;
    if (v->error.len > 0) {
        fail_stopped(co, v);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (str_equal(jobs[i].index, v->index) && jobs[i].version == v->number) {
            if (!fix_start(co, v, 1000, &err) || !start_build(co, v, &jobs[i], t, &err))
                log_failure(LOG_WARN, &err, "an index build cannot start yet",
                            KV("index", v->index));
            return;
        }
    fail_unmade(co, v);
}

void node_resume_builds(struct coordinator *co)
{
    struct catalogue *c = node_catalogue(co);
    struct stored_job *jobs = NULL;
    struct err err = {0};
    size_t n = 0;
    bool any = false;

    for (size_t i = 0; i < c->n_versions; i++)
        any = any || (str_equal(c->versions[i].state, STR("changing")) &&
                      node_find_build(co, c->versions[i].index, c->versions[i].number) == NULL);
    if (any && store_load_jobs(co->opt.store, c->arena, &jobs, &n, &err))
        for (size_t i = 0; i < c->n_versions; i++)
            if (str_equal(c->versions[i].state, STR("changing")))
                resume_build(co, &c->versions[i], jobs, n);
    node_catalogue_free(c);
}
