#include "config.h"

#include "rebalance/node.h"

#include "src/base/mem.h"
#include "sync/binlog/schema.h"
#include "sync/model/definition_export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct definitions *node_with_table(const struct definitions *now, struct str table_json,
                                    struct str *table, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_definition *stored, *with;
    struct buf name = {0};
    struct definitions *d = NULL;
    size_t n, n_with = 0;

    definitions_to_store(now, a, &stored, &n);
    with = arena_alloc(a, n + 1, sizeof(*with));
    if (json_find_text(table_json, "/table", &name)) {
        for (size_t i = 0; i < n; i++)
            if (!str_equal(stored[i].kind, STR("table")))
                with[n_with++] = stored[i];
        with[n_with++] = (struct stored_definition){STR("table"), buf_str(&name), table_json};
        d = node_parse_stored(with, n_with, err);
    } else {
        err_set(err, ERR_FATAL, "a stored table definition names no table");
    }
    if (d != NULL)
        *table = d->tables[0].table;
    buf_free(&name);
    arena_free(a);
    return d;
}

bool node_version_definitions(struct coordinator *co, const struct stored_version *v,
                              struct definitions **out, const struct table_definition **table,
                              struct err *err)
{
    struct definitions *now = node_definitions(co);
    struct str name;

    *out = node_with_table(now, v->definition, &name, err);
    definitions_unref(now);
    if (*out == NULL)
        return err_wrap(err, "index %" STR_FMT "_v%" PRIu64, STR_ARG(v->index), v->number);
    *table = definitions_table(*out, name);
    return true;
}

/* ---- naming every column ---- */

struct expansion {
    const struct definitions *d;
    plan_schema_fn find;
    void *ctx;
    struct arena *a;
};

static const struct schema *schema_of(const struct expansion *e, struct str table,
                                      struct err *err)
{
    struct table_location at;
    const struct schema *s = definitions_locate(e->d, table, &at)
                                 ? e->find(e->ctx, at.topic, at.schema, at.name)
                                 : NULL;

    if (s == NULL)
        err_set(err, ERR_REJECT, "table %" STR_FMT " is not on its server", STR_ARG(table));
    return s;
}

static bool listed(const struct column_definition *columns, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (!column_is_rest(&columns[i]) && columns[i].name.len == name.len &&
            strncasecmp(columns[i].name.ptr, name.ptr, name.len) == 0)
            return true;
    return false;
}

/* "All" and "the rest" become the names that the table has now. */
static bool expand_columns(const struct expansion *e, struct str table, bool *all,
                           struct column_definition **columns, size_t *n, struct err *err)
{
    const struct schema *s = schema_of(e, table, err);

    if (s == NULL)
        return false;

    struct column_definition *out = arena_alloc(e->a, *n + s->n_columns + 1, sizeof(*out));
    bool rest = *all;
    size_t n_out = 0;

    for (size_t i = 0; i < *n; i++) {
        if (column_is_rest(&(*columns)[i]))
            rest = true;
        else
            out[n_out++] = (*columns)[i];
    }
    for (size_t i = 0; rest && i < s->n_columns; i++)
        if (!s->columns[i].invisible && !listed(out, n_out, s->columns[i].name))
            out[n_out++] = (struct column_definition){.name = s->columns[i].name};
    *all = false;
    *columns = out;
    *n = n_out;
    return true;
}

static bool expand_relations(const struct expansion *e, struct relation_definition **relations,
                             size_t n, struct err *err)
{
    struct relation_definition *out = arena_alloc(e->a, n + 1, sizeof(*out));

    for (size_t i = 0; i < n; i++) {
        out[i] = (*relations)[i];
        if (out[i].values.len > 0)
            continue; /* shows one column, whatever comes */
        if (!expand_columns(e, out[i].table, &out[i].all_columns, &out[i].columns,
                            &out[i].n_columns, err) ||
            !expand_relations(e, &out[i].relations, out[i].n_relations, err))
            return false;
    }
    *relations = out;
    return true;
}

bool node_expand_table(const struct definitions *d, const struct table_definition *t,
                       plan_schema_fn find, void *ctx, struct buf *json, struct err *err)
{
    struct expansion e = {.d = d, .find = find, .ctx = ctx, .a = arena_new()};
    struct table_definition copy = *t;
    const bool ok = expand_columns(&e, copy.table, &copy.all_columns, &copy.columns,
                                   &copy.n_columns, err) &&
                    expand_relations(&e, &copy.relations, copy.n_relations, err);

    if (ok)
        table_append_json(&copy, json);
    arena_free(e.a);
    return ok;
}
