#include "config.h"

#include "rebalance/delayed/orders.h"

#include "rebalance/delayed/runs.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/turns.h"
#include "rebalance/watch/store_watch.h"

#include "src/base/clock.h"

#include <inttypes.h>
#include <stdio.h>

#define LISTED 100

/* ---- what there is ---- */

/* Nothing follows its rows any more, and a run finds them by what they led to. */
static bool is_gone(const struct definitions *d, struct str table)
{
    return definitions_table(d, table) == NULL;
}

static void append_snapshot(struct json_writer *w, const struct definitions *d,
                            const struct stored_snapshot *s)
{
    json_open_object(w);
    json_put_u64(w, STR("id"), s->id);
    json_put_string(w, STR("topic"), s->topic);
    json_put_string(w, STR("table"), s->table);
    json_put_bool(w, STR("table_is_gone"), is_gone(d, s->table));
    json_put_string(w, STR("op"), s->op);
    json_put_string(w, STR("row"), s->row_id);
    json_put_string(w, STR("day"), s->day);
    json_put_string(w, STR("status"), s->status);
    json_put_u64(w, STR("run"), s->run);
    coordinator_put_time(w, STR("created"), s->created_ms);
    coordinator_put_time(w, STR("updated"), s->updated_ms);
    if (s->row_json.len > 0)
        json_put_raw(w, STR("kept"), s->row_json);
    json_close_object(w);
}

bool coordinator_delayed(struct coordinator *co, const struct snapshot_filter *f,
                         struct buf *json, struct err *err)
{
    const size_t limit = f->limit > 0 ? f->limit : LISTED;
    struct snapshot_filter which = *f;
    struct json_writer w = {.out = json};
    struct arena *a = arena_new();
    struct stored_snapshot *list;
    size_t n;

    which.limit = limit + 1; /* to see whether more follow */

    const bool ok = coordinator_store_answers(co, err) &&
                    store_load_snapshots(co->opt.store, a, &which, &list, &n, err);

    if (ok) {
        struct definitions *d = coordinator_definitions(co);

        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/delayed/1");
        json_write_key(&w, STR("items"));
        json_open_array(&w);
        for (size_t i = 0; i < n && i < limit; i++)
            append_snapshot(&w, d, &list[i]);
        json_close_array(&w);
        if (n > limit)
            json_put_u64(&w, STR("more_after"), list[limit - 1].id);
        json_close_object(&w);
        definitions_unref(d);
    }
    arena_free(a);
    return ok;
}

static void append_run(struct coordinator *co, struct json_writer *w,
                       const struct snapshot_run *r)
{
    struct buf why = {0};

    coordinator_append_delayed_why(co, r->topic, &why);
    json_open_object(w);
    json_put_u64(w, STR("run"), r->id);
    json_put_string(w, STR("topic"), r->topic);
    json_put_string(w, STR("table"), r->table);
    json_put_u64(w, STR("one"), r->one);
    json_put_u64(w, STR("snapshots"), r->n_all);
    json_put_u64(w, STR("put"), r->n_done);
    json_put_string(w, STR("waits_for"), buf_str(&why));
    coordinator_put_time(w, STR("begun"), r->created_ms);
    json_close_object(w);
    buf_free(&why);
}

struct all_runs {
    const struct snapshot_run *list;
    size_t n;
};

/* What waits of a table that is not delayed any more is run by itself, after the run there is.
 */
static void append_run_before(const struct definitions *d, const struct snapshot_count *c,
                              const struct all_runs *runs, struct buf *why)
{
    const struct table_definition *t = definitions_table(d, c->table);

    for (size_t i = 0; i < runs->n && t != NULL && !t->delayed && why->len == 0; i++)
        if (str_equal(runs->list[i].topic, c->topic))
            buf_printf(why, "delayed run %" PRIu64 ", which goes on; then it is run by itself",
                       runs->list[i].id);
}

static void append_count(struct json_writer *w, const struct catalogue *versions,
                         const struct definitions *d, const struct all_runs *runs,
                         const struct snapshot_count *c)
{
    struct buf why = {0};

    turns_append_build(versions, d, c->table, &why);
    append_run_before(d, c, runs, &why);
    json_open_object(w);
    json_put_string(w, STR("topic"), c->topic);
    json_put_string(w, STR("table"), c->table);
    json_put_bool(w, STR("table_is_gone"), is_gone(d, c->table));
    json_put_u64(w, STR("snapshots"), c->n_waiting);
    coordinator_put_time(w, STR("oldest"), c->oldest_ms);
    json_put_string(w, STR("waits_for"), buf_str(&why));
    json_close_object(w);
    buf_free(&why);
}

