#include "config.h"

#include "rebalance/look.h"
#include "rebalance/node.h"
#include "rebalance/table_sync.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "sync/document/plan.h"
#include "sync/model/definition_export.h"
#include "sync/model/mapping.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- in the engine ---- */

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

void node_put_lineage(struct json_writer *w, const struct stored_version *v, uint64_t epoch,
                      const char *identity)
{
    json_write_key(w, STR("_millrace"));
    json_open_object(w);
    json_put_string(w, STR("topic"), v->topic);
    json_put_cstr(w, STR("log"), identity);
    json_put_u64(w, STR("epoch"), epoch);
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
    node_put_lineage(&w, v, v->epoch, identity);
    json_close_object(&w);
    node_write_alias(&alias, v->index, v->number);

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

    node_index_name(&name, v->index, v->number);

    bool ok = index_body(co, v, d, t, l, &body, err) &&
              search_create_index(co->opt.search, buf_str(&name), buf_str(&body), err);

    if (!ok && err->kind == ERR_REJECT) { /* whatever status the engine gave it */
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

    if (created && !node_drop_in_engine(co, v->index, v->number, &ignored))
        log_failure(LOG_WARN, &ignored, "a version that was not built is still there");
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

/* Documents of every table of the index can be made. */
static bool can_compile(const struct definitions *d, const struct table_definition *lead,
                        struct look *l, struct err *err)
{
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n = 0;
    bool ok = definition_members(d, lead, look_list, l, a, &members, &n);

    if (ok && n == 0)
        ok = refuse(err, 422, "there is no table with a name like `%" STR_FMT "`",
                    STR_ARG(table_name(lead)));
    for (size_t i = 0; ok && i < n; i++) {
        struct plan *plan = plan_compile(d, members[i], look_find, l, err);

        ok = plan != NULL;
        plan_free(plan);
    }
    if (look_failed(l)->kind != ERR_NONE)
        *err = *look_failed(l);
    arena_free(a);
    return ok;
}

/* What comes from now on is read by time, once the version is filled or before. */
static bool begin_sync(struct coordinator *co, const struct stored_version *v,
                       const struct definitions *d, const struct table_definition *t,
                       struct look *l, struct err *err)
{
    struct buf index = {0};

    if (t->sync_every_s == 0)
        return true;
    node_index_name(&index, v->index, v->number);

    struct plan *plan = plan_compile(d, t, look_find, l, err);
    const bool ok = plan != NULL &&
                    table_sync_begin(co->opt.store, l->conns[0], plan, t->daily_check_column,
                                     buf_str(&index), err);

    plan_free(plan);
    buf_free(&index);
    return ok;
}

bool node_create_version(struct coordinator *co, const struct definitions *d,
                         const struct table_definition *t,
                         const struct index_create_options *opt, uint64_t *job, struct err *err)
{
    const struct topic_definition *topic = definition_topic(d, t);
    struct topic *running = topic == NULL ? NULL : node_topic(co, topic->name);
    struct buf definition = {0};
    char *shards = NULL;
    struct look l;
    struct stored_version v = {.index = table_index(t),
                               .state = STR("changing"),
                               .error = STR(""),
                               .created_ms = clock_wall_ms()};
    bool ok = look_open(co, d, t, &l, err);

    if (running == NULL || running->pipeline == NULL) {
        ok = ok && not_running(co, table_name(t), running, err);
    } else if (ok) {
        v.topic = topic->name;
        v.epoch = pipeline_epoch(running->pipeline);
        ok = can_compile(d, t, &l, err) && search_detect(co->opt.search, err) &&
             check_alias(co, v.index, err);
        node_append_version_json(d, t, NULL, &definition);
        v.definition = buf_str(&definition);
    }
    if (ok && look_failed(&l)->kind != ERR_NONE) {
        *err = *look_failed(&l);
        ok = false;
    }
    ok = ok && take_number(co, &v, err);
    if (ok) {
        FAILPOINT(version_numbered);

        const bool created = create_in_engine(co, &v, d, t, &l, err);

        FAILPOINT(version_created);
        ok = created && node_shards(co, &v, d, t, &shards, err) &&
             begin_sync(co, &v, d, t, &l, err) &&
             node_keep_shapes(co, &v, d, t, look_find, look_list, &l, err) &&
             new_job(co, &v, table_name(t), opt, job, err);
        if (!ok)
            undo_version(co, &v, created);
    }
    look_close(&l);
    buf_free(&definition);
    free(shards);
    return ok;
}
