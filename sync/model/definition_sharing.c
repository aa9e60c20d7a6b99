#include "config.h"

#include "sync/model/definition_sharing.h"

#include "sync/model/definition_members.h"

#include <stdint.h>

struct checker {
    const struct definitions *d;
    struct problems *problems;
};

#define REPORT(c, text, otherwise, ...)         \
    problems_add((c)->problems, SEVERITY_ERROR, \
                 definitions_place((c)->d, (text), (otherwise)), __VA_ARGS__)

/* ---- patterns ---- */

static void count_database(void *ctx, const struct database_definition *db)
{
    (void)db;
    (*(size_t *)ctx)++;
}

static void check_pattern(struct checker *c, const struct table_definition *t)
{
    char text[200];
    const char *wrong = definition_pattern_wrong(t->pattern, text, sizeof(text));
    size_t n_databases = 0;

    if (t->table.len > 0)
        REPORT(c, t->pattern, t->place, "a table has `table` or `pattern`, not both");
    if (wrong != NULL) {
        REPORT(c, t->pattern, t->place, "`pattern` is no regular expression: %s", wrong);
        problems_fix(c->problems, "an extended one of the database, `\\.`, and one of the table: "
                                  "'shop_[0-9]+\\.orders_[0-9]+'");
        return;
    }
    if (t->index.len == 0)
        REPORT(c, t->pattern, t->place, "a `pattern` has no name for its index: give it `index`");
    if (t->schema_changes == SCHEMA_CHANGES_STOP)
        REPORT(c, t->pattern, t->place,
               "tables of a `pattern` come and go: leave out `schema_changes: stop`");
    if (t->join.given)
        REPORT(c, t->pattern, t->place, "`join` is for single tables: leave out it or `pattern`");
    definition_pattern_databases(c->d, t, count_database, &n_databases);
    if (n_databases == 0) {
        REPORT(c, t->pattern, t->place, "no database that is defined has a name like `%" STR_FMT
               "`", STR_ARG(t->pattern));
        problems_fix(c->problems, "name each of them in `databases`");
    } else if (definition_topic(c->d, t) == NULL) {
        REPORT(c, t->pattern, t->place,
               "the databases of `%" STR_FMT "` are on several topics: an index has one",
               STR_ARG(t->pattern));
        problems_fix(c->problems, "give each topic its own index, and search both by one alias of "
                                  "yours");
    }
}

/* ---- joins ---- */

static void check_parent(struct checker *c, const struct table_definition *t)
{
    const struct table_definition *parent = definitions_table(c->d, t->join.parent);

    if (parent == NULL)
        REPORT(c, t->join.parent, t->place, "the parent `%" STR_FMT "` is not defined",
               STR_ARG(t->join.parent));
    else if (!parent->join.given)
        REPORT(c, t->join.parent, t->place, "the parent `%" STR_FMT "` has no `join` itself",
               STR_ARG(t->join.parent));
    else if (!str_equal(table_index(parent), table_index(t)))
        REPORT(c, t->join.parent, t->place,
               "parent and child are in one index: `%" STR_FMT "` is in `%" STR_FMT
               "`, this one in `%" STR_FMT "`",
               STR_ARG(t->join.parent), STR_ARG(table_index(parent)), STR_ARG(table_index(t)));
    else if (definition_join_level(c->d, t) == SIZE_MAX)
        REPORT(c, t->join.parent, t->place, "the parents of `%" STR_FMT "` lead in a circle",
               STR_ARG(t->table));
    if (t->join.n_parent_columns == 0)
        REPORT(c, t->join.parent, t->place, "a child needs `parent_column`, which holds the "
                                            "parent's key");
}

/* The table right below the root that t leads to. */
static const struct table_definition *second_level(const struct checker *c,
                                                   const struct table_definition *t)
{
    while (definition_join_level(c->d, t) > 1)
        t = definitions_table(c->d, t->join.parent);
    return t;
}

/* What holds the root's key is as many columns in each of its tables. */
static void check_root_size(struct checker *c, const struct table_definition *t)
{
    const struct table_definition *child = second_level(c, t);
    const size_t n = child->join.n_parent_columns;

    if (n == 0 || t->n_root_columns == n)
        return;
    REPORT(c, t->root_columns[0], t->place,
           "`root_column` has %zu column%s, and `parent_column` of `%" STR_FMT
           "`, which holds the same key, %zu",
           t->n_root_columns, t->n_root_columns == 1 ? "" : "s", STR_ARG(child->table), n);
    problems_fix(c->problems,
                 "name the columns that hold the key of `%" STR_FMT
                 "`, in the order of that `parent_column`",
                 STR_ARG(child->join.parent));
}