static void append_waiting(struct coordinator *co, struct json_writer *w,
                           const struct all_runs *runs, const struct snapshot_count *counts,
                           size_t n)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *versions = coordinator_catalogue(co);

    json_write_key(w, STR("waiting"));
    json_open_array(w);
    for (size_t i = 0; i < n; i++)
        if (counts[i].n_waiting > 0)
            append_count(w, versions, d, runs, &counts[i]);
    json_close_array(w);
    catalogue_unref(versions);
    definitions_unref(d);
}

bool coordinator_delayed_runs(struct coordinator *co, bool waiting, struct buf *json,
                              struct err *err)
{
    struct json_writer w = {.out = json};
    struct arena *a = arena_new();
    struct snapshot_run *runs;
    struct snapshot_count *counts = NULL;
    size_t n_runs, n_counts = 0;
    const bool ok =
        coordinator_store_answers(co, err) &&
        store_load_snapshot_runs(co->opt.store, a, STR(""), &runs, &n_runs, err) &&
        (!waiting || store_count_snapshots(co->opt.store, a, &counts, &n_counts, err));

    if (ok) {
        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/delayed-runs/1");
        json_write_key(&w, STR("items"));
        json_open_array(&w);
        for (size_t i = 0; i < n_runs; i++)
            append_run(co, &w, &runs[i]);
        json_close_array(&w);
        if (waiting)
            append_waiting(co, &w, &(struct all_runs){runs, n_runs}, counts, n_counts);
        json_close_object(&w);
    }
    arena_free(a);
    return ok;
}

/* ---- whom an order concerns ---- */

struct topic_list {
    struct arena *a;
    struct str *list;
    size_t n, cap;
};

static void add_topic(struct topic_list *l, struct str topic)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_equal(l->list[i], topic))
            return;
    if (l->n < l->cap)
        l->list[l->n++] = arena_copy(l->a, topic);
}

static bool add_by_ids(struct coordinator *co, const struct delayed_order *o,
                       struct topic_list *l, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < o->n_ids; i++) {
        const struct snapshot_filter f = {.id = o->ids[i], .limit = 1};
        struct stored_snapshot *list;
        size_t n;

        ok = store_load_snapshots(co->opt.store, l->a, &f, &list, &n, err);
        if (ok && n > 0)
            add_topic(l, list[0].topic);
        else if (ok)
            ok = refuse(err, 404,
                        "there is no snapshot %" PRIu64 "; fix: see millrace delayed list",
                        o->ids[i]);
    }
    return ok;
}

/* Of a table that is gone the snapshots tell the topic. */
static bool add_by_counts(struct coordinator *co, const struct delayed_order *o,
                          struct topic_list *l, struct err *err)
{
    struct snapshot_count *counts = NULL;
    size_t n;

    if (!store_count_snapshots(co->opt.store, l->a, &counts, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (counts[i].n_waiting > 0 &&
            (o->table.len == 0 || str_equal(o->table, counts[i].table)))
            add_topic(l, counts[i].topic);
    return true;
}

static bool add_by_table(struct coordinator *co, struct str table, struct topic_list *l,
                         struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    const struct table_definition *t = definitions_table(d, table);
    const struct topic_definition *topic = definitions_topic_of(d, table);
    const bool ok =
        l->n > 0 || (t != NULL && t->delayed && topic != NULL) ||
        refuse(err, t == NULL ? 404 : 422,
               "%" STR_FMT " is no delayed table, and nothing of it waits; fix: millrace "
               "delayed list shows what waits, and `delayed: true` in its definition delays it",
               STR_ARG(table));

    if (ok && topic != NULL)
        add_topic(l, topic->name);
    definitions_unref(d);
    return ok;
}

/* Also where nothing waits: a run of it has succeeded then. */
static void add_by_definitions(struct coordinator *co, struct topic_list *l)
{
    struct definitions *d = coordinator_definitions(co);

    for (size_t i = 0; i < d->n_tables; i++) {
        const struct topic_definition *topic =
            d->tables[i].delayed ? definition_topic(d, &d->tables[i]) : NULL;

        if (topic != NULL)
            add_topic(l, topic->name);
    }
    definitions_unref(d);
}

bool coordinator_topics_of_delayed(struct coordinator *co, const struct delayed_order *o,
                                   struct arena *a, struct str **topics, size_t *n,
                                   struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    struct topic_list l = {.a = a, .cap = d->n_topics + o->n_ids + 8};
    bool ok;

    definitions_unref(d);
    l.list = arena_alloc(a, l.cap, sizeof(*l.list));
    ok = o->n_ids > 0 ? add_by_ids(co, o, &l, err) : add_by_counts(co, o, &l, err);
    if (ok && o->n_ids == 0 && o->table.len > 0)
        ok = add_by_table(co, o->table, &l, err);
    if (ok && o->n_ids == 0 && o->table.len == 0)
        add_by_definitions(co, &l);
    if (ok && o->topic.len > 0) { /* one of them */
        l.n = 0;
        add_topic(&l, o->topic);
    }
    *topics = l.list;
    *n = l.n;
    return ok;
}

/* ---- run ---- */

static bool refuse_busy(const struct snapshot_run *r, struct err *err)
{
    return refuse(err, 503,
                  "delayed run %" PRIu64 " of topic %" STR_FMT " goes on since %" PRId64
                  " s (%" STR_FMT
                  "); fix: wait for it, millrace delayed runs shows how far it is",
                  r->id, STR_ARG(r->topic), (clock_wall_ms() - r->created_ms) / 1000,
                  STR_ARG(r->one != 0        ? STR("one snapshot")
                          : r->table.len > 0 ? r->table
                                             : STR("all tables")));
}

/* Of a run of one snapshot the table tells which jobs are its. */
static bool name_one(struct coordinator *co, struct arena *a, uint64_t id,
                     struct snapshot_run *run, struct err *err)
{
    const struct snapshot_filter f = {.id = id, .limit = 1};
    struct stored_snapshot *list;
    size_t n;

    if (!store_load_snapshots(co->opt.store, a, &f, &list, &n, err))
        return false;
    run->one = id;
    run->table = n > 0 ? list[0].table : STR("");
    return true;
}

bool coordinator_delayed_may_run(struct coordinator *co, const struct delayed_order *o,
                                 const struct str *topics, size_t n, struct err *err)
{
    struct arena *a = arena_new();
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        struct snapshot_run run = {.table = o->table};

        ok = o->n_ids == 0 || name_one(co, a, o->ids[0], &run, err);
        run.topic = topics[i];
        ok = ok && coordinator_may_run_delayed(co, &run, err);
    }
    arena_free(a);
    return ok;
}

/* What an order has begun. */
struct begun_runs {
    uint64_t count;       /* snapshots */
    struct json_writer w; /* the list of jobs */
};

static bool run_topic(struct coordinator *co, struct arena *a, const struct delayed_order *o,
                      struct str topic, struct begun_runs *begun, struct err *err)
{
    struct snapshot_run run = {.table = o->table};
    bool busy;

