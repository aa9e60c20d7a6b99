#include "config.h"

#include "rebalance/node.h"

#include "src/store.h"
#include "sync/model/definition_export.h"

#include <inttypes.h>
#include <stdlib.h>

#define LOG_MAX 200

struct lister {
    struct coordinator *co;
    struct definitions *d;
    struct catalogue *c;
    struct str name; /* empty: all */
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
            struct buf json = {0};

            topic_append_json(&l->d->topics[i], &json);
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
            struct buf json = {0};

            database_append_json(&l->d->databases[i], &json);
            json_write_raw(l->w, buf_str(&json));
            buf_free(&json);
        }
    return true;
}

/* A table's JSON leaves out what is a default; which index it is, is worth saying. */
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

static bool list_versions(struct lister *l, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < l->c->n_versions; i++) {
        const struct stored_version *v = &l->c->versions[i];
        struct buf name = {0};

        if (!wanted(l, v->index))
            continue;
        node_index_name(&name, v->index, v->number);
        json_open_object(l->w);
        json_put_string(l->w, STR("index"), v->index);
        json_put_u64(l->w, STR("version"), v->number);
        json_put_string(l->w, STR("name"), buf_str(&name));
        json_put_string(l->w, STR("state"), v->state);
        json_put_string(l->w, STR("topic"), v->topic);
        json_put_u64(l->w, STR("epoch"), v->epoch);
        node_put_time(l->w, STR("created"), v->created_ms);
        node_put_time(l->w, STR("finished"), v->finished_ms);
        json_close_object(l->w);
        buf_free(&name);
    }
    return true;
}

/* Under the lock: what the engine says of the index that is built. */
static struct err why_held(const struct coordinator *co, const struct stored_job *j)
{
    struct buf index = {0};

    node_index_name(&index, j->index, j->version);

    const struct held_index *held = node_find_held(co, buf_str(&index));

    buf_free(&index);
    return held != NULL ? held->why : (struct err){0};
}

static void append_pace(struct lister *l, const struct stored_job *j)
{
    uint64_t done = j->rows_done, total = j->rows_total;
    double rate = 0;
    int64_t remaining = -1;
    const char *phase = "waiting";
    struct index_build_status s = {0};

    pthread_mutex_lock(&l->co->lock);
    for (size_t i = 0; i < l->co->n_builds; i++)
        if (str_equal(str_from(index_build_alias(l->co->builds[i])), j->index) &&
            index_build_number(l->co->builds[i]) == j->version) {
            s = index_build_status(l->co->builds[i]);
            done = s.rows_done;
            total = s.rows_total;
            rate = s.rate;
            remaining = s.remaining_s;
            phase = s.phase;
        }
    if (s.why.kind == ERR_NONE)
        s.why = why_held(l->co, j);
    pthread_mutex_unlock(&l->co->lock);
    json_put_cstr(l->w, STR("phase"), phase);
    json_put_u64(l->w, STR("rows_done"), done < total ? done : total);
    json_put_u64(l->w, STR("rows_total"), total);
    json_put_double(l->w, STR("rate"), (double)(int64_t)rate);
    if (remaining >= 0)
        json_put_i64(l->w, STR("remaining_seconds"), remaining);
    else
        json_put_null(l->w, STR("remaining_seconds"));
    json_put_cstr(l->w, STR("waits_for"), s.why.msg);
}

static bool list_jobs(struct lister *l, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_job *jobs;
    size_t n;
    const bool ok = store_load_jobs(l->co->opt.store, a, &jobs, &n, err);

    for (size_t i = 0; ok && i < n; i++) {
        struct buf id = {0};

        buf_printf(&id, "%" PRIu64, jobs[i].id);
        if (l->name.len == 0 || str_equal(l->name, buf_str(&id)) ||
            str_equal(l->name, jobs[i].index) || str_equal(l->name, jobs[i].table)) {
            l->n++;
            json_open_object(l->w);
            json_put_string(l->w, STR("id"), buf_str(&id));
            json_put_string(l->w, STR("kind"), jobs[i].kind);
            json_put_string(l->w, STR("index"), jobs[i].index);
            json_put_string(l->w, STR("table"), jobs[i].table);
            json_put_u64(l->w, STR("version"), jobs[i].version);
            json_put_string(l->w, STR("state"), jobs[i].state);
            append_pace(l, &jobs[i]);
            json_put_string(l->w, STR("error"), jobs[i].error);
            node_put_time(l->w, STR("created"), jobs[i].created_ms);
            json_close_object(l->w);
        }
        buf_free(&id);
    }
    arena_free(a);
    return ok && node_list_fan_outs(l->co, l->name, l->w, &l->n, err);
}

static bool list_log(struct lister *l, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_log *log;
    size_t n;
    const bool ok = store_load_log(l->co->opt.store, a, l->name, LOG_MAX, &log, &n, err);

    l->n = ok ? n + 1 : 0; /* an empty log is an answer */
    for (size_t i = 0; ok && i < n; i++) {
        json_open_object(l->w);
        node_put_time(l->w, STR("at"), log[i].at_ms);
        json_put_string(l->w, STR("table"), log[i].table);
        json_put_string(l->w, STR("index"), log[i].index);
        json_put_u64(l->w, STR("version"), log[i].version);
        json_put_string(l->w, STR("event"), log[i].event);
        json_put_raw(l->w, STR("detail"), log[i].detail);
        json_close_object(l->w);
    }
    arena_free(a);
    return ok;
}

static const struct noun {
    const char *name;
    bool (*list)(struct lister *l, struct err *err);
    const char *asked_by; /* what a name stands for */
    const char *named_in; /* the noun whose list has these names */
} nouns[] = {
    {"topic", list_topics, "topic", "topic"},
    {"database", list_databases, "database", "database"},
    {"table", list_tables, "table", "table"},
    {"relation", list_relations, "table", "table"},
    {"version", list_versions, "version of index", "version"},
    {"job", list_jobs, "job", "job"},
    {"log", list_log, "table", "table"},
};

static const struct noun *find_noun(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(nouns); i++)
        if (str_equal(str_from(nouns[i].name), name))
            return &nouns[i];
    return NULL;
}

bool coordinator_list(struct coordinator *co, struct str noun, struct str name,
                      struct buf *json, struct err *err)
{
    const struct noun *kind = find_noun(noun);
    struct json_writer w = {.out = json};
    struct buf schema = {0};

    if (kind == NULL)
        return refuse(err, 404, "there is no list of %" STR_FMT, STR_ARG(noun));

    struct lister l = {
        .co = co, .d = node_definitions(co), .c = node_catalogue(co), .name = name, .w = &w};

    buf_printf(&schema, "millrace/%s/1", kind->name);
    json_open_object(&w);
    json_put_string(&w, STR("schema"), buf_str(&schema));
    json_write_key(&w, STR("items"));
    json_open_array(&w);

    bool ok = kind->list(&l, err);

    json_close_array(&w);
    json_close_object(&w);
    if (ok && name.len > 0 && l.n == 0)
        ok =
            refuse(err, 404, "there is no %s %" STR_FMT "; fix: millrace %s list shows what is",
                   kind->asked_by, STR_ARG(name), kind->named_in);
    buf_free(&schema);
    definitions_unref(l.d);
    node_catalogue_free(l.c);
    return ok;
}
