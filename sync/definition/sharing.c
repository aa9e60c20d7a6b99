#include "config.h"

#include "sync/definition/sharing.h"

#include "src/base/mem.h"
#include "sync/definition/members.h"

#include <stdint.h>
#include <stdlib.h>

struct sharing_checker {
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

static void check_pattern(struct sharing_checker *c, const struct table_definition *t)
{
    char text[200];
    const char *wrong = definition_pattern_wrong(t->pattern, text, sizeof(text));
    size_t n_databases = 0;

    if (t->table.len > 0)
        REPORT(c, t->pattern, t->place, "a table has `table` or `pattern`, not both");
    if (wrong != NULL) {
        REPORT(c, t->pattern, t->place, "`pattern` is not a regular expression: %s", wrong);
        problems_fix(c->problems,
                     "write an extended one for the database, `\\.`, and one for the table: "
                     "'shop_[0-9]+\\.orders_[0-9]+'");
        return;
    }
    if (t->index.len == 0)
        REPORT(c, t->pattern, t->place, "a `pattern` does not name its index: add `index`");
    if (t->schema_changes == SCHEMA_CHANGES_STOP)
        REPORT(c, t->pattern, t->place,
               "tables of a `pattern` come and go: leave out `schema_changes: stop`");
    if (t->join.given)
        REPORT(c, t->pattern, t->place,
               "`join` is for single tables: leave out `join` or `pattern`");
    definition_pattern_databases(c->d, t, count_database, &n_databases);
    if (n_databases == 0) {
        REPORT(c, t->pattern, t->place,
               "no defined database has a name that matches `%" STR_FMT "`",
               STR_ARG(t->pattern));
        problems_fix(c->problems, "name each of them in `databases`");
    } else if (definition_topic(c->d, t) == NULL) {
        REPORT(c, t->pattern, t->place,
               "the databases of `%" STR_FMT "` are on several topics, but an index has one",
               STR_ARG(t->pattern));
        problems_fix(c->problems,
                     "give each topic its own index, and search them through an alias of your "
                     "own");
    }
}

/* ---- joins ---- */

static void check_parent(struct sharing_checker *c, const struct table_definition *t)
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
               "parent and child must share an index: `%" STR_FMT "` is in `%" STR_FMT "`, "
               "this one in `%" STR_FMT "`",
               STR_ARG(t->join.parent), STR_ARG(table_index(parent)), STR_ARG(table_index(t)));
    else if (definition_join_level(c->d, t) == SIZE_MAX)
        REPORT(c, t->join.parent, t->place, "the parents of `%" STR_FMT "` form a circle",
               STR_ARG(t->table));
    if (t->join.n_parent_columns == 0)
        REPORT(c, t->join.parent, t->place,
               "a child needs `parent_column`, which holds the "
               "parent's key");
}

/* The table right below the root on t's path. */
static const struct table_definition *second_level(const struct sharing_checker *c,
                                                   const struct table_definition *t)
{
    while (definition_join_level(c->d, t) > 1)
        t = definitions_table(c->d, t->join.parent);
    return t;
}

/* The columns with the root's key must be equally many in all tables of a join. */
static void check_root_size(struct sharing_checker *c, const struct table_definition *t)
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

static void check_root_columns(struct sharing_checker *c, const struct table_definition *t)
{
    const size_t level = definition_join_level(c->d, t);

    if (level == SIZE_MAX)
        return; /* reported above */
    if (level >= 2 && t->n_root_columns == 0) {
        const struct table_definition *root = definition_join_root(c->d, t);

        REPORT(c, t->join.parent, t->place,
               "`%" STR_FMT
               "` is below the second level: it needs `root_column`, which holds the "
               "key of its `%" STR_FMT "`",
               STR_ARG(t->table), STR_ARG(root->table));
        problems_fix(c->problems,
                     "documents of one root lie together; `root_column` names it while the "
                     "row's parent is missing; if the table does not know its root, name a "
                     "column that is always NULL");
    } else if (level >= 2) {
        check_root_size(c, t);
    } else if (t->n_root_columns > 0) {
        REPORT(c, t->root_columns[0], t->place,
               "`root_column` is for tables below the second level of a join");
    }
}

