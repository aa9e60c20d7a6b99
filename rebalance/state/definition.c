#include "config.h"

#include "rebalance/state/parts.h"

#include "rebalance/build/judgement.h"
#include "rebalance/fill/part.h"
#include "src/base/mem.h"
#include "sync/definition/delayed.h"
#include "sync/definition/export.h"
#include "sync/value/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a version keeps ---- */

void coordinator_append_version_json(const struct definitions *d,
                                     const struct table_definition *lead,
                                     const struct table_definition *instead, struct buf *json)
{
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n = 1;
    bool ok =
        lead->pattern.len == 0 && definition_members(d, lead, NULL, NULL, a, &members, &n);

    if (!ok || n == 1) {
        table_append_json(instead != NULL ? instead : lead, json);
        arena_free(a);
        return;
    }
    buf_append_char(json, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_append_char(json, ',');
        table_append_json(instead != NULL && str_equal(instead->table, members[i]->table)
                              ? instead
                              : members[i],
                          json);
    }
    buf_append_char(json, ']');
    arena_free(a);
}

/* Read the tables that a version keeps: one, or a list whose first is the lead. */
static bool read_tables(struct str json, struct arena *a, struct stored_definition *out,
                        size_t max, size_t *n, struct err *err)
{
    struct json_reader r;
    struct str one = json;
    bool is_list;

    json_reader_init(&r, json);
    is_list = json_peek(&r) == JSON_ARRAY;
    *n = 0;
    if (is_list && !json_enter_array(&r))
        return err_set(err, ERR_FATAL, "a stored table definition is damaged");
    while (*n < max && (!is_list || (json_next_element(&r) && json_read_raw(&r, &one)))) {
        struct buf name = {0};

        if (!json_find_text(one, "/table", &name) && !json_find_text(one, "/pattern", &name)) {
            buf_free(&name);
            return err_set(err, ERR_FATAL, "a stored table definition names no table");
        }
        out[(*n)++] =
            (struct stored_definition){STR("table"), arena_copy(a, buf_str(&name)), one};
        buf_free(&name);
        if (!is_list)
            break;
    }
    return *n > 0 || err_set(err, ERR_FATAL, "a stored table definition is empty");
}

static bool is_named_at(struct str json, const char *place, struct str name)
{
    struct buf text = {0};
    const bool is = json_find_text(json, place, &text) && str_equal(buf_str(&text), name);

    buf_free(&text);
    return is;
}

bool coordinator_version_is_of(const struct stored_version *v, struct str table)
{
    struct str element;
    char place[40];

    if (is_named_at(v->definition, "/table", table) ||
        is_named_at(v->definition, "/pattern", table))
        return true;
    for (size_t i = 0;
         snprintf(place, sizeof(place), "/%zu", i), json_find(v->definition, place, &element);
         i++)
        if (is_named_at(element, "/table", table))
            return true;
    return false;
}

#define MEMBERS_MAX 1000

struct definitions *coordinator_with_tables(const struct definitions *now, struct str json,
                                            const struct table_definition **lead,
                                            struct err *err)
{
    struct arena *a = arena_new();
    struct stored_definition *stored, *with;
    struct definitions *d = NULL;
    size_t n, n_tables, n_with = 0;

    definitions_to_store(now, a, &stored, &n);
    with = arena_alloc(a, n + MEMBERS_MAX, sizeof(*with));
    for (size_t i = 0; i < n; i++)
        if (!str_equal(stored[i].kind, STR("table")))
            with[n_with++] = stored[i];
    if (read_tables(json, a, with + n_with, MEMBERS_MAX, &n_tables, err))
        d = coordinator_parse_stored(with, n_with + n_tables, err);
    if (d != NULL)
        *lead = definition_lead(d, definitions_table(d, with[n_with].name));
    arena_free(a);
    return d;
}

bool coordinator_version_definitions(struct coordinator *co, const struct stored_version *v,
                                     struct definitions **out,
                                     const struct table_definition **lead, struct err *err)
{
    struct definitions *now = coordinator_definitions(co);

    *out = coordinator_with_tables(now, v->definition, lead, err);
    definitions_unref(now);
    return *out != NULL ||
           err_wrap(err, "index %" STR_FMT "_v%" PRIu64, STR_ARG(v->index), v->number);
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
        err_set(err, ERR_REJECT, "table %" STR_FMT " does not exist on its server",
                STR_ARG(table));
    return s;
}

