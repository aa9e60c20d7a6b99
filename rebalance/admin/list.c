#include "config.h"

#include "rebalance/fill/bucket.h"
#include "rebalance/fill/job.h"
#include "rebalance/fill/parameters.h"
#include "rebalance/shared/others.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/task/task.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/progress.h"
#include "rebalance/version/retired.h"
#include "rebalance/version/waiting.h"
#include "rebalance/view/fan_out.h"

#include "rebalance/access/list.h"
#include "rebalance/admin/bucket_list.h"
#include "rebalance/admin/log_list.h"
#include "rebalance/admin/questions.h"
#include "rebalance/admin/run_list.h"
#include "rebalance/view/view.h"

#include "src/base/clock.h"
#include "src/store/store.h"
#include "sync/definition/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct lister {
    struct coordinator *co;
    struct definitions *d;
    struct catalogue *c;
    struct str name; /* empty: all */
    bool sees_rows;  /* the caller does */
    const struct list_order *order;
    uint64_t more_after; /* the last item, of a page of the store's; 0: no more follow */
    struct json_writer *w;
    size_t n;
};

static bool wanted(struct lister *l, struct str name)
{
    const bool is = l->name.len == 0 || str_equal(l->name, name);

    l->n += is;
    return is;
}

/* Definitions without secrets. */
static bool list_topics(struct lister *l, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < l->d->n_topics; i++)
        if (wanted(l, l->d->topics[i].name)) {
            struct topic_definition shown = l->d->topics[i];
            struct buf json = {0};

            if (!l->order->sees_files)
                server_hide_files(&shown.server);
            topic_append_json(&shown, &json);
            json_write_raw(l->w, buf_str(&json));
            buf_free(&json);
        }
    return true;
}

static bool list_databases(struct lister *l, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < l->d->n_databases; i++)
        if (wanted(l, l->d->databases[i].name)) {
            struct database_definition shown = l->d->databases[i];
            struct buf json = {0};

            if (!l->order->sees_files)
                server_hide_files(&shown.server);
            database_append_json(&shown, &json);
            json_write_raw(l->w, buf_str(&json));
            buf_free(&json);
        }
    return true;
}

/* A table's JSON omits defaults.  Add the index, which readers want to see. */
static void write_with_index(struct json_writer *w, const struct table_definition *t,
                             struct str json)
{
    struct buf whole = {0};

    if (t->index.len == 0 && json.len > 1) {
        buf_append(&whole, STR("{\"index\":"));
        buf_append_json(&whole, table_index(t));
        buf_append_char(&whole, ',');
        json = (struct str){json.ptr + 1, json.len - 1};
    }
    buf_append(&whole, json);
    json_write_raw(w, buf_str(&whole));
    buf_free(&whole);
}

static bool list_tables(struct lister *l, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < l->d->n_tables; i++)
        if (wanted(l, table_name(&l->d->tables[i]))) {
            struct buf json = {0};

            table_append_json(&l->d->tables[i], &json);
            write_with_index(l->w, &l->d->tables[i], buf_str(&json));
            buf_free(&json);
        }
    return true;
}

static void list_relations_of(struct lister *l, struct str table,
                              const struct relation_definition *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_open_object(l->w);
        json_put_string(l->w, STR("in"), table);
        json_put_string(l->w, STR("as"), relation_as(&r[i]));
        json_put_string(l->w, STR("table"), r[i].table);
        json_put_bool(l->w, STR("many"), r[i].many);
        json_put_bool(l->w, STR("nested"), r[i].nested);
        json_close_object(l->w);
        list_relations_of(l, table, r[i].relations, r[i].n_relations);
    }
}

static bool list_relations(struct lister *l, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < l->d->n_tables; i++)
        if (wanted(l, table_name(&l->d->tables[i])))
            list_relations_of(l, table_name(&l->d->tables[i]), l->d->tables[i].relations,
                              l->d->tables[i].n_relations);
    return true;
}

static struct str lead_name(const struct definitions *d, struct str index)
{
    const struct table_definition *lead = definition_lead_of(d, index);

    return lead != NULL ? table_name(lead) : index;
}

