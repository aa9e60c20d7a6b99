#include "config.h"

#include "rebalance/look.h"
#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/binlog/position.h"
#include "sync/document/plan.h"
#include "sync/model/mapping.h"
#include "sync/read_position.h"
#include "sync/schemas.h"
#include "sync/server_access.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUTE_MS 20000

/* ---- a version's definition ---- */

bool node_version_definitions(struct coordinator *co, const struct stored_version *v,
                              struct definitions **out, const struct table_definition **table,
                              struct err *err)
{
    struct definitions *now = node_definitions(co);
    struct str name;

    *out = node_with_table(now, v->definition, &name, err);
    definitions_unref(now);
    if (*out == NULL)
        return err_wrap(err, "index %" STR_FMT "_v%" PRIu64, STR_ARG(v->index), v->number);
    *table = definitions_table(*out, name);
    return true;
}

/* ---- creating the index ---- */

/* Numbers are never used again, also when the store was lost and the engine remembers. */
static bool highest_in_engine(struct coordinator *co, struct str alias, uint64_t *highest,
                              struct err *err)
{
    struct buf path = {0}, answer = {0};
    struct json_reader r;
    struct str index;
    int status;

    *highest = 0;
    buf_printf(&path, "/%" STR_FMT "_v*/_alias", STR_ARG(alias));

    const bool ok =
        search_request(co->opt.search, "GET", buf_str(&path), STR(""), &status, &answer, err);

    json_reader_init(&r, buf_str(&answer));
    if (ok && status == 200 && json_enter_object(&r))
        while (json_next_member(&r, &index) && json_skip(&r)) {
            const uint64_t n =
                index.len > alias.len + 2 ? strtoull(index.ptr + alias.len + 2, NULL, 10) : 0;

            if (n > *highest)
                *highest = n;
        }
    buf_free(&path);
    buf_free(&answer);
    return ok;
}

static bool check_alias(struct coordinator *co, struct str alias, struct err *err)
{
    bool exists, is_alias;

    if (!search_index_exists(co->opt.search, alias, &exists, &is_alias, err))
        return false;
    return !exists || is_alias ||
           refuse(err, 409,
                  "%" STR_FMT " is the name of an index that Millrace did not make, so it "
                  "cannot become an alias; fix: "
                  "give the table another `index:`, or delete or rename that index",
                  STR_ARG(alias));
}

static void append_meta(struct json_writer *w, const struct stored_version *v,
                        const char *identity)
{
    json_write_key(w, STR("_millrace"));
    json_open_object(w);
    json_put_string(w, STR("topic"), v->topic);
    json_put_cstr(w, STR("log"), identity);
    json_put_u64(w, STR("epoch"), v->epoch);
    json_put_u64(w, STR("version"), v->number);
    json_close_object(w);
}

/* The body of PUT /index: settings for filling, mappings with lineage, and the write alias. */
static bool index_body(struct coordinator *co, const struct stored_version *v,
                       const struct definitions *d, const struct table_definition *t,
                       struct look *l, struct buf *body, struct err *err)
{
    struct buf meta = {0}, alias = {0};
    struct json_writer w = {.out = &meta};
    struct topic *topic = node_topic(co, v->topic);
    char identity[96] = "";

    if (topic != NULL && topic->pipeline != NULL)
        pipeline_identity(topic->pipeline, identity, sizeof(identity));
    json_open_object(&w);
    append_meta(&w, v, identity);
    json_close_object(&w);
    node_write_alias(&alias, v->index, v->number);

    const struct mapping_request request = {.definitions = d,
                                            .table = t,
                                            .find = schemas_find,
                                            .ctx = l->schemas,
                                            .flavor = search_flavor(co->opt.search),
                                            .major = search_major(co->opt.search),
                                            .meta = buf_str(&meta),
                                            .alias = buf_str(&alias),
                                            .filling = true};
    const bool ok = mapping_index_body(&request, body, err);

    buf_free(&meta);
    buf_free(&alias);
    return ok;
}

static bool create_in_engine(struct coordinator *co, const struct stored_version *v,
                             const struct definitions *d, const struct table_definition *t,
                             struct look *l, struct err *err)
{
    struct buf name = {0}, body = {0};

    node_index_name(&name, v->index, v->number);

    const bool ok = index_body(co, v, d, t, l, &body, err) &&
                    search_create_index(co->opt.search, buf_str(&name), buf_str(&body), err);

    buf_free(&name);
    buf_free(&body);
    return ok;
}

