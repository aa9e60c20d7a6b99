#include "config.h"

#include "sync/definition/links.h"

#include "src/base/map.h"
#include "src/base/nearest.h"
#include "sync/definition/delayed.h"
#include "sync/definition/members.h"
#include "sync/definition/rule.h"
#include "sync/definition/sharing.h"
#include "sync/definition/transform.h"

struct link_checker {
    const struct definitions *d;
    struct problems *problems;
};

#define REPORT(c, text, otherwise, ...)         \
    problems_add((c)->problems, SEVERITY_ERROR, \
                 definitions_place((c)->d, (text), (otherwise)), __VA_ARGS__)

static void report_unknown(struct link_checker *c, const char *noun, struct str name,
                           const struct nearest *near, struct place otherwise)
{
    REPORT(c, name, otherwise, "there is no %s `%" STR_FMT "`%s%" STR_FMT "%s", noun,
           STR_ARG(name), near->best.len > 0 ? "; did you mean `" : "", STR_ARG(near->best),
           near->best.len > 0 ? "`?" : "");
}

/* ---- topics and databases ---- */

static void check_server_ids(struct link_checker *c)
{
    const struct topic_definition *t = c->d->topics;

    for (size_t i = 0; i < c->d->n_topics; i++)
        for (size_t k = 0; k < i; k++)
            if (t[i].server_id != 0 && t[i].server_id == t[k].server_id &&
                str_equal(t[i].server.address, t[k].server.address))
                problems_add(c->problems, SEVERITY_ERROR, t[i].place,
                             "topics `%" STR_FMT "` and `%" STR_FMT "` read the same server "
                             "with the same `server_id`: the server would disconnect each in "
                             "turn",
                             STR_ARG(t[k].name), STR_ARG(t[i].name));
}

static void check_database(struct link_checker *c, const struct database_definition *db)
{
    struct nearest near = nearest_to(db->topic);

    if (db->topic.len == 0)
        return;
    if (definitions_topic(c->d, db->topic) == NULL) {
        for (size_t i = 0; i < c->d->n_topics; i++)
            nearest_offer(&near, c->d->topics[i].name);
        report_unknown(c, "topic", db->topic, &near, db->place);
    }
    for (const struct database_definition *other = c->d->databases; other < db; other++)
        if (str_equal(other->topic, db->topic) &&
            str_equal(database_schema(other), database_schema(db)))
            problems_add(c->problems, SEVERITY_ERROR, db->place,
                         "databases `%" STR_FMT "` and `%" STR_FMT
                         "` are the same on topic `%" STR_FMT "`",
                         STR_ARG(other->name), STR_ARG(db->name), STR_ARG(db->topic));
}

/* The database of DATABASE.TABLE.  NULL after a report, or if the text itself is invalid. */
static const struct database_definition *
check_table_name(struct link_checker *c, struct str table, struct place otherwise)
{
    struct str database, name;

    if (!definition_split_table(table, &database, &name))
        return NULL;

    const struct database_definition *db = definitions_database(c->d, database);
    struct nearest near = nearest_to(database);

    if (db != NULL)
        return db;
    for (size_t i = 0; i < c->d->n_databases; i++)
        nearest_offer(&near, c->d->databases[i].name);
    REPORT(c, table, otherwise, "there is no database `%" STR_FMT "`%s%" STR_FMT "%s",
           STR_ARG(database), near.best.len > 0 ? "; did you mean `" : "", STR_ARG(near.best),
           near.best.len > 0 ? "`?" : "");
    return NULL;
}

/* ---- the fields of one object of a document ---- */

static void check_transform(struct link_checker *c, const struct column_definition *col)
{
    struct transforms steps;
    struct err err = {0};

    if (!transforms_parse(c->d->arena, col->transform_json, &steps, &err))
        REPORT(c, col->transform_json, col->place, "%s", err.msg);
    else if (steps.n > 0 && col->has_value)
        problems_add(c->problems, SEVERITY_ERROR, col->place,
                     "`value` is the same in every document: leave out `transform`");
}

static void check_column(struct link_checker *c, const struct column_definition *col)
{
    const char *wrong = rule_field(column_as(col));

    if (column_is_rest(col)) {
        if (col->as.len + col->type.len + col->analyzer.len + col->format.len + col->n_copy_to >
                0 ||
            col->keyword || col->skip || col->has_default || col->has_value ||
            col->transform_json.len > 0)
            problems_add(c->problems, SEVERITY_ERROR, col->place,
                         "`*` stands for many columns: it has no fields of its own");
        return;
    }
    check_transform(c, col);
    if (col->has_value && (col->skip || col->has_default))
        problems_add(c->problems, SEVERITY_ERROR, col->place,
                     "`value` is the same in every document: leave out `%s`",
                     col->skip ? "skip" : "default");
    if (!col->skip && col->name.len > 0 && wrong != NULL) {
        REPORT(c, column_as(col), col->place, "`%" STR_FMT "` %s", STR_ARG(column_as(col)),
               wrong);
        problems_fix(c->problems, "give it another name in the document with `as`");
    }
    if (col->search_analyzer.len > 0 && col->analyzer.len == 0)
        REPORT(c, col->search_analyzer, col->place, "`search_analyzer` needs `analyzer`");
}

