#include "config.h"

#include "rebalance/verify/look/copies.h"
#include "rebalance/verify/run.h"
#include "rebalance/version/shape.h"

#include "src/mysql/mysql.h"
#include "sync/checkpoint/read_position.h"
#include "sync/routing/routing.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINKS_MS 4000 /* for a read to include what the stream has read */

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

static bool is_current(const struct stored_version *v)
{
    return str_equal(v->state, STR("available")) || str_equal(v->state, STR("waiting")) ||
           catalogue_is_kept(v);
}

/* Returns NULL and a refusal if there is none that is current. number 0: what searches use. */
static const struct stored_version *choose_version(const struct catalogue *c,
                                                   const struct table_definition *t,
                                                   struct str index, uint64_t number,
                                                   struct err *err)
{
    const struct stored_version *v = number == 0 ? catalogue_version(c, index, STR("available"))
                                                 : catalogue_number(c, index, number);

    if (v != NULL && (number == 0 || is_current(v)))
        return v;
    if (number == 0)
        refuse(err, 409,
               "table %" STR_FMT " has no index that searches use; fix: millrace index create "
               "%" STR_FMT,
               STR_ARG(table_name(t)), STR_ARG(table_name(t)));
    else
        refuse(err, 409,
               "version %" PRIu64 " of index %" STR_FMT
               " is not current, so it is not compared; "
               "fix: millrace version list %" STR_FMT " shows which are",
               number, STR_ARG(index), STR_ARG(index));
    return NULL;
}

/* The version of a build; ERR_REJECT if it was deleted meanwhile. */
static const struct stored_version *
version_of_build(const struct catalogue *c, struct str index, uint64_t number, struct err *err)
{
    const struct stored_version *v = catalogue_number(c, index, number);

    if (v == NULL)
        err_set(err, ERR_REJECT,
                "version %" PRIu64 " of index %" STR_FMT " was deleted meanwhile", number,
                STR_ARG(index));
    return v;
}

static bool find_version(struct verify_run *run, struct str table, uint64_t number,
                         struct err *err)
{
    struct definitions *now = coordinator_definitions(run->co);
    struct catalogue *c = coordinator_catalogue(run->co);
    const struct table_definition *t = coordinator_find_table(now, table, err);
    bool ok = t != NULL;

    if (ok) {
        const struct str index = table_index(definition_lead(now, t));
        const struct stored_version *v = run->of_build
                                             ? version_of_build(c, index, number, err)
                                             : choose_version(c, t, index, number, err);

        ok = v != NULL && use_version(run, v, err);
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

    run->pipeline = t == NULL || t->pipeline == NULL ? NULL : pipeline_ref(t->pipeline);
    if (run->pipeline != NULL)
        run->targets = pipeline_targets(run->pipeline, run->index, &run->n_targets);
    lock_release(&run->co->topics->lock);
    if (run->pipeline == NULL)
        return err_set(err, ERR_RETRY,
                       "topic %" STR_FMT " is not running yet; fix: millrace status says why",
                       STR_ARG(run->topic));
    if (run->n_targets == 0)
        return err_set(err, ERR_RETRY,
                       "topic %" STR_FMT " does not follow index %" STR_FMT
                       " now: its table is stopped, or the topic has just begun; fix: millrace "
                       "status says which",
                       STR_ARG(run->topic), STR_ARG(run->index));
    for (size_t i = 0; i < run->n_targets; i++)
        if (__atomic_load_n(&((struct reading *)run->targets[i]->plan)->stopped,
                            __ATOMIC_RELAXED))
            return err_set(err, ERR_RETRY,
                           "table %s is stopped, so its index does not follow; fix: millrace "
                           "status says why",
                           run->targets[i]->table);
    return true;
}

/* ---- both sides ---- */

static bool add_end(struct verify_run *run, struct str topic, struct err *err)
{
    lock_acquire(&run->co->topics->lock);

    const struct topic *t = topics_find(run->co->topics, topic);
    struct pipeline *p = t == NULL ? NULL : t->pipeline;
    bool has = false;

    for (size_t i = 0; i < run->n_ends; i++)
        has = has || run->ends[i].pipeline == p;
    if (p != NULL && !has)
        run->ends[run->n_ends++].pipeline = pipeline_ref(p);
    lock_release(&run->co->topics->lock);
    if (p == NULL)
        return err_set(err, ERR_RETRY,
                       "topic %" STR_FMT " is not running yet; fix: millrace status says why",
                       STR_ARG(topic));
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

static bool has_plain_routing(const struct verify_run *run, struct err *err)
{
    return !names(run->lead->settings_json, "routing_partition_size") ||
           refuse(err, 422,
                  "a routing does not tell the shard of a document if `settings` has "
                  "routing_partition_size, so verify cannot find its copies");
}

bool verify_run_find_shards(struct verify_run *run, struct err *err)
{
    verify_run_live(run);
    return copies_find_shards(run->co->opt.search, run->index, run->arena, &run->shards,
                              &run->n_shards, err);
}

bool verify_run_is_piped(const struct verify_run *run)
{
    return definitions_index_is_piped(run->definitions, table_index(run->lead));
}

/* A raw mapping may keep the engine from storing documents as they were sent. */
static void find_rules(struct verify_run *run)
{
    struct str ignored;

    run->rules = (struct verify_rules){
        .version_min = run->targets[0]->version_min,
        .compares_values = !json_find(run->lead->mapping_json, "/_source", &ignored),
        .allows_extra = verify_run_is_piped(run),
    };
}

static void end_links(struct verify_run *run)
{
    read_links_fini(&run->links);
    pipeline_unref(run->links_of);
    run->links_of = NULL;
}

/* A run that goes on from another one keeps its connections. */
static void find_links(struct verify_run *run)
{
    if (run->links_of == run->pipeline)
        return;
    end_links(run);
    run->links = pipeline_links(run->pipeline, run->stop, LINKS_MS);
    run->links_of = pipeline_ref(run->pipeline);
}

bool verify_run_begin(struct verify_run *run, struct str table, uint64_t number,
                      struct err *err)
{
    if (!find_version(run, table, number, err) || !has_plain_routing(run, err) ||
        !find_targets(run, err) || !find_ends(run, err))
        return false;
    find_rules(run);
    find_links(run);
    return true;
}

void verify_run_end(struct verify_run *run)
{
    for (size_t i = 0; i < run->n_ends; i++) {
        mysql_conn_close(run->ends[i].conn);
        pipeline_unref(run->ends[i].pipeline);
    }
    end_links(run);
    pipeline_unref(run->pipeline);
    for (size_t i = 0; i < run->n_targets; i++)
        target_unref(run->targets[i]);
    free(run->targets);
    definitions_unref(run->definitions);
}
