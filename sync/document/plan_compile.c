#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/table_key.h"
#include "sync/document/comparison.h"
#include "sync/document/key.h"
#include "sync/document/plan_compiler.h"
#include "sync/document/query.h"
#include "sync/value/schema.h"

#include <stdint.h>

static const struct column **copy_columns(struct plan_compiler *co,
                                          const struct column *const *from, size_t n)
{
    const struct column **to = arena_alloc(co->plan->arena, n, sizeof(const struct column *));

    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
    return to;
}

/*
 * Set the order of arrays: the table's key; without a key, every column that can be sorted by.
 */
static void set_order(struct plan_compiler *co, struct plan_node *b)
{
    const struct schema *s = b->schema;

    if (s->n_key == 0) {
        b->order = copy_columns(co, b->read, b->n_read);
        b->n_order = b->n_read;
        return;
    }
    b->order = arena_alloc(co->plan->arena, s->n_key, sizeof(*b->order));
    for (size_t i = 0; i < s->n_key; i++)
        b->order[b->n_order++] = &s->columns[s->key[i]];
}

/* The joins' inner columns include the whole key, so each value has at most one row. */
static bool joins_hold_key(const struct plan_node *b)
{
    for (size_t k = 0; k < b->schema->n_key; k++) {
        bool held = false;

        for (size_t i = 0; i < b->n_joins; i++)
            held = held || b->joins[i].inner == &b->schema->columns[b->schema->key[k]];
        if (!held)
            return false;
    }
    return b->schema->n_key > 0;
}

bool plan_add_joins(struct plan_compiler *co, struct plan_node *b, struct plan_node *parent,
                    const struct plan_joined *pairs)
{
    if (pairs->n_outer != pairs->n_inner || pairs->n_outer == 0)
        return plan_refuse(co, pairs->place,
                           "`from` and `to` must name the same number of columns");
    b->joins = arena_alloc(co->plan->arena, pairs->n_outer, sizeof(*b->joins));
    for (size_t i = 0; i < pairs->n_outer; i++) {
        const struct column *outer =
            plan_find_column(co, parent->schema, pairs->outer[i], pairs->place);
        const struct column *inner =
            outer == NULL ? NULL
                          : plan_find_column(co, b->schema, pairs->inner[i], pairs->place);

        if (inner == NULL)
            return false;
        if (!comparison_can_join(outer, inner) ||
            (parent->topic != b->topic && !comparison_can_join_across(outer, inner)))
            return plan_refuse(co, pairs->place,
                               "`%" STR_FMT "` (%" STR_FMT ") and `%" STR_FMT "` (%" STR_FMT
                               ") cannot be compared exactly%s",
                               STR_ARG(outer->name), STR_ARG(outer->type_text),
                               STR_ARG(inner->name), STR_ARG(inner->type_text),
                               parent->topic != b->topic ? " on two servers" : "");
        b->joins[b->n_joins++] = (struct plan_join){
            .outer = outer,
            .inner = inner,
            .outer_at = plan_read_column(parent, outer),
            .inner_at = plan_read_column(b, inner),
        };
    }
    b->by_integer = b->link == NULL && b->n_joins == 1 && key_is_integer(b->joins[0].outer) &&
                    key_is_integer(b->joins[0].inner);
    b->unique = b->link == NULL && joins_hold_key(b);
    return true;
}

void plan_add_by_row(struct plan_compiler *co, struct plan_node *b)
{
    const struct schema *s = b->schema;
    struct plan_node *row = arena_alloc(co->plan->arena, 1, sizeof(*row));

    *row = (struct plan_node){.number = b->number,
                              .parent = b,
                              .schema = b->schema,
                              .from = b->from,
                              .topic = b->topic};
    row->joins = arena_alloc(co->plan->arena, s->n_key, sizeof(*row->joins));
    for (size_t i = 0; i < s->n_key; i++) {
        const struct column *c = &s->columns[s->key[i]];

        if (!comparison_can_join(c, c))
            return;
        row->joins[row->n_joins++] = (struct plan_join){.outer = c, .inner = c};
    }
    if (row->n_joins > 0)
        b->by_row = row;
}

/* Rows that share a key would overwrite each other's document.  For a view nobody can tell. */
static bool check_unique(struct plan_compiler *co, const struct schema *s,
                         const struct table_definition *t, const struct table_key *named)
{
    if (named->n == 0 || s->is_view || !s->uniques_known ||
        schema_is_unique(s, named->columns, named->n))
        return true;
    return plan_refuse(
        co, t->place,
        "table %" STR_FMT
        " no longer has a unique index within its key, which begins with `%" STR_FMT
        "`, so rows with the same key would become one document; fix: ALTER TABLE ... ADD "
        "UNIQUE KEY, or another `key`",
        STR_ARG(t->table), STR_ARG(named->columns[0]));
}