static void take_name(struct link_checker *c, struct map *names, struct str name,
                      struct place place)
{
    const struct place *first = map_find(names, name);

    if (first == NULL) {
        struct place *kept = arena_alloc(c->d->arena, 1, sizeof(*kept));

        *kept = place;
        map_put(names, name, kept);
        return;
    }
    problems_add(c->problems, SEVERITY_ERROR, place,
                 "two fields of one document are called `%" STR_FMT "`%s", STR_ARG(name),
                 first->line > 0 ? "" : ", one in the stored definitions");
    if (first->line > 0)
        problems_fix(c->problems, "rename one of them with `as`; the first is in line %u",
                     first->line);
}

static void check_fields(struct link_checker *c, const struct column_definition *columns,
                         size_t n_columns, const struct relation_definition *relations,
                         size_t n_relations)
{
    struct map *names = map_new();
    size_t n_skipped = 0;

    for (size_t i = 0; i < n_columns; i++) {
        const struct column_definition *col = &columns[i];

        check_column(c, col);
        n_skipped += col->skip ? 1 : 0;
        if (!col->skip && col->name.len > 0)
            take_name(c, names, column_as(col),
                      definitions_place(c->d, column_as(col), col->place));
    }
    if (n_columns > 0 && n_skipped == n_columns) {
        problems_add(c->problems, SEVERITY_WARNING, columns[0].place,
                     "the list skips every column it names, so no column is shown");
        problems_fix(c->problems, "add '*' to the list for the other columns");
    }
    for (size_t i = 0; i < n_relations; i++) {
        const struct relation_definition *r = &relations[i];
        const char *wrong = rule_field(relation_as(r));

        if (r->table.len == 0)
            continue;
        take_name(c, names, relation_as(r), definitions_place(c->d, r->as, r->place));
        if (wrong != NULL && r->as.len == 0)
            problems_add(c->problems, SEVERITY_ERROR, r->place, "`%" STR_FMT "` %s",
                         STR_ARG(relation_as(r)), wrong);
    }
    map_free(names, NULL);
}

/* ---- relations ---- */

static void check_pairs(struct link_checker *c, const struct relation_definition *r)
{
    size_t n_left = r->through.given ? r->through.n_to : r->n_from;

    if (r->n_to != n_left && r->n_to > 0 && n_left > 0)
        problems_add(c->problems, SEVERITY_ERROR, definitions_place(c->d, r->to[0], r->place),
                     "`to` has %zu column%s and %s has %zu", r->n_to, r->n_to == 1 ? "" : "s",
                     r->through.given ? "`to` of `through`" : "`from`", n_left);
    if (r->through.given && r->through.n_from != r->n_from && r->n_from > 0)
        problems_add(c->problems, SEVERITY_ERROR, definitions_place(c->d, r->from[0], r->place),
                     "`from` has %zu column%s and `from` of `through` has %zu", r->n_from,
                     r->n_from == 1 ? "" : "s", r->through.n_from);
}

#define DEPTH_MAX 10

struct wrong {
    bool is;
    const char *why, *fix;
};

