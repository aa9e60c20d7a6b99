#include "config.h"

#include "sync/check/check.h"

#include "sync/catalog/table_indexes.h"
#include "sync/check/check_bucket.h"
#include "sync/check/check_delayed.h"
#include "sync/check/check_generated.h"
#include "sync/check/check_join.h"
#include "sync/check/check_key.h"
#include "sync/definition/constant.h"
#include "sync/definition/members.h"
#include "sync/definition/rule.h"
#include "sync/definition/transform.h"
#include "sync/mapping/mapping.h"

/* ---- what is shown ---- */

static bool takes_name(const struct relation_definition *relations, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(relation_as(&relations[i]), name))
            return true;
    return false;
}

/* Columns that are shown without being listed need names that are valid as fields. */
static void check_unlisted(struct checker *c, const struct checked_table *s,
                           const struct column_definition *columns, size_t n_columns,
                           const struct relation_definition *relations, size_t n_relations)
{
    const struct schema *schema = s->facts->schema;

    for (size_t i = 0; i < schema->n_columns; i++) {
        const struct column *col = &schema->columns[i];
        const char *wrong = rule_field(col->name);

        if (col->invisible || columns_mention(columns, n_columns, col->name))
            continue;
        if (wrong == NULL && takes_name(relations, n_relations, col->name))
            wrong = "is also the name of a relation";
        if (wrong == NULL)
            continue;
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "column `%" STR_FMT "` of %" STR_FMT ": the name %s", STR_ARG(col->name),
                     STR_ARG(s->table), wrong);
        problems_fix(c->problems,
                     "columns: ['*', {name: '%" STR_FMT "', as: another_name}], or skip: true",
                     STR_ARG(col->name));
    }
}

/* Check the column, or those that its first step joins. */
static void check_column(struct checker *c, const struct checked_table *s,
                         const struct column_definition *d)
{
    struct transforms steps;
    struct err err = {0};

    if (!transforms_parse(c->d->arena, d->transform_json, &steps, &err))
        return; /* reported before */
    if (transforms_read_column(&steps))
        (void)checked_table_column(c, s, d->name, d->place);
    for (size_t i = 0; steps.n > 0 && i < steps.steps[0].n_columns; i++)
        (void)checked_table_column(c, s, steps.steps[0].columns[i], d->place);
}

static void check_shown(struct checker *c, const struct checked_table *s, bool all,
                        const struct column_definition *columns, size_t n_columns,
                        const struct relation_definition *relations, size_t n_relations)
{
    bool rest = all;

    for (size_t i = 0; i < n_columns; i++)
        if (column_is_rest(&columns[i]))
            rest = true;
        else if (!columns[i].has_value)
            check_column(c, s, &columns[i]);
    if (rest)
        check_unlisted(c, s, columns, n_columns, relations, n_relations);
}

static void check_clause(struct checker *c, const struct checked_table *s,
                         enum catalog_clause clause, struct str text, struct place place)
{
    const struct catalog_name name = {s->at.schema, s->at.name};
    struct err err = {0};

    if (text.len == 0 ||
        c->source->try_clause(c->source->ctx, s->at.topic, &name, clause, text, &err))
        return;
    problems_add(c->problems, SEVERITY_ERROR, checked_table_place(c, text, place),
                 "the server refuses this %s: %s",
                 clause == CLAUSE_WHERE ? "condition" : "order", err.msg);
}

/* ---- relations ---- */

static void check_related_view(struct checker *c, const struct checked_table *s,
                               const struct relation_definition *r)
{
    if (!s->facts->schema->is_view || r->refresh == REFRESH_NONE)
        return;
    problems_add(c->problems, SEVERITY_ERROR, s->place,
                 "`%" STR_FMT "` is a view: the binlog does not say when it changes",
                 STR_ARG(s->table));
    problems_fix(c->problems, "name its table, or write `refresh: none`");
}

