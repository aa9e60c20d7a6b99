#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/shape.h"

#include "rebalance/admin/draft.h"
#include "rebalance/admin/questions.h"
#include "rebalance/check/look.h"
#include "rebalance/check/row_state.h"
#include "src/mysql/mysql.h"
#include "src/mysql/trace.h"
#include "sync/delivery/bulk/bulk.h"
#include "sync/delivery/document/write.h"
#include "sync/document/loader.h"
#include "sync/document/membership.h"
#include "sync/document/plan.h"
#include "sync/document/provenance.h"

#include <inttypes.h>
#include <stdlib.h>

/* One row, and how its document is made. */
struct explained {
    struct definitions *d;
    const struct table_definition *table;
    uint64_t version; /* of the index that searches use; 0: none was built */
    struct look look;
    struct arena *arena;
    struct plan *plan;
    struct loaded doc;
    const char *row; /* the state of the row, for the answer */
    struct mysql_trace trace;
    struct buf origins; /* JSON */
};

static void explained_fini(struct explained *e)
{
    plan_free(e->plan);
    look_close(&e->look);
    definitions_unref(e->d);
    arena_free(e->arena);
    mysql_trace_fini(&e->trace);
    buf_free(&e->origins);
}

/*
 * Use the definitions of the version that searches use; without one, and for a draft, those of
 * the next build.
 */
static bool definitions_in_use(const struct table_question *q, struct explained *e,
                               struct err *err)
{
    struct catalogue *c = coordinator_catalogue(q->co);

    e->d = definitions_ref(q->d);
    e->table = coordinator_find_table(e->d, q->table, err);
    if (e->table != NULL)
        e->table = definition_lead(e->d, e->table);

    const struct stored_version *v =
        e->table == NULL || q->is_draft
            ? NULL
            : catalogue_version(c, table_index(e->table), STR("available"));
    bool ok = e->table != NULL;

    if (v != NULL) {
        e->version = v->number;
        definitions_unref(e->d);
        e->d = NULL;
        ok = coordinator_version_in_effect(q->co, v, &e->d, &e->table, err);
    }
    catalogue_unref(c);
    return ok;
}

/* ---- of tables that share an index ---- */

static struct str id_prefix(struct arena *a, const struct table_definition *t)
{
    if (t->join.given)
        return membership_prefix(a, t->join.name);
    return t->pattern.len > 0 ? membership_prefix(a, t->table) : STR("");
}

/* Choose the table by its name or by the `_id`.  Before, e->table is the lead. */
static bool choose_member(struct explained *e, struct str asked, struct str *id,
                          struct err *err)
{
    const struct table_definition **members, *found = NULL;
    struct buf whole = {0};
    size_t n = 0;

    if (!definition_members(e->d, e->table, look_list, &e->look, e->arena, &members, &n))
        return err_set(err, ERR_RETRY, "cannot list the tables of %" STR_FMT,
                       STR_ARG(table_name(e->table)));
    for (size_t i = 0; i < n && found == NULL; i++)
        if (n == 1 || str_equal(members[i]->table, asked))
            found = members[i];
    for (size_t i = 0; i < n && found == NULL; i++)
        if (str_has_prefix(*id, id_prefix(e->arena, members[i])))
            found = members[i];
    if (found == NULL)
        return refuse(err, 422,
                      "several tables share index %" STR_FMT
                      "; fix: name the table, or give the "
                      "whole _id",
                      STR_ARG(table_index(e->table)));
    e->table = found;
    if (str_has_prefix(*id, id_prefix(e->arena, found)))
        return true;
    buf_append(&whole, id_prefix(e->arena, found));
    buf_append(&whole, *id);
    *id = arena_copy(e->arena, buf_str(&whole));
    buf_free(&whole);
    return true;
}

/* ---- the document ---- */

static bool load_plan(struct explained *e, const struct plan *p, struct str id,
                      struct loaded *doc, struct err *err)
{
    struct mysql_conn **conns = look_conns(&e->look, p);
    struct buf key = {0};
    struct str keys[1];
    struct loader_keys one = {.keys = keys, .n = 1};
    bool ok = plan_key_of_id(p, id, &key, err) ||
              refuse(err, 422, "key %" STR_FMT ": %s", STR_ARG(id), err->msg);

    keys[0] = buf_str(&key);
    ok = ok && loader_load(conns, p, &one, e->arena, doc, err);
    buf_free(&key);
    free(conns);
    return ok;
}

/* The load of a row_question. */
struct row_of {
    struct explained *e;
    struct str id;
};

static bool load_row(void *ctx, const struct plan *p, struct loaded *out, struct err *err)
{
    const struct row_of *row = ctx;

    return load_plan(row->e, p, row->id, out, err);
}

/* Find why the row has no document. */
static bool find_reason(struct explained *e, struct str id, struct err *err)
{
    struct row_of row = {e, id};

    return row_state_find(&(struct row_question){.d = e->d,
                                                 .table = e->table,
                                                 .find = look_find,
                                                 .find_ctx = &e->look,
                                                 .load = load_row,
                                                 .ctx = &row},
                          &e->row, err);
}

static bool find_origins(struct explained *e, struct str id, struct err *err)
{
    struct mysql_conn **conns = look_conns(&e->look, e->plan);
    struct buf key = {0};
    const bool ok = plan_key_of_id(e->plan, id, &key, err) &&
                    provenance_append(conns, e->plan, buf_str(&key), &e->origins, err);

    buf_free(&key);
    free(conns);
    return ok;
}

