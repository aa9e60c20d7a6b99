#include "config.h"

#include "rebalance/version/version_create.h"

#include "rebalance/check/look.h"
#include "rebalance/fill/job.h"
#include "rebalance/poll/table_sync.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/claim.h"
#include "rebalance/version/index.h"
#include "rebalance/version/lineage.h"
#include "rebalance/version/pause.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/shape.h"
#include "rebalance/version/shards.h"
#include "rebalance/version/version_drop.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "sync/definition/export.h"
#include "sync/document/plan.h"
#include "sync/mapping/mapping.h"

#include <stdlib.h>

/* ---- in the engine ---- */

/* The body of PUT /index: settings for filling, mappings with lineage, and the write alias. */
static bool index_body(struct coordinator *co, const struct stored_version *v,
                       const struct definitions *d, const struct table_definition *t,
                       struct look *l, struct buf *body, struct err *err)
{
    struct buf meta = {0}, alias = {0};
    struct json_writer w = {.out = &meta};
    struct topic *topic = topics_find(co->topics, v->topic);
    char identity[96] = "";

    if (topic != NULL && topic->pipeline != NULL)
        pipeline_identity(topic->pipeline, identity, sizeof(identity));
    json_open_object(&w);
    coordinator_put_lineage(&w, co, v, v->epoch, str_from(identity));
    json_close_object(&w);
    coordinator_write_alias(&alias, v->index, v->number);