static bool add_key(struct plan_compiler *co, struct plan_node *root,
                    const struct table_definition *t)
{
    const struct schema *s = root->schema;
    const struct table_key named = table_key_named(t, s);
    const size_t n = named.n > 0 ? named.n : s->n_key;

    if (n == 0)
        return plan_refuse(co, t->place, "table %" STR_FMT " has no primary key: name a `key`",
                           STR_ARG(t->table));
    root->joins = arena_alloc(co->plan->arena, n, sizeof(*root->joins));
    root->order = arena_alloc(co->plan->arena, n, sizeof(*root->order));
    for (size_t i = 0; i < n; i++) {
        const struct column *c = named.n == 0
                                     ? &s->columns[s->key[i]]
                                     : plan_find_column(co, s, named.columns[i], t->place);

        if (c == NULL)
            return false;
        if (key_class_of(c) == KEY_NONE)
            return plan_refuse(co, t->place, "`%" STR_FMT "` (%" STR_FMT ") cannot be a key",
                               STR_ARG(c->name), STR_ARG(c->type_text));
        root->joins[root->n_joins++] =
            (struct plan_join){.outer = c, .inner = c, .inner_at = plan_read_column(root, c)};
        root->order[root->n_order++] = c;
    }
    root->by_integer = n == 1 && key_is_integer(root->joins[0].inner);
    root->unique = true;
    return check_unique(co, s, t, &named);
}

static size_t number_of_topic(struct plan *p, struct str topic)
{
    for (size_t i = 0; i < p->n_topics; i++)
        if (str_equal(p->topics[i], topic))
            return i;
    p->topics = mem_resize(p->topics, p->n_topics + 1, sizeof(*p->topics));
    p->topics[p->n_topics] = arena_copy(p->arena, topic);
    return p->n_topics++;
}

struct plan_node *plan_new_node(struct plan_compiler *co, const struct plan_source *src)
{
    struct plan *p = co->plan;
    struct str database, table;

    if (!definition_split_table(src->table, &database, &table) ||
        definitions_database(co->defs, database) == NULL) {
        plan_refuse(co, src->place, "there is no database of %" STR_FMT, STR_ARG(src->table));
        return NULL;
    }
    const struct database_definition *db = definitions_database(co->defs, database);
    struct schema *schema = co->find(co->ctx, db->topic, database_schema(db), table);

    if (schema == NULL) {
        plan_refuse(co, src->place, "there is no table %" STR_FMT, STR_ARG(src->table));
        return NULL;
    }
    struct plan_node *b = arena_alloc(p->arena, 1, sizeof(*b));

    b->number = p->n_nodes;
    b->database = arena_copy(p->arena, database);
    b->topic = number_of_topic(p, db->topic);
    b->schema = schema_ref(schema);
    b->read = arena_alloc(p->arena, schema->n_columns, sizeof(*b->read));
    p->nodes = mem_resize(p->nodes, p->n_nodes + 1, sizeof(struct plan_node *));
    p->nodes[p->n_nodes++] = b;
    return b;
}

/* Read the columns of a link table only for its joins. */
static struct plan_node *new_link(struct plan_compiler *co, struct plan_node *above,
                                  const struct relation_definition *r)
{
    const struct plan_source src = {.place = r->place, .table = r->through.table};
    const struct plan_joined to = {r->place, r->from, r->through.from, r->n_from,
                                   r->through.n_from};
    struct plan_node *b = plan_new_node(co, &src);

    if (b == NULL)
        return NULL;
    b->parent = above;
    b->many = true;
    b->refresh = r->refresh != REFRESH_NONE;
    b->alone = r->refresh == REFRESH_AREA;
    if (!plan_add_joins(co, b, above, &to))
        return NULL;
    plan_add_by_row(co, b);
    return b;
}

static bool add_relation(struct plan_compiler *co, struct plan_node *above,
                         const struct relation_definition *r, uint32_t depth);

/* Add the relations of the related table; a table related to itself repeats max_depth times. */
static bool add_relations_below(struct plan_compiler *co, struct plan_node *b,
                                const struct relation_definition *r, uint32_t depth)
{
    b->children = arena_alloc(co->plan->arena, r->n_relations + 1, sizeof(struct plan_node *));
    for (size_t i = 0; i < r->n_relations; i++)
        if (!add_relation(co, b, &r->relations[i], r->relations[i].max_depth))
            return false;
    return depth <= 1 || add_relation(co, b, r, depth - 1);
}

