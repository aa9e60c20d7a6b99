#include "config.h"

#include "rebalance/check/look.h"
#include "rebalance/delayed/orders.h"
#include "rebalance/delayed/page.h"
#include "rebalance/delayed/parts.h"
#include "rebalance/fill/level.h"
#include "rebalance/version/buckets.h"

#include "src/store/later/whole_table.h"
#include "sync/definition/delayed.h"

#include <stdlib.h>

/* ---- what one statement costs ---- */

/* How many rows the server reads to answer a `level_sql` once: the ctx of an errand. */
struct level_question {
    struct coordinator *co;
    struct top_relation top;
    struct str *ids; /* a page of them */
    size_t n_ids;
    uint64_t rows; /* the answer */
};

static bool ask_plan(struct level_question *q, const struct look *l, const struct plan *p,
                     struct err *err)
{
    struct mysql_conn **conns = look_conns(l, p);
    const struct level_query query = {
        .top = &q->top, .plan = p, .ids = q->ids, .n_ids = q->n_ids};
    const bool ok = level_rows_examined(conns[0], &query, &q->rows, err);

    free(conns);
    return ok;
}

static bool ask(struct errand *e, struct err *err)
{
    struct level_question *q = e->ctx;
    struct definitions *d = coordinator_definitions(q->co);
    const struct table_definition *t = coordinator_find_table(d, q->top.table, err);
    struct look l = {.asking = e->asking};
    struct plan *p = NULL;
    bool ok = t != NULL && look_open(&l, q->co, d, t, err);

    if (ok)
        p = plan_compile(d, t, look_find, &l, err);
    ok = ok && p != NULL && ask_plan(q, &l, p, err);
    plan_free(p);
    look_close(&l);
    definitions_unref(d);
    return ok;
}

static void copy_top(struct arena *a, const struct top_relation *from, struct top_relation *to)
{
    *to = (struct top_relation){.table = arena_copy(a, from->table),
                                .column = arena_copy(a, from->column),
                                .level_sql = arena_copy(a, from->level_sql),
                                .business_id = arena_copy(a, from->business_id),
                                .target_key = arena_copy(a, from->target_key)};
}

static bool ask_server(struct coordinator *co, const struct top_relation *top,
                       const struct str *ids, size_t n, uint64_t *rows, struct err *err)
{
    struct buf who = {0};

    buf_printf(&who, "a server with rows of %" STR_FMT, STR_ARG(top->table));

    struct errand *e = errand_new(who.ptr, sizeof(struct level_question));
    struct level_question *q = e->ctx;

    q->co = co;
    copy_top(e->arena, top, &q->top);
    q->ids = arena_alloc(e->arena, n + 1, sizeof(*q->ids));
    q->n_ids = n;
    for (size_t i = 0; i < n; i++)
        q->ids[i] = arena_copy(e->arena, ids[i]);

    const bool ok = errand_run(co->errands, e, ask, err);

    if (ok)
        *rows = q->rows;
    errand_leave(e);
    buf_free(&who);
    return ok;
}

/* ---- what a run would do ---- */

/* A table with snapshots that a run would take. */
struct awaited {
    struct coordinator *co;
    struct arena *a;
    struct str table;
    uint64_t n;
    struct str *ids; /* of the first page; of deleted rows there are none */
    size_t n_ids;
};

static uint64_t count_live(struct coordinator *co, const struct table_definition *t)
{
    struct catalogue *c = coordinator_catalogue(co);
    uint64_t n = 0;

    for (size_t i = 0; t != NULL && i < c->n_versions; i++)
        n += str_equal(c->versions[i].index, table_index(t)) &&
             catalogue_is_live(&c->versions[i]);
    catalogue_unref(c);
    return n;
}

/* For each page of snapshots, and where nodes share them for each part and version. */
static uint64_t count_statements(const struct awaited *of, const struct table_definition *top)
{
    const size_t nodes = coordinator_fill_nodes(of->co);
    const uint64_t pages = (of->n + DELAYED_PAGE - 1) / DELAYED_PAGE;
    const uint64_t versions = count_live(of->co, top);

    if (of->n_ids == 0 || versions == 0)
        return 0;
    return nodes < 2 ? pages : pages * versions * parts_for_page(of->n, nodes);
}