/* The dead letters of a version that nothing is written to any more: a newer one has the rows.
 */
static void forget_letters(struct coordinator *co, struct str alias, uint64_t number)
{
    struct buf name = {0};
    struct err err = {0};
    uint64_t n;

    node_index_name(&name, alias, number);

    const struct dead_letter_filter all = {.index = buf_str(&name)};

    if (!store_delete_dead_letters(co->opt.store, &all, &n, &err))
        log_failure(LOG_WARN, &err, "dead letters of a version that is gone are still stored",
                    KV("index", buf_str(&name)));
    buf_free(&name);
}

static void drop_in_engine(struct coordinator *co, struct str alias, uint64_t number)
{
    struct buf name = {0};
    struct err err = {0};

    forget_letters(co, alias, number);
    node_index_name(&name, alias, number);
    if (!search_delete_index(co->opt.search, buf_str(&name), &err))
        log_failure(LOG_WARN, &err, "an index could not be deleted; delete it by hand",
                    KV("index", buf_str(&name)));
    /* A request of deletes only, come late, makes an index of the alias: require_alias is for
     * writes. */
    buf_clear(&name);
    node_write_alias(&name, alias, number);
    if (!search_delete_index(co->opt.search, buf_str(&name), &err))
        log_failure(LOG_DEBUG, &err, "no index has the name of the write alias",
                    KV("index", buf_str(&name)));
    buf_free(&name);
}

static bool new_job(struct coordinator *co, const struct stored_version *v, struct str table,
                    const struct index_create_options *opt, uint64_t *id, struct err *err)
{
    struct buf parameters = {0};

    buf_printf(&parameters, "{\"rate\":%" PRIu64 ",\"chunk\":%zu}", opt->rate, opt->chunk);

    struct stored_job job = {.kind = STR("index"),
                             .index = v->index,
                             .table = table,
                             .version = v->number,
                             .buckets = 1,
                             .state = STR("init"),
                             .cursor = STR(""),
                             .parameters = buf_str(&parameters),
                             .error = STR(""),
                             .created_ms = clock_wall_ms(),
                             .updated_ms = clock_wall_ms()};
    const bool ok = store_new_job(co->opt.store, &job, err);

    *id = job.id;
    buf_free(&parameters);
    return ok;
}

/* An index that is there and was not made here belongs to somebody else. */
static void undo_version(struct coordinator *co, const struct stored_version *v, bool created)
{
    struct err ignored = {0};

    if (created)
        drop_in_engine(co, v->index, v->number);
    if (!store_delete_jobs(co->opt.store, v->index, v->number, &ignored) ||
        !store_delete_version(co->opt.store, v->index, v->number, &ignored) ||
        !node_refresh(co, &ignored))
        log_failure(LOG_WARN, &ignored, "a version that was not built is still stored");
}

static bool take_number(struct coordinator *co, struct stored_version *v, struct err *err)
{
    uint64_t highest;

    if (!highest_in_engine(co, v->index, &highest, err))
        return false;
    v->number = highest + 1; /* at least; the store knows its own highest */
    return store_new_version(co->opt.store, v, err);
}

static bool not_running(struct coordinator *co, struct str table, const struct topic *topic,
                        struct err *err)
{
    struct err why = {0};

    pthread_mutex_lock(&co->lock);
    if (topic != NULL)
        why = topic->why;
    pthread_mutex_unlock(&co->lock);
    return err_set(err, ERR_RETRY, "the topic of %" STR_FMT " does not run: %s", STR_ARG(table),
                   why.kind != ERR_NONE ? why.msg : "it is starting; see millrace status");
}

static bool make_version(struct coordinator *co, const struct definitions *d,
                         const struct table_definition *t,
                         const struct index_create_options *opt, uint64_t *job, struct err *err)
{
    const struct topic_definition *topic = definitions_topic_of(d, t->table);
    struct topic *running = topic == NULL ? NULL : node_topic(co, topic->name);
    struct buf definition = {0};
    struct look l;
    struct stored_version v = {.index = table_index(t),
                               .state = STR("changing"),
                               .error = STR(""),
                               .created_ms = clock_wall_ms()};
    struct plan *plan = NULL;
    bool ok = look_open(co, d, t, &l, err);

    if (running == NULL || running->pipeline == NULL) {
        ok = ok &&
             not_running(co, t->table, running, err);
    } else if (ok) {
        v.topic = topic->name;
        v.epoch = pipeline_epoch(running->pipeline);
        plan = plan_compile(d, t, schemas_find, l.schemas, err);
        ok = plan != NULL && search_detect(co->opt.search, err) &&
             check_alias(co, v.index, err) &&
             node_expand_table(d, t, schemas_find, l.schemas, &definition, err);
        v.definition = buf_str(&definition);
    }
    if (ok && schemas_failed(l.schemas)->kind != ERR_NONE) {
        *err = *schemas_failed(l.schemas);
        ok = false;
    }
    ok = ok && take_number(co, &v, err);
    if (ok) {
        const bool created = create_in_engine(co, &v, d, t, &l, err);

        ok = created && new_job(co, &v, t->table, opt, job, err);
        if (!ok)
            undo_version(co, &v, created);
    }
    plan_unref(plan);
    look_close(&l);
    buf_free(&definition);
    return ok;
}