static bool list_versions(struct lister *l, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < l->c->n_versions; i++) {
        const struct stored_version *v = &l->c->versions[i];
        struct buf name = {0};

        if (!wanted(l, v->index))
            continue;
        coordinator_index_name(&name, v->index, v->number);
        json_open_object(l->w);
        json_put_string(l->w, STR("index"), v->index);
        json_put_u64(l->w, STR("version"), v->number);
        json_put_string(l->w, STR("name"), buf_str(&name));
        json_put_string(l->w, STR("state"), v->state);
        json_put_string(l->w, STR("topic"), v->topic);
        json_put_u64(l->w, STR("epoch"), v->epoch);
        coordinator_put_time(l->w, STR("created"), v->created_ms);
        coordinator_put_time(l->w, STR("finished"), v->finished_ms);
        coordinator_put_wait(l->w, catalogue_wait(l->c, v), lead_name(l->d, v->index));
        json_close_object(l->w);
        buf_free(&name);
    }
    return true;
}

static bool list_indexes(struct lister *l, struct err *err)
{
    return coordinator_list_indexes(l->co, l->name, l->w, &l->n, err);
}

/* The store has the wait first; our catalogue learns of it a moment later. */
static struct str state_of(const struct lister *l, const struct stored_job *j)
{
    const struct stored_version *v = catalogue_number(l->c, j->index, j->version);
    const bool unknown =
        str_equal(j->state, STR(JOB_WAITING)) && (v == NULL || catalogue_wait(l->c, v) == NULL);

    return unknown ? STR("running") : j->state;
}

static void append_verification(struct lister *l, const struct stored_job *j)
{
    struct verify_progress p = {
        .done = j->rows_done, .total = j->rows_total, .remaining_s = -1};

    (void)verify_jobs_find(l->co->verifies, j->id, &p);
    verify_progress_put(l->w, &p);
}

/* Set its counts, and if it is ours, why it does not go on. */
static void look_at_unknown(struct lister *l, const struct stored_job *j, struct build_view *b)
{
    if (coordinator_is_others_version(l->co, j->index, j->version))
        return;
    b->s.phase = "unknown";
    err_set(&b->s.why, ERR_RETRY,
            "a newer Millrace made this %" STR_FMT
            " job, and this one does not know what it is",
            STR_ARG(j->kind));
    snprintf(b->fix, sizeof(b->fix),
             "upgrade this node, or move the topic to one that was upgraded");
}

/* As the store knows, so that every node shows the same. */
static void pace_of_buckets(const struct store_copy *stored, const struct stored_job *j,
                            struct index_build_status *s)
{
    const struct job_parameters p = job_parameters_read(j->parameters);
    struct bucket_sum sum;

    bucket_list_sum(stored->jobs, stored->n_jobs, j, &sum);
    if (sum.n == 0 || sum.n_done == sum.n)
        return;
    if (s->rows_total == 0) /* they are still being counted */
        s->rows_total = sum.expected;
    s->rows_done = sum.rows_done;
    s->rate = (double)sum.rate;
    s->rate_limit = p.rate;
    s->growth = p.growth;
    s->slow = s->slow || p.slow; /* its own node has said why by now */
    s->remaining_s = job_remaining_s(&(struct job_pace){.rate = s->rate - (double)p.growth},
                                     sum.rows_done, s->rows_total);
}

/* At the pace of the whole run so far. */
static void append_replay(struct lister *l, const struct stored_job *j)
{
    const int64_t ms = j->updated_ms - j->created_ms;
    const double rate = ms > 0 ? (double)j->rows_done * 1000 / (double)ms : 0;
    const int64_t left =
        job_remaining_s(&(struct job_pace){.rate = rate}, j->rows_done, j->rows_total);

    json_put_cstr(l->w, STR("phase"), j->rows_done > 0 ? "documents" : "keys");
    json_put_u64(l->w, STR("rows_done"), job_shown_done(j->rows_done, j->rows_total));
    json_put_u64(l->w, STR("rows_total"), j->rows_total);
    json_put_double(l->w, STR("rate"), (double)(int64_t)rate);
    if (left >= 0)
        json_put_i64(l->w, STR("remaining_seconds"), left);
    else
        json_put_null(l->w, STR("remaining_seconds"));
    json_put_string(l->w, STR("waits_for"), j->error);
    json_put_cstr(l->w, STR("fix"), "");
}