    const struct mapping_request request = {.definitions = d,
                                            .table = t,
                                            .find = look_find,
                                            .list = look_list,
                                            .ctx = l,
                                            .engine = search_engine(co->opt.search),
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

    coordinator_index_name(&name, v->index, v->number);

    bool ok = index_body(co, v, d, t, l, &body, err) &&
              search_create_index(co->opt.search, buf_str(&name), buf_str(&body), err);

    if (!ok && err->kind == ERR_REJECT) { /* whatever HTTP status the engine gave */
        const struct err why = *err;

        ok = refuse(err, 422, "the search engine does not take the index: %s", why.msg);
    }
    buf_free(&name);
    buf_free(&body);
    return ok;
}

/* ---- in the store ---- */

static bool new_job(struct coordinator *co, const struct stored_version *v, struct str table,
                    const struct index_create_options *opt, uint64_t *id, struct err *err)
{
    const struct take take = {opt->take_index, opt->take_alias};
    const enum build_check check = opt->checks ? opt->check : co->opt.verify_builds;
    struct buf parameters = {0};

    job_parameters_append(&parameters, &(struct job_parameters){.rate = opt->rate,
                                                                .chunk = opt->chunk,
                                                                .buckets = opt->buckets,
                                                                .by = opt->by,
                                                                .take = take,
                                                                .hold = opt->hold,
                                                                .keeps = opt->keeps,
                                                                .keep = opt->keep,
                                                                .check = check});

    struct stored_job job = {.kind = STR(JOB_INDEX),
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

/* Do not delete an index that we did not create: it belongs to somebody else. */
static void undo_version(struct coordinator *co, const struct stored_version *v, bool created)
{
    const struct version_name name = {v->index, v->number};
    struct err ignored = {0};

    if (!(created ? store_drop_versions(co->opt.store, &name, 1, &ignored)
                  : store_delete_version(co->opt.store, v->index, v->number, &ignored)) ||
        !coordinator_refresh(co, &ignored))
        log_failure(LOG_WARN, &ignored, "could not drop a version that was not built");
    coordinator_end_drops_soon(co);
}

/* Never reuse a number, even if the store was lost: the engine still has the indexes. */
static bool take_number(struct coordinator *co, struct stored_version *v, struct str table,
                        struct claimed *claimed, struct err *err)
{
    if (!coordinator_claim(co, table, claimed, err))
        return false;
    v->number = claimed->highest + 1; /* a minimum: the store has its own highest */
    return store_new_version(co->opt.store, v, err);
}

static bool not_running(struct coordinator *co, struct str table, const struct topic *topic,
                        struct err *err)
{
    struct err why = {0};

    lock_acquire(&co->topics->lock);
    if (topic != NULL)
        why = topic->why;
    lock_release(&co->topics->lock);
    return err_set(err, ERR_RETRY, "the topic of %" STR_FMT " is not running: %s",
                   STR_ARG(table),
                   why.kind != ERR_NONE ? why.msg : "it is starting; see millrace status");
}

/* A topic that has failed reads nothing until a person acts, so a build would wait for that. */
static bool is_followed(struct coordinator *co, const struct definitions *d,
                        const struct table_definition *lead, struct err *err)
{
    for (const struct topic *t = co->topics->first; t != NULL; t = t->next) {
        struct pipeline_status s;

        if (t->pipeline == NULL || !coordinator_shows_topic(d, lead, str_from(t->name)))
            continue;
        pipeline_status(t->pipeline, &s);
        free(s.gtids);
        if (s.source.state == SOURCE_FAILED)
            return refuse(err, 409,
                          "topic %s has failed, so its tables cannot be built: %.200s; fix: "
                          "%.200s",
                          t->name, s.source.why.msg,
                          s.source.fix[0] != '\0' ? s.source.fix : "millrace status");
    }
    return true;
}

/* Check that every table of the index has a plan. */
static bool can_compile(const struct definitions *d, const struct table_definition *lead,
                        struct look *l, struct err *err)
{
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n = 0;
    bool ok = definition_members(d, lead, look_list, l, a, &members, &n);

    if (ok && n == 0)
        ok = refuse(err, 422, "no table has a name that matches `%" STR_FMT "`",
                    STR_ARG(table_name(lead)));
    for (size_t i = 0; ok && i < n; i++) {
        struct plan *plan = plan_compile(d, members[i], look_find, l, err);

        ok = plan != NULL;
        plan_free(plan);
    }
    if (look_failed(l)->kind != ERR_NONE)
        *err = *look_failed(l);
    else if (look_denied(l)->kind != ERR_NONE)
        ok = refuse(err, 422, "%s", look_denied(l)->msg);
    arena_free(a);
    return ok;
}

/* A table that we may no longer read must not be left out: use its last known shape. */
static bool can_make(struct coordinator *co, const struct definitions *d,
                     const struct table_definition *lead, struct look *l, struct err *err)
{
    struct schema_list before = {0};
    bool ok = coordinator_available_tables(co, table_index(lead), &before, err);

    look_remember(l, &before);
    ok = ok && can_compile(d, lead, l, err);
    look_remember(l, NULL);
    schema_list_fini(&before);
    return ok;
}

/* Set the start of syncs before the version is filled: they read what changes from now on. */
static bool begin_sync(struct coordinator *co, const struct stored_version *v,
                       const struct definitions *d, const struct table_definition *t,
                       struct look *l, struct err *err)
{
    struct buf index = {0};

    if (t->sync_every_s == 0)
        return true;
    coordinator_index_name(&index, v->index, v->number);

    struct plan *plan = plan_compile(d, t, look_find, l, err);
    const bool ok =
        plan != NULL && table_sync_begin(co->opt.store, l->conns[0], plan,
                                         t->daily_check_column, buf_str(&index), err);

    plan_free(plan);
    buf_free(&index);
    return ok;
}

bool coordinator_create_version(struct coordinator *co, const struct definitions *d,
                                const struct table_definition *t,
                                const struct index_create_options *opt,
                                struct created_version *out, struct err *err)
{
    const struct topic_definition *topic = definition_topic(d, t);
    struct topic *running = topic == NULL ? NULL : topics_find(co->topics, topic->name);
    struct buf definition = {0};
    char *shards = NULL;
    struct look l = {0};
    struct stored_version v = {.index = table_index(t),
                               .state = STR("changing"),
                               .error = STR(""),
                               .created_ms = clock_wall_ms()};
    bool ok = coordinator_is_not_paused(co, v.index, table_name(t), err) &&
              look_open(&l, co, d, t, err);

    if (running == NULL || running->pipeline == NULL) {
        ok = ok && not_running(co, table_name(t), running, err);
    } else if (ok) {
        v.topic = topic->name;
        v.epoch = pipeline_epoch(running->pipeline);
        ok = is_followed(co, d, t, err) && can_make(co, d, t, &l, err) &&
             search_detect(co->opt.search, err);
        coordinator_append_version_json(d, t, NULL, &definition);
        v.definition = buf_str(&definition);
    }
    if (ok && look_failed(&l)->kind != ERR_NONE) {
        *err = *look_failed(&l);
        ok = false;
    }

    struct claimed claimed = {.alias = v.index, .take = {opt->take_index, opt->take_alias}};

    ok = ok && take_number(co, &v, table_name(t), &claimed, err);
    out->taken = claimed.taken;
    if (ok) {
        FAILPOINT(version_numbered);

        const bool created = create_in_engine(co, &v, d, t, &l, err);

        FAILPOINT(version_created);
        ok = created && coordinator_shards(co, &v, d, t, &shards, err) &&
             begin_sync(co, &v, d, t, &l, err) &&
             coordinator_keep_shapes(co, &v, d, t, look_find, look_list, &l, err) &&
             new_job(co, &v, table_name(t), opt, &out->job, err);
        if (!ok)
            undo_version(co, &v, created);
    }
    look_close(&l);
    buf_free(&definition);
    free(shards);
    return ok;
}