static bool open_snapshots(struct explained *e, struct err *err)
{
    for (size_t i = 0; i < e->look.n; i++)
        if (!mysql_conn_exec(e->look.conns[i],
                             STR("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"), err))
            return false;
    return true;
}

static void trace_all(struct explained *e, struct mysql_trace *t)
{
    for (size_t i = 0; i < e->look.n; i++)
        mysql_conn_trace(e->look.conns[i], t);
}

/* Read all in one snapshot per server, so that the parts are consistent. */
static bool explain_row(struct explained *e, struct str id, struct err *err)
{
    e->plan = plan_compile(e->d, e->table, look_find, &e->look, err);
    if (e->plan == NULL || !open_snapshots(e, err))
        return false;
    trace_all(e, &e->trace);

    const bool loaded = load_plan(e, e->plan, id, &e->doc, err);

    trace_all(e, NULL);
    if (!loaded)
        return false;
    e->row = e->doc.rooted ? "shown" : "unrooted";
    return (e->doc.body.ptr != NULL || e->doc.err != NULL || !e->doc.rooted ||
            find_reason(e, id, err)) &&
           find_origins(e, id, err);
}

/* ---- the answer ---- */

static void append_statements(struct json_writer *w, const struct mysql_trace *t)
{
    json_open_array(w);
    for (size_t i = 0; i < t->n; i++) {
        const struct mysql_statement *s = &t->statements[i];

        json_open_object(w);
        json_put_string(w, STR("statement"), (struct str){t->text.ptr + s->at, s->len});
        json_put_u64(w, STR("rows"), s->n_rows);
        json_put_double(w, STR("ms"), (double)s->took_us / 1000);
        json_close_object(w);
    }
    json_close_array(w);
}

static void append_lines(struct json_writer *w, struct str text)
{
    json_open_array(w);
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        const size_t n = end == NULL ? text.len : (size_t)(end - text.ptr);

        if (n > 0)
            json_write_string(w, (struct str){text.ptr, n});
        text.ptr += end == NULL ? n : n + 1;
        text.len -= end == NULL ? n : n + 1;
    }
    json_close_array(w);
}

/*
 * Append the lines that delivery would send.  Only the version differs: a real change has its
 * own.
 */
static void append_bulk(struct json_writer *w, const struct explained *e)
{
    const struct table_definition *t = e->table;
    const struct loaded *doc = &e->doc;
    struct buf lines = {0}, alias = {0};

    coordinator_write_alias(&alias, table_index(t), e->version > 0 ? e->version : 1);

    struct target *target = target_new(table_index(t), buf_str(&alias), t->table, STR(""));

    target_set_pipeline(target, t->pipeline);
    if (e->plan != NULL)
        target->areas = plan_areas(e->plan, &target->n_areas, NULL);

    struct write *write =
        write_new(&(struct doc_write){.target = target,
                                      .op = doc->body.ptr != NULL ? DOC_INDEX : DOC_DELETE,
                                      .version = 1,
                                      .id = doc->id,
                                      .routing = doc->routing,
                                      .key = doc->key,
                                      .body = doc->body});
    struct write_ends ends = {0};

    bulk_append(&lines, write, 0);
    append_lines(w, buf_str(&lines));
    write_abandon(write, &ends);
    buf_free(&lines);
    buf_free(&alias);
}

static void append_explanation(struct buf *json, struct str key, const struct explained *e)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/explain/2");
    json_put_string(&w, STR("table"), e->table->table);
    json_put_string(&w, STR("index"), table_index(e->table));
    if (e->version > 0)
        json_put_u64(&w, STR("version"), e->version);
    else
        json_put_null(&w, STR("version"));
    if (e->table->pipeline.len > 0)
        json_put_string(&w, STR("pipeline"), e->table->pipeline);
    else
        json_put_null(&w, STR("pipeline"));
    json_put_string(&w, STR("key"), key);
    json_put_cstr(&w, STR("row"), e->row);
    json_put_cstr(&w, STR("reason"), e->doc.err == NULL ? "" : e->doc.err->msg);
    json_write_key(&w, STR("sql"));
    append_statements(&w, &e->trace);
    json_put_bool(&w, STR("found"), e->doc.body.ptr != NULL);
    if (e->doc.body.ptr != NULL)
        json_put_raw(&w, STR("document"), e->doc.body);
    else
        json_put_null(&w, STR("document"));
    json_write_key(&w, STR("bulk"));
    if (e->doc.err == NULL)
        append_bulk(&w, e);
    else /* a dead letter */
        append_lines(&w, STR(""));
    json_put_raw(&w, STR("origins"), buf_str(&e->origins));
    json_close_object(&w);
}

static bool explain(struct errand *errand, struct err *err)
{
    const struct table_question *q = errand->ctx;
    struct explained e = {.arena = arena_new(), .look.asking = errand->asking};
    struct str key = q->key;
    const bool ok = definitions_in_use(q, &e, err) &&
                    look_open(&e.look, q->co, e.d, e.table, err) &&
                    choose_member(&e, q->table, &key, err) && explain_row(&e, key, err);

    if (ok)
        append_explanation(&errand->text, key, &e);
    explained_fini(&e);
    return ok;
}

bool coordinator_explain(struct coordinator *co, struct str table, struct str key,
                         const struct definition_files *draft, struct buf *json,
                         struct err *err)
{
    return coordinator_ask_of_draft(co, explain, table, key, draft, json, err);
}