/* ---- running builds ---- */

static struct index_build *find_build(struct coordinator *co, struct str index, uint64_t number)
{
    for (size_t i = 0; i < co->n_builds; i++)
        if (str_equal(str_from(index_build_alias(co->builds[i])), index) &&
            (number == 0 || index_build_number(co->builds[i]) == number))
            return co->builds[i];
    return NULL;
}

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

static void on_build_dead(void *ctx, const struct dead_letter_note *note)
{
    struct coordinator *co = ctx;
    struct delivery_options o = node_delivery_options(co);
    struct err err = {0};

    while (!o.dead(co, note, 1, &err) && !stop_wait(&co->stop, 500))
        log_failure(LOG_ERROR, &err, "a dead letter could not be stored, trying again");
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
                    mapping_final_settings(t, &settings, err) &&
                    coordination_own(co->coordination, buf_str(&thing), &term, err);

    if (ok) {
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
    if (!node_route(co, v->topic, timeout_ms, &from, err))
        return false;
    if ((from & ((UINT64_C(1) << 53) - 1)) == 0)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " has no position yet",
                       STR_ARG(v->topic));
    v->start = from;
    return store_save_version(co->opt.store, v, err) && node_refresh(co, err);
}

/* ---- the end of a build ---- */

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

static struct str table_of(struct coordinator *co, const struct stored_version *v,
                           struct definitions **d)
{
    const struct table_definition *t;
    struct err err = {0};

    return node_version_definitions(co, v, d, &t, &err) ? t->table : v->index;
}

/* What is queued for an index that is gone; the checkpoint must not wait for it. */
void node_forget_index(struct coordinator *co, struct str index)
{
    delivery_drop(co->delivery, index);
}

/* An alias that was moved by a build that then failed goes back to what searches used. */
static bool restore_alias(struct coordinator *co, const struct stored_version *v,
                          struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    const struct stored_version *was = catalogue_version(c, v->index, STR("available"));
    struct buf index = {0};
    bool ok = true;

    if (was != NULL && was->number != v->number) {
        node_index_name(&index, was->index, was->number);
        ok = search_move_alias(co->opt.search, v->index, buf_str(&index), err);
    }
    buf_free(&index);
    node_catalogue_free(c);
    return ok;
}

/* A version that was being built goes: job, index, record. */
static bool drop_version(struct coordinator *co, const struct stored_version *v,
                         struct err *err)
{
    struct buf index = {0};

    node_index_name(&index, v->index, v->number);

    const bool ok = store_delete_jobs(co->opt.store, v->index, v->number, err) &&
                    store_delete_version(co->opt.store, v->index, v->number, err) &&
                    node_refresh(co, err);
    struct err ignored = {0};

    if (ok && co->delivery != NULL) {
        if (!node_route(co, v->topic, ROUTE_MS, NULL, &ignored))
            log_failure(LOG_WARN, &ignored, "the topic still writes to a version that is gone",
                        KV("index", buf_str(&index)));
        node_forget_index(co, buf_str(&index));
    }
    if (ok && !restore_alias(co, v, &ignored))
        log_failure(LOG_WARN, &ignored, "the alias may still lead to a version that failed",
                    KV("index", buf_str(&index)));
    else if (ok)
        drop_in_engine(co, v->index, v->number);
    buf_free(&index);
    return ok;
}

static void forget_older_letters(struct coordinator *co, const struct stored_version *v)
{
    struct catalogue *c = node_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, v->index) && c->versions[i].number < v->number)
            forget_letters(co, v->index, c->versions[i].number);
    node_catalogue_free(c);
}