static void append_pace(struct lister *l, const struct store_copy *stored,
                        const struct stored_job *j)
{
    if (str_equal(j->kind, STR(JOB_REPLAY))) {
        append_replay(l, j);
        return;
    }
    if (verify_jobs_have_kind(j->kind)) {
        append_verification(l, j);
        return;
    }

    const struct stored_version version = {.index = j->index, .number = j->version};
    const struct stored_version *v = catalogue_number(l->c, j->index, j->version);
    struct build_view b = {.s = {.remaining_s = -1, .phase = "elsewhere"}};

    if (!str_equal(j->kind, STR(JOB_INDEX))) {
        look_at_unknown(l, j, &b);
    } else if (!coordinator_is_others_version(l->co, j->index, j->version)) {
        lock_acquire(&l->co->topics->lock);
        coordinator_look_at_build(l->co, l->d, l->c, v != NULL ? v : &version, &b);
        lock_release(&l->co->topics->lock);
    }
    if (!b.runs) { /* use the stored counts */
        b.s.rows_done = j->rows_done;
        b.s.rows_total = j->rows_total;
    }
    pace_of_buckets(stored, j, &b.s);
    coordinator_say_slow(&b, j->table);
    json_put_cstr(l->w, STR("phase"), b.s.phase);
    json_put_u64(l->w, STR("rows_done"), job_shown_done(b.s.rows_done, b.s.rows_total));
    json_put_u64(l->w, STR("rows_total"), b.s.rows_total);
    json_put_double(l->w, STR("rate"), (double)(int64_t)b.s.rate);
    if (b.s.remaining_s >= 0)
        json_put_i64(l->w, STR("remaining_seconds"), b.s.remaining_s);
    else
        json_put_null(l->w, STR("remaining_seconds"));
    json_put_u64(l->w, STR("growth"), b.s.growth);
    json_put_bool(l->w, STR("slow"), b.s.slow);
    json_put_cstr(l->w, STR("waits_for"), b.s.why.msg);
    json_put_cstr(l->w, STR("fix"), b.fix);
}

static bool is_named(const struct lister *l, const struct stored_job *j)
{
    struct buf id = {0};

    buf_printf(&id, "%" PRIu64, j->id);

    const bool is = str_equal(l->name, buf_str(&id)) || str_equal(l->name, j->index) ||
                    str_equal(l->name, j->table);

    buf_free(&id);
    return is;
}

static bool is_filled(const struct stored_job *j)
{
    return str_equal(j->kind, STR(JOB_BUCKET)) || str_equal(j->kind, STR(JOB_PART));
}

/* Those of a build, or of a delayed run, come with it where it is asked for by its name. */
static bool is_listed(const struct lister *l, const struct store_copy *stored,
                      const struct stored_job *j)
{
    bool is = l->name.len == 0 ? !is_filled(j) : is_named(l, j);

    is = is || run_list_has(l->d, l->c, stored, l->name, j);
    for (size_t i = 0; i < stored->n_jobs && !is && l->name.len > 0; i++)
        is = bucket_list_is_of(j, &stored->jobs[i]) && is_named(l, &stored->jobs[i]);
    return is;
}

static void put_job(struct lister *l, const struct store_copy *stored,
                    struct bucket_lister *buckets, const struct stored_job *j)
{
    struct buf id = {0};

    buf_printf(&id, "%" PRIu64, j->id);
    json_open_object(l->w);
    json_put_string(l->w, STR("id"), buf_str(&id));
    json_put_string(l->w, STR("kind"), j->kind);
    json_put_string(l->w, STR("index"), j->index);
    json_put_string(l->w, STR("table"), j->table);
    json_put_u64(l->w, STR("version"), j->version);
    json_put_string(l->w, STR("state"), state_of(l, j));
    if (is_filled(j)) {
        bucket_list_put(l->w, buckets, j);
    } else {
        append_pace(l, stored, j);
        if (str_equal(j->kind, STR(JOB_INDEX)))
            bucket_list_put_sum(l->w, stored->jobs, stored->n_jobs, j);
    }
    json_put_string(l->w, STR("error"),
                    is_filled(j) && !str_equal(j->state, STR(BUCKET_ERROR))
                        ? STR("") /* it is why the bucket waits */
                        : j->error);
    coordinator_put_time(l->w, STR("created"), j->created_ms);
    json_close_object(l->w);
    buf_free(&id);
}

