#include "config.h"

#include "rebalance/version/version_create.h"

#include "rebalance/check/look.h"
#include "rebalance/fill/parameters.h"
#include "rebalance/poll/table_sync.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/turns.h"
#include "rebalance/version/buckets.h"
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
#include "src/format/json.h"
#include "src/store/build_log.h"
#include "sync/definition/export.h"
#include "sync/document/plan.h"
#include "sync/mapping/mapping.h"
#include "sync/mapping/settings.h"

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
                             struct look *l, struct buf *body, struct err *err)
{
    struct buf name = {0};

    coordinator_index_name(&name, v->index, v->number);

    bool ok = index_body(co, v, d, t, l, body, err) &&
              search_create_index(co->opt.search, buf_str(&name), buf_str(body), err);

    if (!ok && err->kind == ERR_REJECT) { /* whatever HTTP status the engine gave */
        const struct err why = *err;

        ok = refuse(err, 422, "the search engine does not take the index: %s", why.msg);
    }
    buf_free(&name);
    return ok;
}

/* ---- in the store ---- */

/* Buckets by mod are as many as their cost was told for. */
/* As it will be: a table without a bucket_column is divided by its key. */
static enum buckets_by divides_by(const struct index_create_options *opt,
                                  const struct table_definition *t)
{
    return opt->by == BUCKETS_BY_COLUMN && t->bucket_column.len == 0 ? BUCKETS_BY_KEY : opt->by;
}

static void append_parameters(const struct coordinator *co,
                              const struct index_create_options *opt,
                              const struct table_definition *t, const struct build_cost *cost,
                              struct buf *out)
{
    const struct take take = {opt->take_index, opt->take_alias};
    const enum build_check check = opt->checks ? opt->check : co->opt.verify_builds;

    job_parameters_append(out, &(struct job_parameters){.rate = opt->rate,
                                                        .chunk = opt->chunk,
                                                        .buckets = opt->by == BUCKETS_BY_MOD
                                                                       ? cost->buckets
                                                                       : opt->buckets,
                                                        .by = divides_by(opt, t),
                                                        .nodes = opt->nodes,
                                                        .take = take,
                                                        .hold = opt->hold,
                                                        .keeps = opt->keeps,
                                                        .keep = opt->keep,
                                                        .check = check});
}

static bool new_job(struct coordinator *co, const struct stored_version *v, struct str table,
                    struct str parameters, uint64_t *id, struct err *err)
{
    struct stored_job job = {.kind = STR(JOB_INDEX),
                             .index = v->index,
                             .table = table,
                             .version = v->number,
                             .buckets = 1,
                             .state = STR("init"),
                             .cursor = STR(""),
                             .parameters = parameters,
                             .error = STR(""),
                             .created_ms = clock_wall_ms(),
                             .updated_ms = clock_wall_ms()};
    const bool ok = store_new_job(co->opt.store, &job, err);

    *id = job.id;
    return ok;
}

/* What the engine gets with the index, and before searches use it. */
static void append_settings(const struct definitions *d, const struct table_definition *t,
                            struct str body, struct buf *out)
{
    struct json_writer w = {.out = out};
    struct buf last = {0};
    struct str first;

    json_open_object(&w);
    if (json_find(body, "/settings", &first))
        json_put_raw(&w, STR("create"), first);
    mapping_settings_final(definition_settings(d, t), &last);
    json_put_raw(&w, STR("publish"), buf_str(&last));
    json_close_object(&w);
    buf_free(&last);
}

/* What is logged of a build as it begins. */
struct new_build {
    const struct definitions *d;
    const struct table_definition *t;
    bool by_itself;
    struct str parameters; /* of its job */
};

/* body: what the engine was sent. */
static bool log_beginning(struct coordinator *co, const struct stored_version *v,
                          const struct new_build *b, struct str body, struct err *err)
{
    struct stored_build build = {.version = {v->index, v->number},
                                 .table = table_name(b->t),
                                 .kind = str_from(b->by_itself ? "rebuild" : "create"),
                                 .parameters = b->parameters,
                                 .begun_ms = v->created_ms};
    struct buf settings = {0};

    append_settings(b->d, b->t, body, &settings);
    build.settings = buf_str(&settings);
    (void)json_find(body, "/mappings", &build.mappings);

    const bool ok = store_begin_build(co->opt.store, &build, err);

    buf_free(&settings);
    return ok;
}

static bool make_index(struct coordinator *co, const struct stored_version *v,
                       const struct new_build *b, struct look *l, bool *created,
                       struct err *err)
{
    struct buf body = {0};

    *created = create_in_engine(co, v, b->d, b->t, l, &body, err);

    const bool ok = *created && log_beginning(co, v, b, buf_str(&body), err);

    buf_free(&body);
    return ok;
}