/* Warn if several rows match where one is shown, and nothing selects it. */
static void check_single(struct checker *c, const struct checked_table *s,
                         const struct relation_definition *r, bool single)
{
    if (single || r->many || r->where.len > 0 || r->order_by.len > 0 ||
        s->facts->schema->is_view)
        return;
    problems_add(c->problems, SEVERITY_WARNING, s->place,
                 "one row may match several of %" STR_FMT ", but the document shows only the "
                 "first by key",
                 STR_ARG(s->table));
    problems_fix(c->problems,
                 "`many: true` shows all of them; `order_by` decides which is the first");
}

/*
 * Check the way from the outer table to the related one, through the link table if there is
 * one.
 */
static void check_way(struct checker *c, const struct checked_table *outer,
                      struct checked_table *s, const struct relation_definition *r)
{
    const struct through_definition *t = &r->through;

    if (!t->given) {
        if (s->facts != NULL && outer->facts != NULL)
            definition_check_join(c, outer, s,
                                  &(struct joined_columns){r->from, r->to, r->n_from, r->n_to,
                                                           r->refresh, r->place});
        if (s->facts != NULL)
            check_single(c, s, r, table_indexes_single_out(s->facts, r->to, r->n_to));
        return;
    }

    struct checked_table link = checked_table_find(c, t->table, r->place);

    if (link.facts == NULL)
        return;
    check_related_view(c, &link, r);
    if (outer->facts != NULL)
        definition_check_join(c, outer, &link,
                              &(struct joined_columns){r->from, t->from, r->n_from, t->n_from,
                                                       r->refresh, r->place});
    if (s->facts == NULL)
        return;
    definition_check_join(
        c, &link, s,
        &(struct joined_columns){t->to, r->to, t->n_to, r->n_to, r->refresh, r->place});
    check_single(c, s, r,
                 table_indexes_single_out(link.facts, t->from, t->n_from) &&
                     table_indexes_single_out(s->facts, r->to, r->n_to));
}

static void check_relations(struct checker *c, const struct checked_table *outer,
                            const struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct relation_definition *r = &relations[i];
        struct checked_table s = checked_table_find(c, r->table, r->place);
        struct column_definition room;
        const struct relation_columns shown = relation_columns(r, &room);

        check_way(c, outer, &s, r);
        if (s.facts != NULL) {
            check_related_view(c, &s, r);
            check_shown(c, &s, shown.all, shown.columns, shown.n, r->relations, r->n_relations);
            check_clause(c, &s, CLAUSE_WHERE, r->where, r->place);
            check_clause(c, &s, CLAUSE_ORDER_BY, r->order_by, r->place);
            definition_check_generated(
                c, &s,
                &(struct used_columns){
                    shown.all, shown.columns, shown.n, {r->where, r->order_by}});
            check_relations(c, &s, r->relations, r->n_relations);
        }
    }
}

/* ---- the whole ---- */

/*
 * The server does not say what is unique in a view, so its definition must.  Returns false
 * after a report.
 */
static bool check_view(struct checker *c, const struct checked_table *s,
                       const struct table_definition *t)
{
    bool complete = true;

    if (t->sync_every_s == 0) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "`%" STR_FMT "` is a view: the binlog does not say when it changes",
                     STR_ARG(s->table));
        problems_fix(c->problems, "name the table, with relations for the others; or give the "
                                  "view `key`, `sync_every` and `daily_check_column`");
        return false;
    }
    if (t->n_key == 0) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "the view `%" STR_FMT "` has no key: name unique columns with `key`",
                     STR_ARG(s->table));
        return false;
    }
    for (size_t i = 0; i < t->n_key; i++)
        complete = checked_table_column(c, s, t->key[i], t->place) != NULL && complete;
    return complete;
}