/* Check that the fields of a relation fit together. */
static void check_form(struct link_checker *c, const struct relation_definition *r,
                       struct str outer)
{
    const bool values = r->values.len > 0;
    const struct wrong wrongs[] = {
        {!r->many && (r->distinct || r->limit > 0), "`distinct` and `limit` need an array",
         "add `many: true`"},
        {r->nested && r->flattened, "a field cannot be both `nested` and `flattened`",
         "leave one of them out"},
        {values && (r->nested || r->flattened), "`values` makes no objects",
         "leave out `nested` and `flattened`"},
        {values && (r->n_relations > 0 || r->max_depth > 0),
         "`values` makes no objects that could hold relations",
         "leave out `values`, or `relations` and `max_depth`"},
        {values && r->n_columns > 0 &&
             (r->n_columns > 1 || !str_equal(r->columns[0].name, r->values) ||
              r->columns[0].skip || r->columns[0].as.len > 0),
         "with `values`, `columns` may only list that column, for its type",
         "leave out `columns`, or the others"},
        {r->max_depth > 0 && !str_equal(r->table, outer),
         "`max_depth` is for a table that leads to itself",
         "leave it out, or name the outer table in `table`"},
        {r->max_depth == 0 && !values && outer.len > 0 && str_equal(r->table, outer),
         "the table leads to itself without a limit",
         "set the limit with `max_depth`; 1 follows it once"},
        {r->max_depth > DEPTH_MAX, "`max_depth` may be 10 at most", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(wrongs); i++) {
        if (!wrongs[i].is)
            continue;
        problems_add(c->problems, SEVERITY_ERROR, r->place, "%s", wrongs[i].why);
        if (wrongs[i].fix != NULL)
            problems_fix(c->problems, "%s", wrongs[i].fix);
    }
}

/* One statement reads a link table and the table beyond it. */
static void check_through(struct link_checker *c, const struct relation_definition *r,
                          const struct database_definition *db)
{
    const struct database_definition *link =
        r->through.given ? check_table_name(c, r->through.table, r->place) : NULL;

    if (link == NULL || db == NULL || str_equal(link->topic, db->topic))
        return;
    REPORT(c, r->through.table, r->place,
           "the link table is on topic `%" STR_FMT "` and `%" STR_FMT "` on topic `%" STR_FMT
           "`: no statement can join them",
           STR_ARG(link->topic), STR_ARG(r->table), STR_ARG(db->topic));
    problems_fix(c->problems,
                 "make the link table a relation of its own, with `%" STR_FMT
                 "` as a relation below it",
                 STR_ARG(r->table));
}

static void check_relations(struct link_checker *c, struct str outer,
                            const struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct relation_definition *r = &relations[i];

        const struct database_definition *db = check_table_name(c, r->table, r->place);

        check_through(c, r, db);
        check_pairs(c, r);
        check_form(c, r, outer);
        check_fields(c, r->columns, r->n_columns, r->relations, r->n_relations);
        check_relations(c, r->table, r->relations, r->n_relations);
    }
}

/* ---- tables ---- */

static void check_index(struct link_checker *c, const struct table_definition *t)
{
    struct str index = table_index(t);
    const char *wrong = t->table.len == 0 ? NULL : rule_index(index);

    if (wrong != NULL && t->index.len == 0) {
        REPORT(c, t->table, t->place, "`%" STR_FMT "` %s", STR_ARG(index), wrong);
        problems_fix(c->problems, "give the index a name with `index`");
    }
}

static void check_soft_delete(struct link_checker *c, const struct table_definition *t)
{
    const struct str json = t->soft_delete_json;

    if (t->soft_delete_given && json.len > 0 && (json.ptr[0] == '[' || json.ptr[0] == '{'))
        REPORT(c, json, t->place, "`deleted` must be a single value");
}

static void check_table(struct link_checker *c, const struct table_definition *t)
{
    if (t->table.len > 0)
        (void)check_table_name(c, t->table, t->place);
    if (t->table.len == 0 && t->pattern.len == 0)
        problems_add(c->problems, SEVERITY_ERROR, t->place,
                     "a table needs `table`, or `pattern` for many similar tables");
    check_index(c, t);
    check_soft_delete(c, t);
    if (t->sync_every_s > 0 && (t->pattern.len > 0 || t->join.given))
        problems_add(
            c->problems, SEVERITY_ERROR, t->place,
            "`sync_every` is for a table with an index of its own: not with `pattern` or "
            "`join`");
    if (t->sync_every_s > 0 && t->daily_check_column.len == 0)
        problems_add(
            c->problems, SEVERITY_ERROR, t->place,
            "`sync_every` needs `daily_check_column`: a column with the time of a row's "
            "last change");
    check_fields(c, t->columns, t->n_columns, t->relations, t->n_relations);
    check_relations(c, t->table, t->relations, t->n_relations);
}

void definition_check_links(const struct definitions *d, struct problems *problems)
{
    struct link_checker c = {.d = d, .problems = problems};

    check_server_ids(&c);
    for (size_t i = 0; i < d->n_databases; i++)
        check_database(&c, &d->databases[i]);
    for (size_t i = 0; i < d->n_tables; i++)
        check_table(&c, &d->tables[i]);
    definition_check_sharing(d, problems);
    definition_check_delayed(d, problems);
}

struct database_use {
    struct str database;
    bool found;
};

static void note_use(void *ctx, struct str table)
{
    struct database_use *use = ctx;
    struct str database, name;

    if (definition_split_table(table, &database, &name) && str_equal(database, use->database))
        use->found = true;
}

static void note_database(void *ctx, const struct database_definition *db)
{
    struct database_use *use = ctx;

    if (str_equal(db->name, use->database))
        use->found = true;
}

bool definition_uses_database(const struct definitions *d, const struct table_definition *t,
                              struct str database)
{
    struct database_use use = {database, false};

    table_visit(t, note_use, &use);
    if (t->pattern.len > 0)
        definition_pattern_databases(d, t, note_database, &use);
    return use.found;
}