static void succeed(struct coordinator *co, const struct stored_version *v, struct str table)
{
    struct err err = {0};

    if (!node_refresh(co, &err) ||
        !store_delete_jobs(co->opt.store, v->index, v->number, &err) ||
        !node_route(co, v->topic, ROUTE_MS, NULL, &err))
        log_failure(LOG_WARN, &err, "the version before is still written to",
                    KV("index", v->index));
    forget_older_letters(co, v);
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
    if (!drop_version(co, v, &err))
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

bool node_drop_builds(struct coordinator *co, struct str topic, struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->state, STR("changing")) || !str_equal(v->topic, topic))
            continue;

        struct index_build *b = find_build(co, v->index, v->number);

        if (b != NULL)
            remove_build(co, b);
        ok = drop_version(co, v, err);
    }
    node_catalogue_free(c);
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

static void resume_build(struct coordinator *co, struct stored_version *v,
                         const struct stored_job *jobs, size_t n)
{
    struct topic *t = node_topic(co, v->topic);
    struct err err = {0};

    if (find_build(co, v->index, v->number) != NULL || t == NULL || t->pipeline == NULL ||
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
                      find_build(co, c->versions[i].index, c->versions[i].number) == NULL);
    if (any && store_load_jobs(co->opt.store, c->arena, &jobs, &n, &err))
        for (size_t i = 0; i < c->n_versions; i++)
            if (str_equal(c->versions[i].state, STR("changing")))
                resume_build(co, &c->versions[i], jobs, n);
    node_catalogue_free(c);
}

/* ---- stopping a table ---- */

bool node_stop_table(struct coordinator *co, struct str table, const char *reason,
                     const char *way_out, struct err *err)
{
    const struct stored_stop stop = {.table = table,
                                     .reason = str_from(reason),
                                     .way_out = str_from(way_out),
                                     .file = STR(""),
                                     .at_ms = clock_wall_ms()};

    if (!store_put_stop(co->opt.store, &stop, err))
        return false;
    log_error("the table is stopped", KV("table", table), KV("reason", reason),
              KV("fix", way_out));
    node_log(co, table, STR(""), 0, "stopped", reason);
    return node_refresh(co, err);
}

/* "orders_v2" -> "orders", 2 */
static bool split_index_name(const char *index, struct str *alias, uint64_t *number)
{
    const struct str name = str_from(index);
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9')
        at--;
    if (at == name.len || at < 3 || memcmp(name.ptr + at - 2, "_v", 2) != 0)
        return false;
    *alias = (struct str){name.ptr, at - 2};
    *number = strtoull(name.ptr + at, NULL, 10);
    return true;
}

bool node_stop_target(struct coordinator *co, const struct target *target, const char *reason,
                      const char *way_out, struct err *err)
{
    struct str alias;
    uint64_t number;
    bool changing = false;

    if (split_index_name(target->index, &alias, &number) &&
        !store_fail_version(co->opt.store, alias, number, str_from(reason), &changing, err))
        return false;
    if (!changing)
        return node_stop_table(co, str_from(target->table), reason, way_out, err);
    /* Its build ends, the version that searches use goes on. */
    log_error("a version that is being built cannot go on",
              KV("index", (const char *)target->index), KV("reason", reason));
    return node_refresh(co, err);
}

/* ---- what commands ask ---- */

static void answer_job(struct buf *json, const struct stored_version *v, uint64_t job)
{
    struct json_writer w = {.out = json};
    struct buf id = {0};

    buf_printf(&id, "%" PRIu64, job);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/index-create/1");
    json_put_string(&w, STR("index"), v->index);
    json_put_u64(&w, STR("version"), v->number);
    json_put_string(&w, STR("job"), buf_str(&id));
    json_close_object(&w);
    buf_free(&id);
}

bool coordinator_index_create(struct coordinator *co, struct str table,
                              const struct index_create_options *opt, struct buf *json,
                              struct err *err)
{
    uint64_t job = 0;

    if (co->delivery == NULL)
        return refuse(err, 503,
                      "index builds need the running daemon; fix: start it with millrace run");
    if (!node_begin(co, err))
        return false;

    struct definitions *d = node_definitions(co);
    const struct table_definition *t = node_find_table(d, table, err);
    bool ok = t != NULL && node_refresh(co, err);

