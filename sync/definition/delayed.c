#include "config.h"

#include "sync/definition/delayed.h"

#include "src/base/arena.h"
#include "src/base/nearest.h"
#include "src/format/yaml_read.h"
#include "sync/definition/expression.h"

#include <string.h>

/* ---- the list ---- */

static struct str text_of(struct arena *a, const struct yaml_node *map, const char *name)
{
    const struct yaml_node *value = yaml_find(map, str_from(name));

    return value == NULL || value->kind != YAML_SCALAR ? STR("") : arena_copy(a, value->text);
}

size_t top_relations_read(struct arena *a, const struct table_definition *t,
                          struct top_relation **out)
{
    struct problems *ignored = problems_new();
    const struct yaml_node *list =
        t->top_relations_json.len == 0
            ? NULL
            : yaml_read(a, "top_relations", t->top_relations_json, ignored);
    size_t n = 0;

    *out = NULL;
    if (list != NULL && list->kind == YAML_LIST) {
        *out = arena_alloc(a, list->n + 1, sizeof(**out));
        for (size_t i = 0; i < list->n; i++)
            (*out)[n++] = (struct top_relation){
                .table = text_of(a, list->items[i], "table"),
                .column = text_of(a, list->items[i], "column"),
                .level_sql = text_of(a, list->items[i], "level_sql"),
                .business_id = text_of(a, list->items[i], "business_id"),
                .target_key = text_of(a, list->items[i], "target_key"),
            };
    }
    problems_free(ignored);
    return n;
}

/* ---- checks ---- */

struct delayed_check {
    const struct definitions *d;
    struct problems *problems;
    const struct table_definition *t;
    struct place place; /* of the list, or of the table */
};

#define REPORT(c, ...) problems_add((c)->problems, SEVERITY_ERROR, (c)->place, __VA_ARGS__)

/* Whether a relation whose changes are followed leads to the table. */
static bool relations_follow(const struct relation_definition *relations, size_t n,
                             struct str table)
{
    for (size_t i = 0; i < n; i++) {
        const struct relation_definition *r = &relations[i];
        const bool is = str_equal(r->table, table) ||
                        (r->through.given && str_equal(r->through.table, table));

        if ((is && r->refresh != REFRESH_NONE) ||
            relations_follow(r->relations, r->n_relations, table))
            return true;
    }
    return false;
}

static void check_statement(const struct delayed_check *c, const struct top_relation *r)
{
    const char *fault = statement_find_fault(r->level_sql);
    struct expression_doubt doubt;

    if (fault != NULL) {
        REPORT(c, "`level_sql` of `%" STR_FMT "` %s", STR_ARG(r->table), fault);
        problems_fix(c->problems, "give one SELECT statement, without `;` and comments");
    } else if (statement_find_doubt(r->level_sql, &doubt)) {
        REPORT(c, "`%" STR_FMT "` in `level_sql` of `%" STR_FMT "` %s", STR_ARG(doubt.what),
               STR_ARG(r->table), doubt.why);
        problems_fix(c->problems, "%s", doubt.fix);
    }
}

static void report_no_table(const struct delayed_check *c, struct str name)
{
    struct nearest near = nearest_to(name);

    for (size_t i = 0; i < c->d->n_tables; i++)
        nearest_offer(&near, table_name(&c->d->tables[i]));
    REPORT(c,
           "top relation `%" STR_FMT "` is not a table of these definitions, so it has no index"
           "%s%" STR_FMT "%s",
           STR_ARG(name), near.best.len > 0 ? "; did you mean `" : "", STR_ARG(near.best),
           near.best.len > 0 ? "`?" : "");
}

static bool is_on_another_server(const struct delayed_check *c, struct str table)
{
    const struct topic_definition *own = definitions_topic_of(c->d, table_name(c->t)),
                                  *of = definitions_topic_of(c->d, table);

    return own != NULL && of != NULL && !str_equal(own->name, of->name);
}

static void check_top(const struct delayed_check *c, const struct top_relation *r)
{
    const struct table_definition *top = definitions_table(c->d, r->table);

    check_statement(c, r);
    if (str_equal(r->table, table_name(c->t))) {
        REPORT(c,
               "top relation `%" STR_FMT "` is the delayed table itself: its own documents "
               "follow at once",
               STR_ARG(r->table));
    } else if (top == NULL) {
        report_no_table(c, r->table);
    } else if (is_on_another_server(c, r->table)) {
        REPORT(c,
               "top relation `%" STR_FMT "` is on another server than `%" STR_FMT
               "`: no statement can join them",
               STR_ARG(r->table), STR_ARG(table_name(c->t)));
        problems_fix(c->problems, "leave it out: Millrace follows the relation by itself");
    } else if (!relations_follow(top->relations, top->n_relations, table_name(c->t))) {
        REPORT(c,
               "documents of top relation `%" STR_FMT "` show no rows of `%" STR_FMT
               "` that they follow",
               STR_ARG(r->table), STR_ARG(table_name(c->t)));
        problems_fix(c->problems, "give it a relation to that table, without `refresh: none`");
    }
}

/* Whether top relations of delayed tables lead from `from` to `to`; at most depth steps. */
static bool leads_to(const struct definitions *d, struct arena *a, struct str from,
                     struct str to, size_t depth)
{
    const struct table_definition *t = definitions_table(d, from);
    struct top_relation *list;
    const size_t n = t == NULL || depth == 0 ? 0 : top_relations_read(a, t, &list);

    for (size_t i = 0; i < n; i++)
        if (!str_equal(list[i].table, from) &&
            (str_equal(list[i].table, to) || leads_to(d, a, list[i].table, to, depth - 1)))
            return true;
    return false;
}

#define DEPTH_MAX 8

static void check_tops(const struct delayed_check *c)
{
    struct arena *a = arena_new();
    struct top_relation *list;
    const size_t n = top_relations_read(a, c->t, &list);

    for (size_t i = 0; i < n; i++) {
        check_top(c, &list[i]);
        for (size_t k = 0; k < i; k++)
            if (str_equal(list[i].table, list[k].table))
                REPORT(c, "two top relations lead to `%" STR_FMT "`", STR_ARG(list[i].table));
    }
    if (leads_to(c->d, a, table_name(c->t), table_name(c->t), DEPTH_MAX))
        REPORT(c, "the top relations of `%" STR_FMT "` lead back to it, in a circle",
               STR_ARG(table_name(c->t)));
    arena_free(a);
}

static void check_table(const struct delayed_check *c)
{
    if (c->t->delayed && c->t->pattern.len > 0)
        REPORT(c, "`delayed` is for one table, not for a `pattern`");
    if (c->t->top_relations_json.len == 0)
        return;
    if (c->t->delayed) {
        check_tops(c);
    } else {
        REPORT(c, "`top_relations` are for a delayed table");
        problems_fix(c->problems, "add `delayed: true`, or leave them out");
    }
}

void definition_check_delayed(const struct definitions *d, struct problems *problems)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];

        check_table(&(struct delayed_check){
            d, problems, t, definitions_place(d, t->top_relations_json, t->place)});
    }
}
