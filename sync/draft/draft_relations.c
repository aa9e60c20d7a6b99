#include "config.h"

#include "sync/draft/draft_relations.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/format/yaml_name.h"
#include "sync/catalog/table_indexes.h"
#include "sync/check/columns_generate.h"
#include "sync/draft/draft_name.h"
#include "sync/draft/survey.h"

#include <stdint.h>

/* The engines' limits of an index are 1,000 fields and 50 nested ones. */
#define FIELDS_MAX 900
#define NESTED_MAX 40

/* ---- the graph of foreign keys ---- */

static size_t table_of(const struct map *tables, struct str name, size_t otherwise)
{
    const void *found = map_find(tables, name);

    return found == NULL ? otherwise : (size_t)(uintptr_t)found - 1;
}

static bool has_column(const struct foreign_key *k, struct str column)
{
    for (size_t i = 0; i < k->n_columns; i++)
        if (str_equal_any_case(k->columns[i], column))
            return true;
    return false;
}

static bool is_own_key(const struct schema *s, size_t column)
{
    return s->n_key == 1 && s->key[0] == column;
}

static bool is_parent(const struct draft_graph *g, size_t table)
{
    for (size_t i = 0; i < g->survey->n_keys; i++)
        if (g->parents[i] == table)
            return true;
    return false;
}

/* A link table has nothing besides its two keys but an id and times. */
static bool only_links(const struct schema *s, const struct foreign_key *a,
                       const struct foreign_key *b)
{
    for (size_t i = 0; i < s->n_columns; i++) {
        const struct column *c = &s->columns[i];
        const bool in_a = has_column(a, c->name), in_b = has_column(b, c->name);

        if (in_a && in_b)
            return false;
        if (!in_a && !in_b && !c->invisible && !is_own_key(s, i) &&
            c->type != COLUMN_TIMESTAMP && c->type != COLUMN_DATETIME)
            return false;
    }
    return true;
}

static void find_link(struct draft_graph *g, size_t table)
{
    const struct survey *s = g->survey;
    struct draft_link *link = &g->links[table];
    size_t n = 0;

    for (size_t i = 0; i < s->n_keys; i++) {
        if (g->children[i] != table)
            continue;
        if (n == 2 || g->parents[i] == s->n_tables)
            return;
        link->keys[n++] = i;
    }
    link->is_link = n == 2 && !is_parent(g, table) && survey_is_usable(&s->tables[table]) &&
                    only_links(s->tables[table].facts->schema, &s->keys[link->keys[0]],
                               &s->keys[link->keys[1]]);
}

void draft_graph_init(struct draft_graph *g, const struct survey *s, struct str database,
                      struct arena *a)
{
    struct map *tables = map_new();