    if (ok) {
        struct catalogue *c = node_catalogue(co);
        const struct stored_version *changing =
            catalogue_version(c, table_index(t), STR("changing"));

        if (changing != NULL)
            ok = refuse(err, 409,
                        "index %" STR_FMT " is already being built (version %" PRIu64
                        "); fix: wait for it, or millrace index reset %" STR_FMT,
                        STR_ARG(changing->index), changing->number, STR_ARG(t->table));
        node_catalogue_free(c);
    }
    ok = ok && make_version(co, d, t, opt, &job, err) && node_refresh(co, err);
    if (ok) {
        struct catalogue *c = node_catalogue(co);
        const struct stored_version *v = catalogue_version(c, table_index(t), STR("changing"));

        node_log(co, t->table, v->index, v->number, "building", "");
        node_resume_builds(co);
        answer_job(json, v, job);
        node_catalogue_free(c);
    }
    definitions_unref(d);
    pthread_mutex_unlock(&co->doing);
    return ok;
}

static void answer_done(struct buf *json, const char *schema, struct str index, uint64_t n)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("index"), index);
    json_put_u64(&w, STR("count"), n);
    json_close_object(&w);
}

static bool delete_versions(struct coordinator *co, const struct catalogue *c, struct str alias,
                            uint64_t number, uint64_t *n, struct err *err)
{
    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->index, alias) || (number != 0 && v->number != number))
            continue;
        if (str_equal(v->state, STR("available")) || str_equal(v->state, STR("changing"))) {
            if (number != 0)
                return refuse(err, 409, "version %" PRIu64 " of %" STR_FMT " is %s; fix: %s",
                              number, STR_ARG(alias),
                              str_equal(v->state, STR("changing")) ? "being built"
                                                                   : "what searches use",
                              str_equal(v->state, STR("changing")) ? "millrace index reset"
                                                                   : "build a newer one first");
            continue;
        }
        drop_in_engine(co, v->index, v->number);
        if (!store_delete_version(co->opt.store, v->index, v->number, err))
            return false;
        (*n)++;
    }
    return number == 0 || *n > 0 ||
           refuse(err, 404, "index %" STR_FMT " has no version %" PRIu64, STR_ARG(alias),
                  number);
}

bool coordinator_index_delete(struct coordinator *co, struct str table, uint64_t number,
                              struct buf *json, struct err *err)
{
    uint64_t n = 0;

    if (!node_begin(co, err))
        return false;

    struct definitions *d = node_definitions(co);
    const struct table_definition *t = node_find_table(d, table, err);
    bool ok = t != NULL && node_refresh(co, err);

    if (ok) {
        struct catalogue *c = node_catalogue(co);

        ok = delete_versions(co, c, table_index(t), number, &n, err);
        node_catalogue_free(c);
        ok = node_refresh(co, ok ? err : &(struct err){0}) && ok;
    }
    if (ok)
        answer_done(json, "millrace/index-delete/1", table_index(t), n);
    definitions_unref(d);
    pthread_mutex_unlock(&co->doing);
    return ok;
}

bool coordinator_index_reset(struct coordinator *co, struct str table, struct buf *json,
                             struct err *err)
{
    uint64_t n = 0;

    if (!node_begin(co, err))
        return false;

    struct definitions *d = node_definitions(co);
    const struct table_definition *t = node_find_table(d, table, err);
    bool ok = t != NULL && node_refresh(co, err);
    struct catalogue *c = ok ? node_catalogue(co) : NULL;

    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->index, table_index(t)) || !str_equal(v->state, STR("changing")))
            continue;

        struct index_build *b = find_build(co, v->index, v->number);

        if (b != NULL)
            remove_build(co, b);
        ok = drop_version(co, v, err);
        node_log(co, t->table, v->index, v->number, "reset", "");
        n++;
    }
    if (ok)
        answer_done(json, "millrace/index-reset/1", table_index(t), n);
    node_catalogue_free(c);
    definitions_unref(d);
    pthread_mutex_unlock(&co->doing);
    return ok;
}

bool coordinator_index_set(struct coordinator *co, struct str table, uint64_t rate,
                           struct buf *json, struct err *err)
{
    struct definitions *d = node_definitions(co);
    const struct table_definition *t = node_find_table(d, table, err);
    bool ok = t != NULL;

    if (ok) {
        pthread_mutex_lock(&co->lock);

        struct index_build *b = find_build(co, table_index(t), 0);

        if (b != NULL)
            index_build_set_rate(b, rate);
        pthread_mutex_unlock(&co->lock);
        ok = b != NULL ||
             refuse(err, 409, "index %" STR_FMT " is not being built", STR_ARG(table_index(t)));
    }
    if (ok)
        answer_done(json, "millrace/index-set/1", table_index(t), 1);
    definitions_unref(d);
    return ok;
}