/* The column of a sync by time needs a time of day, and should have an index. */
static void check_time_column(struct checker *c, const struct checked_table *s,
                              const struct table_definition *t)
{
    const struct place place = checked_table_place(c, t->daily_check_column, t->place);
    const struct column *col =
        t->daily_check_column.len == 0
            ? NULL
            : checked_table_column(c, s, t->daily_check_column, t->place);

    if (col == NULL || t->sync_every_s == 0)
        return;
    if (col->type != COLUMN_DATETIME && col->type != COLUMN_TIMESTAMP)
        problems_add(c->problems, SEVERITY_ERROR, place,
                     "`sync_every` needs a `daily_check_column` of type DATETIME or "
                     "TIMESTAMP, but `%" STR_FMT "` is %" STR_FMT,
                     STR_ARG(col->name), STR_ARG(col->type_text));
    else
        definition_check_index(c, s, &t->daily_check_column, 1, place,
                               "Millrace finds changed rows");
}

/* A server compares a number with any text, and treats non-numbers as 0. */
static void check_soft_delete(struct checker *c, const struct checked_table *s,
                              const struct table_definition *t)
{
    const struct column *col = checked_table_column(c, s, t->soft_delete_column, t->place);
    const struct str json = t->soft_delete_json;

    if (col != NULL && col->type >= COLUMN_TINYINT && col->type <= COLUMN_YEAR &&
        json.len > 2 && json.ptr[0] == '"' && !constant_is_readable(json, STR("double"), false))
        problems_add(c->problems, SEVERITY_ERROR, definitions_place(c->d, json, t->place),
                     "column `%" STR_FMT "` (%" STR_FMT ") is never %" STR_FMT,
                     STR_ARG(col->name), STR_ARG(col->type_text), STR_ARG(json));
}

/*
 * Looking up the place of its documents goes over the parents, which lead down to it when they
 * change.
 */
static void check_way_down(struct checker *c, const struct checked_table *s,
                           const struct table_definition *t)
{
    const size_t level = t->join.given ? definition_join_level(c->d, t) : 0;

    if (level < 2 || level == SIZE_MAX)
        return;
    for (size_t i = 0; i < t->join.n_parent_columns; i++)
        if (schema_find(s->facts->schema, t->join.parent_columns[i]) == SIZE_MAX)
            return; /* reported where its documents are checked */
    definition_check_index(c, s, t->join.parent_columns, t->join.n_parent_columns,
                           definitions_place(c->d, t->join.parent_columns[0], t->place),
                           "Millrace finds the children of a changed parent");
}

static void check_root(struct checker *c, const struct checked_table *s,
                       const struct table_definition *t)
{
    if (s->facts->schema->is_view) {
        if (!check_view(c, s, t))
            return;
    } else {
        definition_check_key(c, s, t);
        definition_check_unique_keys(c, s, t);
    }
    check_shown(c, s, t->all_columns, t->columns, t->n_columns, t->relations, t->n_relations);
    check_clause(c, s, CLAUSE_WHERE, t->filter, t->place);
    definition_check_generated(
        c, s, &(struct used_columns){t->all_columns, t->columns, t->n_columns, {t->filter}});
    if (t->soft_delete_given)
        check_soft_delete(c, s, t);
    definition_check_bucket(c, s, t);
    check_time_column(c, s, t);
    check_way_down(c, s, t);
    definition_check_top_relations(c, s, t);
}

static struct schema *find_for_mapping(void *ctx, struct str topic, struct str schema,
                                       struct str table)
{
    const struct checker *c = ctx;
    const struct table_facts *facts = c->source->find(c->source->ctx, topic, schema, table);

    return facts == NULL ? NULL : facts->schema;
}

void definition_check_facts(const struct definitions *d, const struct table_definition *t,
                            const struct check_source *source, struct problems *problems)
{
    struct checker c = {d, source, problems, false};
    size_t before = problems_count(problems, SEVERITY_ERROR);
    struct checked_table root = checked_table_find(&c, t->table, t->place);
    const struct mapping_request request = {
        .definitions = d, .table = t, .alone = true, .find = find_for_mapping, .ctx = &c};

    root.reach = reach_root(root.facts != NULL ? root.facts->n_rows : 0);
    if (root.facts != NULL)
        check_root(&c, &root, t);
    check_relations(&c, &root, t->relations, t->n_relations);
    /* It would only repeat what is missing. */
    if (!c.incomplete && problems_count(problems, SEVERITY_ERROR) == before)
        mapping_check(&request, problems);
}