static bool list_jobs(struct lister *l, struct err *err)
{
    struct store_copy *stored = store_watch_copy(l->co->store_watch);
    struct cluster_view cluster = {0};

    store_watch_want(l->co->store_watch);
    if (stored == NULL)
        return err_set(err, ERR_RETRY, "the store has not answered yet; fix: try again");
    if (coordinator_is_shared(l->co))
        cluster_look(l->co->cluster, &cluster);

    struct bucket_lister buckets = {.jobs = stored->jobs,
                                    .n = stored->n_jobs,
                                    .cluster = &cluster,
                                    .sees_rows = l->sees_rows};

    for (size_t i = 0; i < stored->n_jobs; i++)
        if (is_listed(l, stored, &stored->jobs[i])) {
            l->n++;
            put_job(l, stored, &buckets, &stored->jobs[i]);
        }
    cluster_view_free(&cluster);
    coordinator_list_fan_outs(l->co, stored, l->name, l->w, &l->n);
    coordinator_list_runs(l->co, stored, l->name, l->w, &l->n);
    tasks_list(l->co->tasks, l->name, l->w, &l->n);
    store_copy_unref(stored);
    return true;
}

static bool list_log(struct lister *l, struct err *err)
{
    return coordinator_list_log(l->co, l->c, l->order, l->w, &l->n, &l->more_after, err);
}

static bool list_users(struct lister *l, struct err *err)
{
    (void)err;
    access_list_users(&l->c->accounts, l->name, clock_wall_ms(), l->w, &l->n);
    return true;
}

static bool list_tokens(struct lister *l, struct err *err)
{
    (void)err;
    access_list_tokens(&l->c->accounts, l->name, clock_wall_ms(), l->w, &l->n);
    return true;
}

static const struct noun {
    const char *name;
    bool (*list)(struct lister *l, struct err *err);
    const char *asked_by; /* what a name stands for */
    const char *named_in; /* the noun whose list has these names */
    bool has_revision;    /* it shows definitions */
} nouns[] = {
    {"topic", list_topics, "topic", "topic", true},
    {"database", list_databases, "database", "database", true},
    {"table", list_tables, "table", "table", true},
    {"relation", list_relations, "table", "table", true},
    {"version", list_versions, "version of index", "version", false},
    {"index", list_indexes, "index", "index", false},
    {"job", list_jobs, "job", "job", false},
    {"log", list_log, "event", "log", false},
    {"user", list_users, "user", "user", false},
    {"token", list_tokens, "token", "token", false},
};

static const struct noun *find_noun(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(nouns); i++)
        if (str_equal(str_from(nouns[i].name), name))
            return &nouns[i];
    return NULL;
}

bool coordinator_list(struct coordinator *co, const struct list_order *o, int64_t *revision,
                      struct buf *json, struct err *err)
{
    const struct noun *kind = find_noun(o->noun);
    struct json_writer w = {.out = json};
    struct buf schema = {0};

    if (kind == NULL)
        return refuse(err, 404, "there is no list of %" STR_FMT, STR_ARG(o->noun));

    struct lister l = {.co = co,
                       .d = coordinator_definitions(co),
                       .c = coordinator_catalogue(co),
                       .name = o->name,
                       .sees_rows = o->sees_rows,
                       .order = o,
                       .w = &w};

    buf_printf(&schema, "millrace/%s/1", kind->name);
    json_open_object(&w);
    json_put_string(&w, STR("schema"), buf_str(&schema));
    json_write_key(&w, STR("items"));
    json_open_array(&w);

    bool ok = kind->list(&l, err);

    json_close_array(&w);
    *revision = kind->has_revision ? (int64_t)l.d->revision : -1;
    if (kind->has_revision)
        json_put_u64(&w, STR("revision"), l.d->revision);
    if (l.more_after > 0)
        json_put_u64(&w, STR("more_after"), l.more_after);
    json_close_object(&w);
    if (ok && o->name.len > 0 && l.n == 0)
        ok = refuse(err, 404, "there is no %s %" STR_FMT "; fix: see millrace %s list",
                    kind->asked_by, STR_ARG(o->name), kind->named_in);
    buf_free(&schema);
    definitions_unref(l.d);
    catalogue_unref(l.c);
    return ok;
}