/* Do not delete an index that we did not create: it belongs to somebody else. */
static void undo_version(struct coordinator *co, const struct stored_version *v, bool created,
                         const struct err *why)
{
    const struct version_name name = {v->index, v->number};
    struct err ignored = {0};

    if (!store_end_build(co->opt.store, &name, BUILD_FAILED, str_from(why->msg), &ignored))
        log_failure(LOG_WARN, &ignored, "could not log why a build did not begin");
    ignored = (struct err){0};
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

/* Check that every table of the index has a plan.  cost: what reading them costs, or NULL. */
static bool can_compile(const struct definitions *d, const struct table_definition *lead,
                        struct look *l, struct build_cost *cost, struct err *err)
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

        ok = plan != NULL && (cost == NULL || build_cost_add(cost, l->conns[0], plan,
                                                             lead->bucket_column, err));
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
                     const struct table_definition *lead, struct look *l,
                     struct build_cost *cost, struct err *err)
{
    struct schema_list before = {0};
    bool ok = coordinator_available_tables(co, table_index(lead), &before, err);

    look_remember(l, &before);
    ok = ok && can_compile(d, lead, l, cost, err);
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

static bool may_begin(struct coordinator *co, const struct definitions *d,
                      const struct table_definition *t, struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    const bool ok = coordinator_is_not_paused(co, table_index(t), table_name(t), err) &&
                    coordinator_may_build(co, c, d, table_index(t), err);

    catalogue_unref(c);
    return ok;
}

/* Whether a version can be made now. Sets its topic and epoch. */
static bool is_possible(struct coordinator *co, const struct new_build *b, struct look *l,
                        struct stored_version *v, struct build_cost *cost, struct err *err)
{
    const struct topic_definition *topic = definition_topic(b->d, b->t);
    struct topic *running = topic == NULL ? NULL : topics_find(co->topics, topic->name);

    if (!may_begin(co, b->d, b->t, err) || !look_open(l, co, b->d, b->t, err))
        return false;
    if (running == NULL || running->pipeline == NULL)
        return not_running(co, table_name(b->t), running, err);
    v->topic = topic->name;
    v->epoch = pipeline_epoch(running->pipeline);
    if (!is_followed(co, b->d, b->t, err) || !can_make(co, b->d, b->t, l, cost, err) ||
        !search_detect(co->opt.search, err))
        return false;
    if (look_failed(l)->kind != ERR_NONE)
        *err = *look_failed(l);
    return look_failed(l)->kind == ERR_NONE;
}

/* v: all but its number. */
static bool make(struct coordinator *co, const struct new_build *b, struct look *l,
                 struct stored_version *v, struct created_version *out, struct err *err)
{
    char *shards = NULL;
    bool created;

    FAILPOINT(version_numbered);

    bool ok = make_index(co, v, b, l, &created, err);

    FAILPOINT(version_created);
    ok = ok && coordinator_shards(co, v, b->d, b->t, &shards, err) &&
         begin_sync(co, v, b->d, b->t, l, err) &&
         coordinator_keep_shapes(co, v, b->d, b->t, look_find, look_list, l, err) &&
         new_job(co, v, table_name(b->t), b->parameters, &out->job, err);
    out->number = v->number;
    if (!ok)
        undo_version(co, v, created, err);
    free(shards);
    return ok;
}

/* Ranges of a small table are fewer; by mod it has as many as were reckoned with. */
static void limit_buckets(struct build_cost *cost)
{
    const uint64_t most = cost->rows < BUCKET_ROWS_MIN ? 1 : cost->rows / BUCKET_ROWS_MIN;

    if (cost->by != BUCKETS_BY_MOD && cost->rows > 0 && cost->buckets > most)
        cost->buckets = (uint32_t)most;
}

static struct build_cost cost_of(struct coordinator *co, const struct index_create_options *opt,
                                 const struct table_definition *t)
{
    return (struct build_cost){
        .by = divides_by(opt, t),
        .buckets =
            (uint32_t)(opt->buckets > 0 ? opt->buckets : coordinator_buckets(co, opt->nodes))};
}

bool coordinator_create_version(struct coordinator *co, const struct definitions *d,
                                const struct table_definition *t,
                                const struct index_create_options *opt,
                                struct created_version *out, struct err *err)
{
    struct new_build b = {.d = d, .t = t, .by_itself = opt->by_itself};
    const bool costs = opt->dry_run || opt->by == BUCKETS_BY_MOD;
    struct buf definition = {0}, parameters = {0};
    struct look l = {0};
    struct stored_version v = {.index = table_index(t),
                               .state = STR("changing"),
                               .error = STR(""),
                               .created_ms = clock_wall_ms()};
    struct claimed claimed = {.alias = v.index, .take = {opt->take_index, opt->take_alias}};

    if (costs)
        out->cost = cost_of(co, opt, t);

    bool ok = is_possible(co, &b, &l, &v, costs ? &out->cost : NULL, err);

    if (opt->buckets == 0)
        limit_buckets(&out->cost);

    if (ok && !opt->dry_run) {
        coordinator_append_version_json(d, t, NULL, &definition);
        append_parameters(co, opt, t, &out->cost, &parameters);
        v.definition = buf_str(&definition);
        b.parameters = buf_str(&parameters);
        ok = take_number(co, &v, table_name(t), &claimed, err);
        out->taken = claimed.taken;
        ok = ok && make(co, &b, &l, &v, out, err);
    }
    look_close(&l);
    buf_free(&definition);
    buf_free(&parameters);
    return ok;
}