static bool add_relation(struct plan_compiler *co, struct plan_node *above,
                         const struct relation_definition *r, uint32_t depth)
{
    struct column_definition single;
    const struct relation_columns shown = relation_columns(r, &single);
    const struct plan_source src = {r->place, r->table, shown.all, shown.columns, shown.n};
    struct plan_node *link = r->through.given ? new_link(co, above, r) : NULL;

    if (r->through.given && link == NULL)
        return false;

    const struct plan_joined pairs =
        link == NULL
            ? (struct plan_joined){r->place, r->from, r->to, r->n_from, r->n_to}
            : (struct plan_joined){r->place, r->through.to, r->to, r->through.n_to, r->n_to};
    struct plan_node *b = plan_new_node(co, &src);

    if (b == NULL)
        return false;
    if (link != NULL && link->topic != b->topic)
        return plan_refuse(co, r->place,
                           "%" STR_FMT " and its link table %" STR_FMT " are on two servers: "
                           "no statement can join them",
                           STR_ARG(r->table), STR_ARG(r->through.table));
    b->link = link;
    b->parent = link != NULL ? link : above;
    b->member = plan_member_of(co, relation_as(r));
    b->many = r->many;
    b->refresh = r->refresh != REFRESH_NONE;
    b->alone = r->refresh == REFRESH_AREA;
    b->where = arena_copy(co->plan->arena, r->where);
    b->values = r->values.len > 0;
    b->distinct = r->distinct;
    b->limit = r->limit;
    b->order_by = arena_copy(co->plan->arena, r->order_by);
    if (plan_has_member(above, b->member))
        return plan_refuse(co, r->place, "the name `%" STR_FMT "` is given twice",
                           STR_ARG(relation_as(r)));
    above->children[above->n_children++] = b;
    if (!plan_add_fields(co, b, &src) ||
        !plan_add_joins(co, b, link != NULL ? link : above, &pairs) ||
        !add_relations_below(co, b, r, depth))
        return false;
    query_prepare(b, co->plan->arena);
    if (link != NULL)
        query_prepare(link, co->plan->arena);
    set_order(co, b);
    plan_add_by_row(co, b);
    return true;
}

/* Append a JSON scalar as SQL.  Returns false if it is no scalar. */
static bool append_scalar(struct buf *sql, struct str json)
{
    struct json_reader r;
    struct buf text = {0};
    struct str raw;
    bool is;

    json_reader_init(&r, json);
    switch (json_peek(&r)) {
    case JSON_NULL: buf_append(sql, STR("NULL")); return true;
    case JSON_BOOL:
        (void)json_read_bool(&r, &is);
        buf_append_char(sql, is ? '1' : '0');
        return true;
    case JSON_NUMBER: buf_append(sql, json); return true;
    case JSON_STRING:
        (void)json_read_string(&r, &raw);
        json_unescape(&text, raw);
        mysql_quote_text(sql, buf_str(&text));
        buf_free(&text);
        return true;
    case JSON_NONE:
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    }
    return false;
}

/* Add the condition for root rows to have documents. */
static bool add_root_condition(struct plan_compiler *co, struct plan_node *root,
                               const struct table_definition *t)
{
    struct buf sql = {0};

    if (!t->soft_delete_given) {
        root->where = arena_copy(co->plan->arena, t->filter);
        return true;
    }

    const struct column *c =
        plan_find_column(co, root->schema, t->soft_delete_column, t->place);

    if (c == NULL)
        return false;
    if (t->filter.len > 0)
        buf_printf(&sql, "(%" STR_FMT "\n) AND ", STR_ARG(t->filter));
    buf_append(&sql, STR("NOT ("));
    mysql_quote_name(&sql, root->schema->table);
    buf_append_char(&sql, '.');
    mysql_quote_name(&sql, c->name);
    buf_append(&sql, STR(" <=> "));

    const bool fine =
        append_scalar(&sql, t->soft_delete_json) ||
        plan_refuse(co, t->place, "`deleted` of `soft_delete` must be a single value");

    buf_append_char(&sql, ')');
    root->where = arena_copy(co->plan->arena, buf_str(&sql));
    buf_free(&sql);
    return fine;
}

static bool add_root(struct plan_compiler *co, const struct table_definition *t)
{
    const struct plan_source src = {t->place, t->table, t->all_columns, t->columns,
                                    t->n_columns};
    struct plan_node *b = plan_new_node(co, &src);

    if (b == NULL)
        return false;
    b->refresh = true;
    if (!add_root_condition(co, b, t) || !plan_add_fields(co, b, &src) || !add_key(co, b, t) ||
        !plan_add_membership(co, b, t))
        return false;
    b->children = arena_alloc(co->plan->arena, t->n_relations, sizeof(struct plan_node *));
    for (size_t i = 0; i < t->n_relations; i++)
        if (!add_relation(co, b, &t->relations[i], t->relations[i].max_depth))
            return false;
    if (!plan_add_ancestors(co, b, t))
        return false;
    query_prepare(b, co->plan->arena);
    plan_add_areas(co, t);
    return true;
}

struct plan *plan_compile(const struct definitions *defs, const struct table_definition *table,
                          plan_schema_fn find, void *ctx, struct err *err)
{
    struct plan *p = mem_alloc(1, sizeof(*p));
    struct plan_compiler co = {p, defs, find, ctx, err};

    p->arena = arena_new();
    if (add_root(&co, table))
        return p;
    plan_free(p);
    return NULL;
}