/* Replace "all" and "the rest" by the columns that the table has now. */
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
        if (!s->columns[i].invisible && !columns_mention(out, n_out, s->columns[i].name))
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
            continue; /* shows one column, whatever columns are added */
        if (!expand_columns(e, out[i].table, &out[i].all_columns, &out[i].columns,
                            &out[i].n_columns, err) ||
            !expand_relations(e, &out[i].relations, out[i].n_relations, err))
            return false;
    }
    *relations = out;
    return true;
}

static bool expand_table(const struct expansion *e, const struct table_definition *t,
                         struct table_definition *out, struct err *err)
{
    *out = *t;
    return expand_columns(e, t->table, &out->all_columns, &out->columns, &out->n_columns,
                          err) &&
           expand_relations(e, &out->relations, out->n_relations, err);
}

bool coordinator_expand_tables(const struct definitions *d, const struct table_definition *lead,
                               plan_schema_fn find, list_tables_fn list, void *ctx,
                               struct buf *json, struct err *err)
{
    struct expansion e = {.d = d, .find = find, .ctx = ctx, .a = arena_new()};
    const struct table_definition **members;
    size_t n = 0;
    bool ok = definition_members(d, lead, list, ctx, e.a, &members, &n) && n > 0;
    const bool several = ok && n > 1 && lead->pattern.len == 0;

    if (several)
        buf_append_char(json, '[');
    for (size_t i = 0; ok && i < (several ? n : 1); i++) {
        struct table_definition expanded;

        ok = expand_table(&e, members[i], &expanded, err);
        if (lead->pattern.len > 0)
            expanded.table = STR(""); /* its columns are those of its first table */
        if (i > 0)
            buf_append_char(json, ',');
        if (ok)
            table_append_json(&expanded, json);
    }
    if (several)
        buf_append_char(json, ']');
    arena_free(e.a);
    return ok;
}

/*
 * Look at the definitions of the version: the current ones may have another lead for its index.
 */
void coordinator_lead_name(struct coordinator *co, const struct target *target,
                           struct buf *name)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct definitions *d = NULL;
    const struct table_definition *lead = NULL;
    const struct stored_version *v = NULL;
    struct err ignored = {0};
    struct str alias;
    uint64_t number;

    if (coordinator_split_index_name(target->index, &alias, &number))
        v = catalogue_number(c, alias, number);
    if (v != NULL && !coordinator_version_definitions(co, v, &d, &lead, &ignored))
        lead = NULL;
    buf_append(name, lead != NULL ? table_name(lead) : str_from(target->table));
    definitions_unref(d);
    catalogue_unref(c);
}

void coordinator_append_wait_fix(struct buf *b, const struct stored_wait *w, struct str table)
{
    const bool letters = str_equal(w->reason, STR(WAIT_DEAD_LETTERS));

    if (letters)
        buf_printf(b,
                   "correct the rows, then millrace dead-letter replay --index %" STR_FMT
                   "_v%" PRIu64 ": Millrace publishes it once enough documents are there; or ",
                   STR_ARG(w->index), w->number);
    if (str_equal(w->reason, STR(WAIT_DIFFERS))) {
        buf_append(b, STR("millrace verify "));
        buf_append_word(b, table);
        buf_printf(b, " --version %" PRIu64 " --repair, then ", w->number);
    }
    buf_append(b, STR("millrace index cutover "));
    buf_append_word(b, table);
    if (letters)
        buf_printf(b, " --accept-dead-letters %" PRIu64, w->letters);
    buf_append(b, STR(" publishes it as it is; or millrace index reset "));
    buf_append_word(b, table);
    buf_append(b, STR(" drops it"));
}

bool coordinator_find_top(struct coordinator *co, const struct fill_part *part, struct arena *a,
                          struct top_relation *out)
{
    struct definitions *d = coordinator_definitions(co);
    const struct table_definition *t = definitions_table(d, buf_str(&part->table));
    struct top_relation *tops = NULL;
    const size_t n = t == NULL || !t->delayed ? 0 : top_relations_read(a, t, &tops);
    const bool is =
        part->level < n && str_equal(tops[part->level].table, buf_str(&part->member));

    if (is)
        *out = tops[part->level];
    definitions_unref(d);
    return is;
}
