#include "config.h"

#include "sync/check/check_delayed.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/table_key.h"
#include "sync/check/checked_table.h"
#include "sync/definition/delayed.h"
#include "sync/definition/expression.h"

/* Parsed, not executed: the server stops at the LIMIT 0 of whoever tries it. */
static void check_statement(struct checker *c, const struct checked_table *s,
                            const struct top_relation *r, struct place place)
{
    const struct catalog_name name = {s->at.schema, s->at.name};
    struct buf condition = {0};
    struct err err = {0};

    if (statement_find_fault(r->level_sql) != NULL)
        return; /* reported before */
    buf_append(&condition, STR("EXISTS (SELECT level_sql."));
    mysql_quote_name(&condition, r->business_id);
    buf_append(&condition, STR(", level_sql."));
    mysql_quote_name(&condition, r->target_key);
    buf_printf(&condition, " FROM (%" STR_FMT ") AS level_sql)", STR_ARG(r->level_sql));
    if (!c->source->try_clause(c->source->ctx, s->at.topic, &name, CLAUSE_WHERE,
                               buf_str(&condition), &err)) {
        problems_add(
            c->problems, SEVERITY_ERROR, place,
            "the server refuses `level_sql` of `%" STR_FMT "`, with its output columns "
            "`%" STR_FMT "` and `%" STR_FMT "`: %s",
            STR_ARG(r->table), STR_ARG(r->business_id), STR_ARG(r->target_key), err.msg);
        problems_fix(c->problems, "name tables as DATABASE.TABLE, and columns with AS");
    }
    buf_free(&condition);
}

/* The documents of a target key are found by the key of their rows. */
static void check_column(struct checker *c, const struct top_relation *r, struct place place)
{
    const struct table_definition *top = definitions_table(c->d, r->table);
    const struct checked_table s = checked_table_find(c, r->table, place);

    if (s.facts == NULL || top == NULL || checked_table_column(c, &s, r->column, place) == NULL)
        return;

    const struct table_key named = table_key_named(top, s.facts->schema);
    bool is = false;

    for (size_t i = 0; i < named.n; i++)
        is = is || str_equal_any_case(named.columns[i], r->column);
    for (size_t i = 0; named.n == 0 && i < s.facts->schema->n_key; i++)
        is = is || str_equal_any_case(s.facts->schema->columns[s.facts->schema->key[i]].name,
                                      r->column);
    if (is)
        return;
    problems_add(c->problems, SEVERITY_ERROR, place,
                 "`%" STR_FMT "` is no key column of top relation `%" STR_FMT "`",
                 STR_ARG(r->column), STR_ARG(r->table));
    problems_fix(c->problems, "let `level_sql` lead to the key of that table");
}

void definition_check_top_relations(struct checker *c, const struct checked_table *s,
                                    const struct table_definition *t)
{
    const struct place place = definitions_place(c->d, t->top_relations_json, t->place);
    struct arena *a = arena_new();
    struct top_relation *list;
    const size_t n = top_relations_read(a, t, &list);

    if (n > 0 && s->facts->schema->n_key != 1)
        problems_add(c->problems, SEVERITY_ERROR, place,
                     "`%" STR_FMT
                     "` has no primary key of one column, which `business_id` could "
                     "be",
                     STR_ARG(s->table));
    for (size_t i = 0; i < n; i++) {
        check_statement(c, s, &list[i], place);
        check_column(c, &list[i], place);
    }
    arena_free(a);
}
