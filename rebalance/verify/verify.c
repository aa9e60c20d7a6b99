#include "config.h"

#include "rebalance/verify/verify.h"

#include "rebalance/verify/run.h"
#include "rebalance/version/shape.h"

#include "src/base/clock.h"
#include "src/mysql/mysql.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/membership.h"
#include "sync/routing/routing.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINKS_MS 4000 /* for a read to include what the stream has read */

/* The ctx of the errand; in its arena. */
struct question {
    struct coordinator *co;
    struct verify_request request;
};

/* ---- the index, and its definition ---- */

static bool use_version(struct verify_run *run, const struct stored_version *v, struct err *err)
{
    struct buf name = {0};

    coordinator_index_name(&name, v->index, v->number);
    run->number = v->number;
    run->index = arena_copy(run->arena, buf_str(&name));
    run->topic = arena_copy(run->arena, v->topic);
    run->definition = arena_copy(run->arena, v->definition);
    buf_free(&name);
    return coordinator_version_in_effect(run->co, v, &run->definitions, &run->lead, err);
}

static bool find_version(struct verify_run *run, struct str table, struct err *err)
{
    struct definitions *now = coordinator_definitions(run->co);
    struct catalogue *c = coordinator_catalogue(run->co);
    const struct table_definition *t = coordinator_find_table(now, table, err);
    bool ok = t != NULL;

    if (ok) {
        const struct stored_version *v =
            catalogue_version(c, table_index(definition_lead(now, t)), STR("available"));

        ok = v == NULL ? refuse(err, 409,
                                "table %" STR_FMT " has no index that searches use; fix: "
                                "millrace index create %" STR_FMT,
                                STR_ARG(table), STR_ARG(table_name(t)))
                       : use_version(run, v, err);
    }
    if (ok) {
        run->table = definitions_table(run->definitions, table_name(t));
        run->table = run->table == NULL ? run->lead : run->table;
    }
    catalogue_unref(c);
    definitions_unref(now);
    return ok;
}

static bool find_targets(struct verify_run *run, struct err *err)
{
    lock_acquire(&run->co->topics->lock);

    const struct topic *t = topics_find(run->co->topics, run->topic);

    run->pipeline = t == NULL ? NULL : t->pipeline;
    if (run->pipeline != NULL)
        run->targets = pipeline_targets(run->pipeline, run->index, &run->n_targets);
    lock_release(&run->co->topics->lock);
    if (run->n_targets == 0)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " is not running yet",
                       STR_ARG(run->topic));
    for (size_t i = 0; i < run->n_targets; i++)
        if (__atomic_load_n(&((struct reading *)run->targets[i]->plan)->stopped,
                            __ATOMIC_RELAXED))
            return err_set(err, ERR_RETRY,
                           "the table is stopped, so its index does not follow; fix: millrace "
                           "status says why");
    return true;
}

/* ---- the keys ---- */

static bool has_prefix(struct str id, struct str prefix)
{
    return id.len >= prefix.len && memcmp(id.ptr, prefix.ptr, prefix.len) == 0;
}

static struct str prefix_of(const struct verify_run *run, const struct target *t)
{
    const struct table_definition *table =
        definitions_table(run->definitions, str_from(t->table));

    if (table != NULL && table->join.given)
        return membership_prefix(run->arena, table->join.name);
    return run->lead->pattern.len > 0 ? membership_prefix(run->arena, str_from(t->table))
                                      : STR("");
}

/* The table whose ids begin like this one, or else the one that was asked for. */
static struct target *choose_target(const struct verify_run *run, struct str id)
{
    struct target *asked = run->n_targets == 1 ? run->targets[0] : NULL;

    for (size_t i = 0; i < run->n_targets; i++) {
        struct target *t = run->targets[i];

        if (run->n_targets > 1 && has_prefix(id, prefix_of(run, t)))
            return t;
        if (str_equal(str_from(t->table), run->table->table))
            asked = t;
    }
    return asked;
}

static bool resolve_key(struct verify_run *run, struct str given, struct verify_key *k,
                        struct err *err)
{
    struct buf id = {0}, key = {0};

    k->target = choose_target(run, given);
    if (k->target == NULL)
        return refuse(err, 422,
                      "several tables share index %" STR_FMT "; fix: name the table, or give "
                      "the whole _id",
                      STR_ARG(run->index));

    const struct str prefix = prefix_of(run, k->target);
    const struct plan *plan = ((struct reading *)k->target->plan)->plan;

    if (!has_prefix(given, prefix))
        buf_append(&id, prefix);
    buf_append(&id, given);

    const bool ok = plan_key_of_id(plan, buf_str(&id), &key, err) ||
                    refuse(err, 422, "key %" STR_FMT ": %s", STR_ARG(buf_str(&id)), err->msg);

    k->id = arena_copy(run->arena, buf_str(&id));
    k->key = arena_copy(run->arena, buf_str(&key));
    buf_free(&id);
    buf_free(&key);
    return ok;
}

static bool resolve_keys(struct verify_run *run, const struct verify_request *r,
                         struct err *err)
{
    run->keys = arena_alloc(run->arena, r->n_keys, sizeof(*run->keys));
    for (size_t i = 0; i < r->n_keys; i++)
        if (!resolve_key(run, r->keys[i], &run->keys[run->n_keys++], err))
            return false;
    return true;
}

/* ---- both sides ---- */