static void put_item(struct json_writer *w, const struct awaited *of, struct str documents_of,
                     uint64_t statements, uint64_t rows)
{
    json_open_object(w);
    json_put_string(w, STR("table"), of->table);
    json_put_u64(w, STR("snapshots"), of->n);
    json_put_cstr(w, STR("found_by"), documents_of.len > 0 ? "level_sql" : "relations");
    if (documents_of.len > 0) {
        json_put_string(w, STR("documents_of"), documents_of);
        json_put_u64(w, STR("statements"), statements);
        json_put_u64(w, STR("rows_examined"),
                     rows > 0 && statements > UINT64_MAX / rows ? UINT64_MAX
                                                                : statements * rows);
    }
    json_close_object(w);
}

static bool put_table(const struct awaited *of, const struct definitions *d,
                      struct json_writer *w, struct err *err)
{
    const struct table_definition *t = definitions_table(d, of->table);
    struct top_relation *tops;
    const size_t n = t == NULL || !t->delayed ? 0 : top_relations_read(of->a, t, &tops);
    bool ok = true;

    if (n == 0)
        put_item(w, of, STR(""), 0, 0);
    for (size_t i = 0; ok && i < n; i++) {
        const uint64_t statements = count_statements(of, definitions_table(d, tops[i].table));
        uint64_t rows = 0;

        ok = statements == 0 || ask_server(of->co, &tops[i], of->ids, of->n_ids, &rows, err);
        if (ok)
            put_item(w, of, tops[i].table, statements, rows);
    }
    return ok;
}

static bool load_ids(struct awaited *of, uint64_t one, struct err *err)
{
    const struct snapshot_filter f = {.table = of->table,
                                      .id = one,
                                      .status = one != 0 ? STR("") : STR("init"),
                                      .limit = DELAYED_PAGE};
    struct stored_snapshot *list;
    size_t n;

    if (!store_load_snapshots(of->co->opt.store, of->a, &f, &list, &n, err))
        return false;
    of->ids = arena_alloc(of->a, n + 1, sizeof(*of->ids));
    for (size_t i = 0; i < n; i++)
        if (!str_equal(list[i].op, STR("delete")) &&
            !str_equal(list[i].op, STR(WHOLE_TABLE_OP)))
            of->ids[of->n_ids++] = list[i].row_id;
    return true;
}

static bool put_one(struct coordinator *co, struct arena *a, uint64_t id,
                    const struct definitions *d, struct json_writer *w, struct err *err)
{
    const struct snapshot_filter f = {.id = id, .limit = 1};
    struct awaited of = {.co = co, .a = a, .n = 1};
    struct stored_snapshot *list;
    size_t n;

    if (!store_load_snapshots(co->opt.store, a, &f, &list, &n, err))
        return false;
    if (n == 0)
        return true;
    of.table = list[0].table;
    return load_ids(&of, id, err) && put_table(&of, d, w, err);
}

static bool put_all(struct coordinator *co, struct arena *a, struct str table,
                    const struct definitions *d, struct json_writer *w, struct err *err)
{
    struct snapshot_count *counts;
    size_t n;
    bool ok = store_count_snapshots(co->opt.store, a, &counts, &n, err);

    for (size_t i = 0; ok && i < n; i++) {
        struct awaited of = {
            .co = co, .a = a, .table = counts[i].table, .n = counts[i].n_waiting};

        if (of.n > 0 && (table.len == 0 || str_equal(table, of.table)))
            ok = load_ids(&of, 0, err) && put_table(&of, d, w, err);
    }
    return ok;
}

bool coordinator_delayed_cost(struct coordinator *co, const struct delayed_order *o,
                              struct buf *json, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    struct json_writer w = {.out = json};
    struct arena *a = arena_new();
    struct str *topics;
    size_t n;
    bool ok = coordinator_topics_of_delayed(co, o, a, &topics, &n, err);

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delayed-cost/1");
    json_write_key(&w, STR("items"));
    json_open_array(&w);
    if (ok)
        ok = o->n_ids > 0 ? put_one(co, a, o->ids[0], d, &w, err)
                          : put_all(co, a, o->table, d, &w, err);
    json_close_array(&w);
    json_close_object(&w);
    if (!ok)
        buf_clear(json);
    arena_free(a);
    definitions_unref(d);
    return ok;
}