static void check_join(struct sharing_checker *c, const struct table_definition *t)
{
    if (t->join.parent.len > 0)
        check_parent(c, t);
    else if (t->join.n_parent_columns > 0)
        REPORT(c, t->join.parent_columns[0], t->place, "`parent_column` needs `parent`");
    check_root_columns(c, t);
}

/* ---- several tables ---- */

/* Blame the definition just written, not the stored one. */
static const struct table_definition *newer(const struct table_definition *a,
                                            const struct table_definition *b)
{
    return a->place.line == 0 && b->place.line > 0 ? b : a;
}

static void report_shared(struct sharing_checker *c, const struct table_definition *t,
                          const struct table_definition *other)
{
    const struct table_definition *wrong = newer(t, other);

    REPORT(c, wrong->index, wrong->place,
           "index `%" STR_FMT "` belongs to table `%" STR_FMT "`", STR_ARG(table_index(t)),
           STR_ARG(table_name(wrong == t ? other : t)));
    problems_fix(c->problems,
                 "tables that share an index must be parent and child (`join`) or similar "
                 "(`pattern`); otherwise give this one another `index`");
}

static bool agree(struct str a, struct str b)
{
    return a.len == 0 || b.len == 0 || str_equal(a, b);
}

static const struct topic_definition *topic_of(const struct sharing_checker *c,
                                               const struct table_definition *t)
{
    return definitions_topic_of(c->d, t->table);
}

/* Check two tables of one join. */
static void check_members(struct sharing_checker *c, const struct table_definition *a,
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
        REPORT(c, t->join.name, t->place,
               "index `%" STR_FMT "` has two roots, this table and `%" STR_FMT "`",
               STR_ARG(table_index(t)), STR_ARG(other->table));
        problems_fix(c->problems, "name the parent of one of them with `join.parent`");
    }
    if (!agree(a->settings_json, b->settings_json))
        REPORT(c, t->settings_json, t->place,
               "`settings` apply to the whole index, but `%" STR_FMT "` has others",
               STR_ARG(other->table));
    if (a->schema_changes != b->schema_changes)
        REPORT(c, t->table, t->place,
               "`schema_changes` applies to the whole index, but `%" STR_FMT "` has another",
               STR_ARG(other->table));
    if (topic_of(c, a) != topic_of(c, b))
        REPORT(c, t->table, t->place,
               "tables of one index must be on one topic: `%" STR_FMT "` is on another",
               STR_ARG(other->table));
}

static int compare_indexes(const void *a, const void *b)
{
    const struct table_definition *x = *(const struct table_definition *const *)a,
                                  *y = *(const struct table_definition *const *)b;
    const int order = str_order(table_index(x), table_index(y));

    return order != 0 ? order : (x > y) - (x < y);
}

/*
 * Check t against the members of its index before it.  Reports once a table that does not
 * belong.
 */
static void check_shared(struct sharing_checker *c,
                         const struct table_definition *const *others, size_t n,
                         const struct table_definition *t)
{
    for (size_t i = 0; i < n; i++) {
        if (str_equal(table_name(t), table_name(others[i])))
            continue;
        if (!t->join.given || !others[i]->join.given) {
            report_shared(c, t, others[i]);
            return;
        }
        check_members(c, t, others[i]);
    }
}

static void check_indexes(struct sharing_checker *c)
{
    const size_t n = c->d->n_tables;
    const struct table_definition **tables = mem_alloc(n + 1, sizeof(*tables));
    size_t first = 0;

    for (size_t i = 0; i < n; i++)
        tables[i] = &c->d->tables[i];
    qsort(tables, n, sizeof(*tables), compare_indexes);
    for (size_t i = 1; i < n; i++) {
        if (!str_equal(table_index(tables[i]), table_index(tables[first])))
            first = i;
        else if (table_index(tables[i]).len > 0)
            check_shared(c, tables + first, i - first, tables[i]);
    }
    free(tables);
}

void definition_check_sharing(const struct definitions *d, struct problems *problems)
{
    struct sharing_checker c = {d, problems};

    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];

        if (t->pattern.len > 0)
            check_pattern(&c, t);
        else if (t->source_field.len > 0)
            REPORT(&c, t->source_field, t->place,
                   "`source_field` names the table of a `pattern`");
        if (t->join.given)
            check_join(&c, t);
        else if (t->n_root_columns > 0)
            REPORT(&c, t->root_columns[0], t->place,
                   "`root_column` is for the tables of a `join`");
    }
    check_indexes(&c);
}