static bool add_end(struct verify_run *run, struct str topic, struct err *err)
{
    lock_acquire(&run->co->topics->lock);

    const struct topic *t = topics_find(run->co->topics, topic);
    struct pipeline *p = t == NULL ? NULL : t->pipeline;

    lock_release(&run->co->topics->lock);
    for (size_t i = 0; i < run->n_ends; i++)
        if (run->ends[i].pipeline == p)
            return true;
    if (p == NULL)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " is not running yet", STR_ARG(topic));
    run->ends[run->n_ends++].pipeline = p;
    return true;
}

/* The logs of all topics whose rows the documents show. */
static bool find_ends(struct verify_run *run, struct err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n_targets; i++)
        n += plan_n_topics(((struct reading *)run->targets[i]->plan)->plan);
    run->ends = arena_alloc(run->arena, n, sizeof(*run->ends));
    for (size_t i = 0; i < run->n_targets; i++) {
        const struct plan *p = ((struct reading *)run->targets[i]->plan)->plan;

        for (size_t k = 0; k < plan_n_topics(p); k++)
            if (!add_end(run, plan_topic(p, k), err))
                return false;
    }
    return true;
}

static bool names(struct str json, const char *text)
{
    return json.len > 0 && memmem(json.ptr, json.len, text, strlen(text)) != NULL;
}

static bool find_shards(struct verify_run *run, struct err *err)
{
    struct buf list = {0};

    if (names(run->lead->settings_json, "routing_partition_size"))
        return refuse(err, 422,
                      "a routing does not tell the shard of a document if `settings` has "
                      "routing_partition_size, so verify cannot find its copies");
    errand_live(run->errand);
    if (!search_shard_routings(run->co->opt.search, run->index, &list, err)) {
        buf_free(&list);
        err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
        return false;
    }
    run->shards = arena_alloc(run->arena, list.len / 2 + 1, sizeof(*run->shards));
    for (size_t at = 0; at < list.len;) {
        const char *end = memchr(list.ptr + at, ' ', list.len - at);
        const size_t n = end == NULL ? list.len - at : (size_t)(end - list.ptr) - at;

        run->shards[run->n_shards++] = arena_copy(run->arena, (struct str){list.ptr + at, n});
        at += n + 1;
    }
    buf_free(&list);
    return true;
}

/* A raw mapping may keep the engine from storing documents as they were sent. */
static void find_rules(struct verify_run *run)
{
    struct str ignored;

    run->rules = (struct verify_rules){
        .version_min = run->targets[0]->version_min,
        .compares_values = !json_find(run->lead->mapping_json, "/_source", &ignored),
        .allows_extra = names(run->lead->settings_json, "_pipeline\""),
    };
}

static bool begin(struct verify_run *run, const struct verify_request *r, struct err *err)
{
    if (!find_version(run, r->table, err) || !find_targets(run, err) ||
        !resolve_keys(run, r, err) || !find_ends(run, err) || !find_shards(run, err))
        return false;
    find_rules(run);
    run->from = read_position_version(pipeline_read_position(run->pipeline));
    run->links = pipeline_links(run->pipeline, &run->co->stop, LINKS_MS);
    return true;
}

static void end(struct verify_run *run)
{
    for (size_t i = 0; i < run->n_ends; i++)
        mysql_conn_close(run->ends[i].conn);
    read_links_fini(&run->links);
    for (size_t i = 0; i < run->n_targets; i++)
        target_unref(run->targets[i]);
    free(run->targets);
    definitions_unref(run->definitions);
}

static bool verify(struct errand *e, struct err *err)
{
    const struct question *q = e->ctx;
    struct verify_run run = {.co = q->co,
                             .errand = e,
                             .arena = e->arena,
                             .repair = q->request.repair,
                             .values = q->request.values,
                             .began_ms = clock_wall_ms()};
    const bool ok = begin(&run, &q->request, err) && verify_run_settle(&run, err) &&
                    (!run.repair || verify_run_repair(&run, err));

    if (ok)
        verify_run_report(&run, &e->text);
    end(&run);
    return ok;
}

/* ---- the call ---- */

static bool check(const struct coordinator *co, const struct verify_request *r, struct err *err)
{
    if (co->delivery == NULL)
        return refuse(err, 503,
                      "verify needs the running daemon; fix: start it with millrace run");
    if (r->n_keys == 0 || r->n_keys > VERIFY_KEYS_MAX)
        return refuse(err, 422, "verify which rows? give 1 to %d keys", VERIFY_KEYS_MAX);
    return true;
}

/* Copy the request: the errand may outlive its sender. */
static void copy_request(struct errand *e, struct coordinator *co,
                         const struct verify_request *r)
{
    struct question *q = e->ctx;
    struct str *keys = arena_alloc(e->arena, r->n_keys, sizeof(*keys));

    for (size_t i = 0; i < r->n_keys; i++)
        keys[i] = arena_copy(e->arena, r->keys[i]);
    *q = (struct question){co, *r};
    q->request.table = arena_copy(e->arena, r->table);
    q->request.keys = keys;
}

bool coordinator_verify(struct coordinator *co, const struct verify_request *r,
                        struct buf *json, struct err *err)
{
    struct buf who = {0};

    if (!check(co, r, err))
        return false;
    buf_printf(&who, "the engine, or a server with rows of %" STR_FMT, STR_ARG(r->table));

    struct errand *e = errand_new(who.ptr, sizeof(struct question));

    copy_request(e, co, r);

    const bool ok = errand_run(co->errands, e, verify, err);

    if (ok)
        buf_append(json, buf_str(&e->text));
    errand_leave(e);
    buf_free(&who);
    return ok;
}