    *g = (struct draft_graph){.survey = s, .database = database};
    g->children = arena_alloc(a, s->n_keys + 1, sizeof(*g->children));
    g->parents = arena_alloc(a, s->n_keys + 1, sizeof(*g->parents));
    g->links = arena_alloc(a, s->n_tables + 1, sizeof(*g->links));
    for (size_t i = 0; i < s->n_tables; i++)
        map_put(tables, s->tables[i].name, (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < s->n_keys; i++) {
        const struct foreign_key *k = &s->keys[i];

        g->children[i] = table_of(tables, k->table, s->n_tables);
        g->parents[i] = str_equal(k->parent_schema, s->schema)
                            ? table_of(tables, k->parent_table, s->n_tables)
                            : s->n_tables;
    }
    for (size_t i = 0; i < s->n_tables; i++)
        find_link(g, i);
    map_free(tables, NULL);
}

/* ---- one relation ---- */

struct relation {
    struct str *from, *to;
    size_t n_columns, n_to;
    size_t table; /* the related one */
    bool many;
    const struct foreign_key *near, *far; /* of the link table, or NULL */
    struct str name, other_name;
};

/* The relations of one table while they are written. */
struct writing {
    const struct draft_graph *g;
    size_t table; /* the outer one */
    struct buf *yaml;
    struct map *taken; /* names of the document's fields */
    size_t n, n_fields, n_nested;
    struct buf left_out; /* "a, b" */
};

static void append_table(const struct draft_graph *g, struct str table, struct buf *yaml)
{
    struct buf name = {0};

    buf_printf(&name, "%" STR_FMT ".%" STR_FMT, STR_ARG(g->database), STR_ARG(table));
    yaml_append_name(yaml, buf_str(&name));
    buf_free(&name);
}

void draft_append_renamed(const struct schema *s, struct buf *yaml)
{
    struct buf as = {0};
    bool any = false;

    for (size_t i = 0; i < s->n_columns; i++) {
        buf_clear(&as);
        columns_append_as(&as, s, i);
        if (as.len == 0 || s->columns[i].invisible)
            continue;
        buf_append(yaml, any ? STR(", {name: ") : STR(", columns: ['*', {name: "));
        yaml_append_name(yaml, s->columns[i].name);
        buf_append(yaml, STR(", as: "));
        yaml_append_name(yaml, buf_str(&as));
        buf_append_char(yaml, '}');
        any = true;
    }
    buf_append(yaml, any ? STR("]") : STR(""));
    buf_free(&as);
}

static void append_through(const struct writing *w, const struct relation *r)
{
    buf_append(w->yaml, STR(", through: {table: "));
    append_table(w->g, r->near->table, w->yaml);
    buf_append(w->yaml, STR(", from: "));
    yaml_append_names(w->yaml, r->near->columns, r->near->n_columns);
    buf_append(w->yaml, STR(", to: "));
    yaml_append_names(w->yaml, r->far->columns, r->far->n_columns);
    buf_append_char(w->yaml, '}');
}

static void append_left_out(struct writing *w, struct str name)
{
    buf_append(&w->left_out, w->left_out.len > 0 ? STR(", ") : STR(""));
    buf_append(&w->left_out, name);
}

static void append_relation(struct writing *w, const struct relation *r)
{
    const struct survey_table *table = &w->g->survey->tables[r->table];
    const size_t n_fields = table->facts->schema->n_columns + 1;
    struct buf as = {0};

    if (w->n_fields + n_fields > FIELDS_MAX || (r->many && w->n_nested == NESTED_MAX)) {
        append_left_out(w, table->name);
        return;
    }
    w->n_fields += n_fields;
    w->n_nested += r->many;
    draft_append_relation(&as, w->taken, r->name, r->other_name);
    buf_append(w->yaml, w->n++ == 0 ? STR("    # relations:\n") : STR(""));
    buf_append(w->yaml, STR("    #   - {from: "));
    yaml_append_names(w->yaml, r->from, r->n_columns);
    if (r->near != NULL)
        append_through(w, r);
    buf_append(w->yaml, STR(", table: "));
    append_table(w->g, table->name, w->yaml);
    buf_append(w->yaml, STR(", to: "));
    yaml_append_names(w->yaml, r->to, r->n_to);
    buf_append(w->yaml, STR(", as: "));
    yaml_append_name(w->yaml, buf_str(&as));
    buf_append(w->yaml, r->many ? STR(", many: true, nested: true") : STR(""));
    buf_append(w->yaml, r->table == w->table ? STR(", max_depth: 1") : STR(""));
    draft_append_renamed(table->facts->schema, w->yaml);
    buf_append(w->yaml, STR("}\n"));
    buf_free(&as);
}

/* "table_by_column" */
static void append_by(struct buf *name, struct str table, struct str column)
{
    buf_printf(name, "%" STR_FMT "_by_%" STR_FMT, STR_ARG(table), STR_ARG(column));
}

/* ---- the three kinds ---- */

static void append_parent(struct writing *w, const struct foreign_key *k, size_t parent)
{
    const struct str stem = k->n_columns == 1 ? draft_stem(k->columns[0]) : (struct str){0};
    struct buf other = {0};

    append_by(&other, k->parent_table, k->columns[0]);
    append_relation(w, &(struct relation){
                           .from = k->columns,
                           .n_columns = k->n_columns,
                           .to = k->parent_columns,
                           .n_to = k->n_columns,
                           .table = parent,
                           .name = stem.len > 0 ? stem : k->parent_table,
                           .other_name = buf_str(&other),
                       });
    buf_free(&other);
}

static void append_child(struct writing *w, const struct foreign_key *k, size_t child)
{
    const struct table_facts *facts = w->g->survey->tables[child].facts;
    struct buf other = {0};

    append_by(&other, k->table, k->columns[0]);
    append_relation(w, &(struct relation){
                           .from = k->parent_columns,
                           .n_columns = k->n_columns,
                           .to = k->columns,
                           .n_to = k->n_columns,
                           .table = child,
                           .many = !table_indexes_single_out(facts, k->columns, k->n_columns),
                           .name = k->table,
                           .other_name = buf_str(&other),
                       });
    buf_free(&other);
}

static void append_linked(struct writing *w, size_t near, size_t far)
{
    const struct foreign_key *n = &w->g->survey->keys[near], *f = &w->g->survey->keys[far];
    struct buf other = {0};

    append_by(&other, f->parent_table, n->table);
    append_relation(w, &(struct relation){
                           .from = n->parent_columns,
                           .n_columns = n->n_columns,
                           .to = f->parent_columns,
                           .n_to = f->n_columns,
                           .table = w->g->parents[far],
                           .many = true,
                           .near = n,
                           .far = f,
                           .name = f->parent_table,
                           .other_name = buf_str(&other),
                       });
    buf_free(&other);
}

static bool is_usable(const struct writing *w, size_t table)
{
    const struct survey *s = w->g->survey;

    return table < s->n_tables && survey_is_usable(&s->tables[table]);
}

/* What key i means for the table from its own side. */
static void append_own_key(struct writing *w, size_t i)
{
    const struct foreign_key *k = &w->g->survey->keys[i];

    if (w->g->children[i] != w->table)
        return;
    if (is_usable(w, w->g->parents[i])) {
        append_parent(w, k, w->g->parents[i]);
        return;
    }
    buf_append(w->yaml, STR("    # leads to "));
    yaml_append_comment(w->yaml, k->parent_schema);
    buf_append_char(w->yaml, '.');
    yaml_append_comment(w->yaml, k->parent_table);
    buf_append(w->yaml, w->g->parents[i] < w->g->survey->n_tables
                            ? STR(", which the user may not read: ")
                            : STR(", whose database `databases` would have to name: "));
    for (size_t c = 0; c < k->n_columns; c++) {
        buf_append(w->yaml, c > 0 ? STR(", ") : STR(""));
        yaml_append_comment(w->yaml, k->columns[c]);
    }
    buf_append_char(w->yaml, '\n');
}

/* What key i means for the table that it leads to. */
static void append_other_key(struct writing *w, size_t i)
{
    const struct draft_graph *g = w->g;
    const size_t child = g->children[i];

    if (g->parents[i] != w->table || !is_usable(w, child))
        return;

    const struct draft_link *link = &g->links[child];
    const size_t far = link->keys[0] == i ? link->keys[1] : link->keys[0];

    if (!link->is_link)
        append_child(w, &g->survey->keys[i], child);
    else if (is_usable(w, g->parents[far]))
        append_linked(w, i, far);
}

void draft_append_relations(const struct draft_graph *g, size_t table, struct buf *yaml)
{
    const struct schema *s = g->survey->tables[table].facts->schema;
    struct writing w = {.g = g, .table = table, .yaml = yaml, .taken = map_new()};
    struct buf as = {0};

    w.n_fields = s->n_columns;
    for (size_t i = 0; i < s->n_columns; i++) {
        buf_clear(&as);
        columns_append_as(&as, s, i);
        map_put(w.taken, as.len > 0 ? buf_str(&as) : s->columns[i].name, w.taken);
    }
    for (size_t i = 0; i < g->survey->n_keys; i++)
        append_own_key(&w, i);
    for (size_t i = 0; i < g->survey->n_keys; i++)
        append_other_key(&w, i);
    if (w.left_out.len > 0) {
        buf_append(yaml,
                   STR("    # An index takes 1,000 fields, and 50 nested ones; rows of these "
                       "would be too many: "));
        yaml_append_comment(yaml, buf_str(&w.left_out));
        buf_append_char(yaml, '\n');
    }
    map_free(w.taken, NULL);
    buf_free(&w.left_out);
    buf_free(&as);
}