static void check_root_columns(struct checker *c, const struct table_definition *t)
{
    const size_t level = definition_join_level(c->d, t);

    if (level == SIZE_MAX)
        return; /* told above */
    if (level >= 2 && t->n_root_columns == 0) {
        const struct table_definition *root = definition_join_root(c->d, t);

        REPORT(c, t->join.parent, t->place,
               "`%" STR_FMT "` is below the second level: it needs `root_column`, which holds the "
               "key of its `%" STR_FMT "`",
               STR_ARG(t->table), STR_ARG(root->table));
        problems_fix(c->problems,
                     "documents of one root lie together; `root_column` says which it "
                     "is while the row's parent is not there; of a table that does not know "
                     "it, name a column that is always NULL");
    } else if (level >= 2) {
        check_root_size(c, t);
    } else if (t->n_root_columns > 0) {
        REPORT(c, t->root_columns[0], t->place,
               "`root_column` is for tables below the second level of a join");
    }
}

static void check_join(struct checker *c, const struct table_definition *t)
{
    if (t->join.parent.len > 0)
        check_parent(c, t);
    else if (t->join.n_parent_columns > 0)
        REPORT(c, t->join.parent_columns[0], t->place, "`parent_column` needs `parent`");
    check_root_columns(c, t);
}

/* ---- several tables ---- */

/* The one that somebody has just written is at fault, not the one that is stored. */
static const struct table_definition *newer(const struct table_definition *a,
                                            const struct table_definition *b)
{
    return a->place.line == 0 && b->place.line > 0 ? b : a;
}

static void report_shared(struct checker *c, const struct table_definition *t,
                          const struct table_definition *other)
{
    const struct table_definition *wrong = newer(t, other);

    REPORT(c, wrong->index, wrong->place, "index `%" STR_FMT "` belongs to table `%" STR_FMT "`",
           STR_ARG(table_index(t)), STR_ARG(table_name(wrong == t ? other : t)));
    problems_fix(c->problems, "tables that share an index are parent and child (`join`), or alike "
                              "(`pattern`); else give this one another `index`");
}

static bool agree(struct str a, struct str b)
{
    return a.len == 0 || b.len == 0 || str_equal(a, b);
}

static const struct topic_definition *topic_of(const struct checker *c,
                                               const struct table_definition *t)
{
    return definitions_topic_of(c->d, t->table);
}

/* Two tables of one join. */
static void check_members(struct checker *c, const struct table_definition *a,
                          const struct table_definition *b)
{
    const struct table_definition *t = newer(a, b), *other = t == a ? b : a;

    if (str_equal(a->join.name, b->join.name))
        REPORT(c, t->join.name, t->place,
               "two tables of index `%" STR_FMT "` are called `%" STR_FMT "` in its join field",
               STR_ARG(table_index(t)), STR_ARG(t->join.name));
    if (!str_equal(join_field(&a->join), join_field(&b->join)))
        REPORT(c, t->join.field, t->place,
               "an index has one join field: `%" STR_FMT "` calls it `%" STR_FMT
               "`, this one `%" STR_FMT "`",
               STR_ARG(other->table), STR_ARG(join_field(&other->join)),
               STR_ARG(join_field(&t->join)));
    if (a->join.parent.len == 0 && b->join.parent.len == 0) {
        REPORT(c, t->join.name, t->place, "index `%" STR_FMT "` has two roots, this and `%" STR_FMT
               "`", STR_ARG(table_index(t)), STR_ARG(other->table));
        problems_fix(c->problems, "name the parent of one of them with `join.parent`");
    }
    if (!agree(a->settings_json, b->settings_json))
        REPORT(c, t->settings_json, t->place,
               "`settings` are those of the index: `%" STR_FMT "` says something else",
               STR_ARG(other->table));
    if (a->schema_changes != b->schema_changes)
        REPORT(c, t->table, t->place,
               "`schema_changes` is that of the index: `%" STR_FMT "` says something else",
               STR_ARG(other->table));
    if (topic_of(c, a) != topic_of(c, b))
        REPORT(c, t->table, t->place,
               "tables of one index are on one topic: `%" STR_FMT "` is on another",
               STR_ARG(other->table));
}

static void check_pair(struct checker *c, const struct table_definition *t,
                       const struct table_definition *other)
{
    if (table_index(t).len == 0 || !str_equal(table_index(t), table_index(other)) ||
        str_equal(table_name(t), table_name(other)))
        return;
    if (t->join.given && other->join.given)
        check_members(c, t, other);
    else
        report_shared(c, t, other);
}

void definition_check_sharing(const struct definitions *d, struct problems *problems)
{
    struct checker c = {d, problems};

    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];

        if (t->pattern.len > 0)
            check_pattern(&c, t);
        else if (t->source_field.len > 0)
            REPORT(&c, t->source_field, t->place, "`source_field` names the table of a `pattern`");
        if (t->join.given)
            check_join(&c, t);
        else if (t->n_root_columns > 0)
            REPORT(&c, t->root_columns[0], t->place,
                   "`root_column` is for the tables of a `join`");
        for (size_t k = 0; k < i; k++)
            check_pair(&c, t, &d->tables[k]);
    }
}