    if ((o->n_ids > 0 && !name_one(co, a, o->ids[0], &run, err)) ||
        !coordinator_begin_delayed(co, a, topic, &run, &busy, err))
        return false;
    if (busy)
        return refuse_busy(&run, err);
    begun->count += run.n_all;
    if (run.n_all > 0) {
        char job[40];

        snprintf(job, sizeof(job), "delayed-%" PRIu64, run.id);
        json_write_string(&begun->w, str_from(job));
    }
    stop_nudge(&co->stop);
    return true;
}

static void answer_begun(struct buf *json, uint64_t count, struct str jobs)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delayed-run/1");
    json_put_u64(&w, STR("count"), count);
    json_put_raw(&w, STR("jobs"), jobs);
    json_close_object(&w);
}

bool coordinator_delayed_run(struct coordinator *co, const struct delayed_order *o,
                             struct buf *json, struct err *err)
{
    struct arena *a = arena_new();
    struct buf jobs = {0};
    struct begun_runs begun = {.w = {.out = &jobs}};
    struct str *topics;
    size_t n;
    bool ok = coordinator_is_daemon(co, "delayed run", err) &&
              coordinator_topics_of_delayed(co, o, a, &topics, &n, err) &&
              coordinator_delayed_may_run(co, o, topics, n, err);

    json_open_array(&begun.w);
    for (size_t i = 0; ok && i < n; i++)
        ok = run_topic(co, a, o, topics[i], &begun, err);
    json_close_array(&begun.w);
    if (ok) {
        store_watch_read(co->store_watch); /* every reader finds the jobs */
        answer_begun(json, begun.count, buf_str(&jobs));
    }
    buf_free(&jobs);
    arena_free(a);
    return ok;
}

/* ---- done ---- */

static void answer_done(struct buf *json, uint64_t count, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delayed-done/1");
    json_put_u64(&w, STR("count"), count);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

static bool mark(struct coordinator *co, struct str topic, uint64_t id, bool dry_run,
                 uint64_t *count, struct err *err)
{
    bool found;

    if (!store_mark_snapshot(co->opt.store, topic, id, clock_wall_ms(), dry_run, &found, err))
        return false;
    *count += found;
    return true;
}

bool coordinator_delayed_done(struct coordinator *co, const struct delayed_order *o,
                              struct buf *json, struct err *err)
{
    struct arena *a = arena_new();
    struct str *topics;
    uint64_t count = 0;
    size_t n;
    bool ok = coordinator_topics_of_delayed(co, o, a, &topics, &n, err);

    for (size_t i = 0; ok && i < n; i++)
        for (size_t k = 0; ok && k < o->n_ids; k++)
            ok = mark(co, topics[i], o->ids[k], o->dry_run, &count, err);
    if (ok)
        answer_done(json, count, o->dry_run);
    arena_free(a);
    return ok;
}
