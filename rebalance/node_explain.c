#include "config.h"

#include "rebalance/node.h"

#include "rebalance/look.h"
#include "src/mysql.h"
#include "sync/delivery/bulk.h"
#include "sync/delivery/write.h"
#include "sync/document/loader.h"
#include "sync/document/plan.h"
#include "sync/model/mapping.h"
#include "sync/schemas.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is searched, or what would be built first. */
static bool definitions_in_use(struct coordinator *co, struct str table, struct definitions **d,
                               const struct table_definition **t, struct err *err)
{
    struct catalogue *c = node_catalogue(co);

    *d = node_definitions(co);
    *t = node_find_table(*d, table, err);

    const struct stored_version *v =
        *t == NULL ? NULL : catalogue_version(c, table_index(*t), STR("available"));
    bool ok = *t != NULL;

    if (v != NULL) {
        definitions_unref(*d);
        *d = NULL;
        ok = node_version_in_effect(co, v, d, t, err);
    }
    node_catalogue_free(c);
    return ok;
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

/* The very lines that delivery would send, at version 1. */
static void append_bulk(struct json_writer *w, const struct table_definition *t,
                        const struct loaded *doc)
{
    struct buf lines = {0}, alias = {0};

    node_write_alias(&alias, table_index(t), 1);

    struct target *target = target_new(table_index(t), buf_str(&alias), t->table, STR(""));
    struct write *write =
        write_new(&(struct doc_write){.target = target,
                                      .op = doc->body.ptr != NULL ? DOC_INDEX : DOC_DELETE,
                                      .version = 1,
                                      .id = doc->id,
                                      .routing = doc->routing,
                                      .key = doc->key,
                                      .body = doc->body});
    struct write_ends ends = {0};

    bulk_append(&lines, write);
    json_write_key(w, STR("bulk"));
    append_lines(w, buf_str(&lines));
    write_abandon(write, &ends);
    buf_free(&lines);
    buf_free(&alias);
}

static bool load_one(struct look *l, const struct plan *p, struct str id, struct arena *a,
                     struct loaded *doc, struct buf *trace, struct err *err)
{
    struct buf key = {0};
    struct str keys[1];
    bool ok = plan_key_of_id(p, id, &key, err) ||
              refuse(err, 422, "key %" STR_FMT ": %s", STR_ARG(id), err->msg);

    loader_trace(l->conn, trace);
    keys[0] = buf_str(&key);
    ok = ok && loader_load(l->conn, p, keys, 1, a, doc, err);
    loader_trace(l->conn, NULL);
    buf_free(&key);
    if (ok && doc->err != NULL)
        ok = refuse(err, 422, "the document cannot be built: %s", doc->err->msg);
    return ok;
}

static void append_explanation(struct buf *json, const struct table_definition *t,
                               struct str key, const struct loaded *doc, struct str trace)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/explain/1");
    json_put_string(&w, STR("table"), t->table);
    json_put_string(&w, STR("index"), table_index(t));
    json_put_string(&w, STR("key"), key);
    json_write_key(&w, STR("sql"));
    append_lines(&w, trace);
    json_put_bool(&w, STR("found"), doc->body.ptr != NULL);
    if (doc->body.ptr != NULL)
        json_put_raw(&w, STR("document"), doc->body);
    else
        json_put_null(&w, STR("document"));
    append_bulk(&w, t, doc);
    json_close_object(&w);
}

bool coordinator_explain(struct coordinator *co, struct str table, struct str key,
                         struct buf *json, struct err *err)
{
    struct definitions *d = NULL;
    const struct table_definition *t;
    struct arena *a = arena_new();
    struct look l = {0};
    struct loaded doc = {0};
    struct buf trace = {0};
    struct plan *p = NULL;
    bool ok = definitions_in_use(co, table, &d, &t, err) && look_open(co, d, t, &l, err);

    if (ok) {
        p = plan_compile(d, t, schemas_find, l.schemas, err);
        ok = p != NULL && load_one(&l, p, key, a, &doc, &trace, err);
    }
    if (ok)
        append_explanation(json, t, key, &doc, buf_str(&trace));
    plan_unref(p);
    look_close(&l);
    definitions_unref(d);
    arena_free(a);
    buf_free(&trace);
    return ok;
}

bool coordinator_mapping(struct coordinator *co, struct str table, struct buf *json,
                         struct err *err)
{
    struct definitions *d = node_definitions(co);
    const struct table_definition *t = node_find_table(d, table, err);
    struct look l = {0};
    struct buf body = {0};
    struct err ignored = {0};
    const bool known = search_detect(co->opt.search, &ignored);
    const bool ok = t != NULL && look_open(co, d, t, &l, err) &&
                    mapping_index_body(
                        &(struct mapping_request){
                            .definitions = d,
                            .table = t,
                            .find = schemas_find,
                            .ctx = l.schemas,
                            .flavor = known ? search_flavor(co->opt.search) : SEARCH_OPENSEARCH,
                            .major = known ? search_major(co->opt.search) : 2},
                        &body, err);

    if (ok) {
        struct json_writer w = {.out = json};

        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/mapping/1");
        json_put_string(&w, STR("table"), t->table);
        json_put_string(&w, STR("index"), table_index(t));
        json_put_raw(&w, STR("body"), buf_str(&body));
        json_close_object(&w);
    }
    look_close(&l);
    definitions_unref(d);
    buf_free(&body);
    return ok;
}
