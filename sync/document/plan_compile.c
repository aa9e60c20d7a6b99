#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/json.h"
#include "src/mysql.h"
#include "sync/binlog/schema.h"
#include "sync/document/branch.h"
#include "sync/document/key.h"
#include "sync/document/plan.h"
#include "sync/document/query.h"
#include "sync/model/definition.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>

/* What is being compiled; lists grow in ordinary memory and move to the arena when complete. */
struct compiler {
    struct plan *plan;
    const struct definitions *defs;
    plan_schema_fn find;
    void *ctx;
    struct err *err;
};

/* The parts that a table and a relation have in common. */
struct source {
    struct place place;
    struct str table; /* DATABASE.TABLE */
    bool all_columns;
    const struct column_definition *columns;
    size_t n_columns;
};

/* Columns of the table above and of this one, by which rows are found. */
struct joined {
    struct place place;
    const struct str *outer, *inner;
    size_t n_outer, n_inner;
};

static bool refuse(struct compiler *co, struct place at, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

static bool refuse(struct compiler *co, struct place at, const char *fmt, ...)
{
    char text[ERR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (at.file == NULL || at.line == 0)
        return err_set(co->err, ERR_REJECT, "%s%s%s", at.file != NULL ? at.file : "",
                       at.file != NULL ? ": " : "", text);
    return err_set(co->err, ERR_REJECT, "%s:%u:%u: %s", at.file, at.line, at.column, text);
}

static const struct column *find_column(struct compiler *co, const struct schema *s,
                                        struct str name, struct place at)
{
    size_t i = schema_find(s, name);

    if (i != SIZE_MAX)
        return &s->columns[i];
    refuse(co, at, "table %" STR_FMT ".%" STR_FMT " has no column `%" STR_FMT "`",
           STR_ARG(s->database), STR_ARG(s->table), STR_ARG(name));
    return NULL;
}

/* Where c lies among the columns that b reads; it is added when it is not there yet. */
static size_t read_column(struct branch *b, const struct column *c)
{
    for (size_t i = 0; i < b->n_read; i++)
        if (b->read[i] == c)
            return i;
    b->read[b->n_read] = c;
    return b->n_read++;
}

/* Its members are columns of the schema at most once under each name, then relations. */
static bool has_member(const struct branch *b, struct str member)
{
    for (size_t i = 0; i < b->n_fields; i++)
        if (str_equal(b->fields[i].field.member, member))
            return true;
    for (size_t i = 0; i < b->n_children; i++)
        if (str_equal(b->children[i]->member, member))
            return true;
    return false;
}

/* "name": */
static struct str member_of(struct compiler *co, struct str name)
{
    struct buf text = {0};

    buf_append_json(&text, name);
    buf_append_char(&text, ':');
    struct str member = arena_copy(co->plan->arena, buf_str(&text));

    buf_free(&text);
    return member;
}

/* A column's value as a member of that name. */
static struct branch_field make_field(struct compiler *co, struct branch *b,
                                      const struct column *c, struct str member,
                                      struct str type)
{
    const struct database_definition *database = definitions_database(co->defs, b->database);
    const struct topic_definition *topic = definitions_topic(co->defs, database->topic);
    struct field f = field_make(c, member, type, topic);

    f.zone = arena_copy(co->plan->arena, f.zone);
    return (struct branch_field){.field = f, .at = read_column(b, c)};
}

static bool take_member(struct compiler *co, struct branch *b, struct str name,
                        struct place at, struct str *member)
{
    *member = member_of(co, name);
    return !has_member(b, *member) ||
           refuse(co, at, "the name `%" STR_FMT "` is given twice", STR_ARG(name));
}

static bool add_field(struct compiler *co, struct branch *b, const struct column *c,
                      const struct column_definition *d, struct place at)
{
    struct branch_field f;
    struct str member;

    if (!take_member(co, b, d != NULL ? column_as(d) : c->name, at, &member))
        return false;
    f = make_field(co, b, c, member, d != NULL ? d->type : STR(""));
    if (d != NULL)
        f.field.if_null = arena_copy(co->plan->arena, d->default_json);
    b->fields[b->n_fields++] = f;
    return true;
}

/* A value made of the column's, or of the columns that the first step joins. */
static bool add_transformed(struct compiler *co, struct branch *b,
                            const struct column_definition *d)
{
    struct branch_field f = {0}, *parts;
    struct transforms steps;
    struct str member;

    if (!transforms_parse(co->plan->arena, d->transform_json, &steps, co->err))
        return refuse(co, d->place, "%s", co->err->msg);
    if (!take_member(co, b, column_as(d), d->place, &member))
        return false;
    if (transforms_read_column(&steps)) {
        const struct column *c = find_column(co, b->schema, d->name, d->place);

        if (c == NULL)
            return false;
        f = make_field(co, b, c, member, STR(""));
    }
    parts = arena_alloc(co->plan->arena, steps.steps[0].n_columns, sizeof(*parts));
    for (size_t i = 0; i < steps.steps[0].n_columns; i++) {
        const struct column *c =
            find_column(co, b->schema, steps.steps[0].columns[i], d->place);

        if (c == NULL)
            return false;
        parts[f.n_parts++] = make_field(co, b, c, member, STR(""));
    }
    f.parts = parts;
    f.name = arena_copy(co->plan->arena, d->name);
    f.transforms = steps;
    f.field.member = member;
    f.field.if_null = arena_copy(co->plan->arena, d->default_json);
    b->fields[b->n_fields++] = f;
    return true;
}

static bool add_constant(struct compiler *co, struct branch *b,
                         const struct column_definition *d)
{
    struct field f = {0};

    if (!take_member(co, b, column_as(d), d->place, &f.member))
        return false;
    b->fields[b->n_fields++] = (struct branch_field){
        .field = f, .constant = arena_copy(co->plan->arena, d->value_json)};
    return true;
}

static bool is_listed(const struct source *src, struct str name)
{
    for (size_t i = 0; i < src->n_columns; i++) {
        struct str listed = src->columns[i].name;

        if (listed.len == name.len && strncasecmp(listed.ptr, name.ptr, name.len) == 0)
            return true;
    }
    return false;
}

/* Every visible column that is not listed. */
static bool add_rest(struct compiler *co, struct branch *b, const struct source *src,
                     struct place at)
{
    for (size_t i = 0; i < b->schema->n_columns; i++) {
        const struct column *c = &b->schema->columns[i];

        if (!c->invisible && !is_listed(src, c->name) && !add_field(co, b, c, NULL, at))
            return false;
    }
    return true;
}

static bool add_fields(struct compiler *co, struct branch *b, const struct source *src)
{
    const size_t max = b->schema->n_columns + src->n_columns;

    b->fields = arena_alloc(co->plan->arena, max, sizeof(*b->fields));
    if (src->all_columns)
        return add_rest(co, b, src, src->place);
    for (size_t i = 0; i < src->n_columns; i++) {
        const struct column_definition *d = &src->columns[i];
        const struct column *c;

        if (column_is_rest(d)) {
            if (!add_rest(co, b, src, d->place))
                return false;
            continue;
        }
        if (d->has_value || (d->transform_json.len > 0 && !d->skip)) {
            if (d->has_value ? !add_constant(co, b, d) : !add_transformed(co, b, d))
                return false;
            continue;
        }
        c = find_column(co, b->schema, d->name, d->place);
        if (c == NULL || (!d->skip && !add_field(co, b, c, d, d->place)))
            return false;
    }
    return true;
}

static const struct column **copy_columns(struct compiler *co, const struct column *const *from,
                                          size_t n)
{
    const struct column **to = arena_alloc(co->plan->arena, n, sizeof(const struct column *));

    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
    return to;
}

/* The order of arrays: the table's key; of a table without one whatever of its row has an
 * order. */
static void set_order(struct compiler *co, struct branch *b)
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

/* The joins' inner columns hold the whole key, so that a value of them has one row at most. */
static bool joins_hold_key(const struct branch *b)
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

static bool add_joins(struct compiler *co, struct branch *b, struct branch *parent,
                      const struct joined *pairs)
{
    if (pairs->n_outer != pairs->n_inner || pairs->n_outer == 0)
        return refuse(co, pairs->place,
                      "`from` and `to` must name as many columns as each other");
    b->joins = arena_alloc(co->plan->arena, pairs->n_outer, sizeof(*b->joins));
    for (size_t i = 0; i < pairs->n_outer; i++) {
        const struct column *outer =
            find_column(co, parent->schema, pairs->outer[i], pairs->place);
        const struct column *inner =
            outer == NULL ? NULL : find_column(co, b->schema, pairs->inner[i], pairs->place);

        if (inner == NULL)
            return false;
        if (!query_can_join(outer, inner))
            return refuse(co, pairs->place,
                          "`%" STR_FMT "` (%" STR_FMT ") and `%" STR_FMT "` (%" STR_FMT
                          ") cannot be compared exactly",
                          STR_ARG(outer->name), STR_ARG(outer->type_text), STR_ARG(inner->name),
                          STR_ARG(inner->type_text));
        b->joins[b->n_joins++] = (struct branch_join){
            .outer = outer,
            .inner = inner,
            .outer_at = read_column(parent, outer),
            .inner_at = read_column(b, inner),
        };
    }
    b->by_integer = b->link == NULL && b->n_joins == 1 && key_is_integer(b->joins[0].outer) &&
                    key_is_integer(b->joins[0].inner);
    b->unique = b->link == NULL && joins_hold_key(b);
    return true;
}

static void add_by_row(struct compiler *co, struct branch *b)
{
    const struct schema *s = b->schema;
    struct branch *row = arena_alloc(co->plan->arena, 1, sizeof(*row));

    *row = (struct branch){
        .number = b->number, .parent = b, .schema = b->schema, .from = b->from};
    row->joins = arena_alloc(co->plan->arena, s->n_key, sizeof(*row->joins));
    for (size_t i = 0; i < s->n_key; i++) {
        const struct column *c = &s->columns[s->key[i]];

        if (!query_can_join(c, c))
            return;
        row->joins[row->n_joins++] = (struct branch_join){.outer = c, .inner = c};
    }
    if (row->n_joins > 0)
        b->by_row = row;
}

static bool add_key(struct compiler *co, struct branch *root, const struct table_definition *t)
{
    const struct schema *s = root->schema;
    const size_t n = t->n_key > 0 ? t->n_key : s->n_key;

    if (n == 0)
        return refuse(co, t->place, "table %" STR_FMT " has no primary key: name a `key`",
                      STR_ARG(t->table));
    root->joins = arena_alloc(co->plan->arena, n, sizeof(*root->joins));
    root->order = arena_alloc(co->plan->arena, n, sizeof(*root->order));
    for (size_t i = 0; i < n; i++) {
        const struct column *c =
            t->n_key == 0 ? &s->columns[s->key[i]] : find_column(co, s, t->key[i], t->place);

        if (c == NULL)
            return false;
        if (key_class_of(c) == KEY_NONE)
            return refuse(co, t->place, "`%" STR_FMT "` (%" STR_FMT ") cannot be a key",
                          STR_ARG(c->name), STR_ARG(c->type_text));
        root->joins[root->n_joins++] =
            (struct branch_join){.outer = c, .inner = c, .inner_at = read_column(root, c)};
        root->order[root->n_order++] = c;
    }
    root->by_integer = n == 1 && key_is_integer(root->joins[0].inner);
    root->unique = true;
    return true;
}

/* The topics of related tables are compared with the root's. */
static bool check_topic(struct compiler *co, const struct source *src, struct str database)
{
    const struct branch *root = co->plan->branches[0];
    const struct database_definition *mine = definitions_database(co->defs, database);
    const struct database_definition *its = definitions_database(co->defs, root->database);

    return str_equal(mine->topic, its->topic) ||
           refuse(co, src->place, "%" STR_FMT " is on another topic than %" STR_FMT,
                  STR_ARG(src->table), STR_ARG(root->schema->table));
}

static struct branch *new_branch(struct compiler *co, const struct source *src)
{
    struct plan *p = co->plan;
    struct str database, table;

    if (!definition_split_table(src->table, &database, &table) ||
        definitions_database(co->defs, database) == NULL) {
        refuse(co, src->place, "there is no database of %" STR_FMT, STR_ARG(src->table));
        return NULL;
    }
    struct schema *schema =
        co->find(co->ctx, database_schema(definitions_database(co->defs, database)), table);

    if (schema == NULL) {
        refuse(co, src->place, "there is no table %" STR_FMT, STR_ARG(src->table));
        return NULL;
    }
    struct branch *b = arena_alloc(p->arena, 1, sizeof(*b));

    b->number = p->n_branches;
    b->database = arena_copy(p->arena, database);
    b->schema = schema_ref(schema);
    b->read = arena_alloc(p->arena, schema->n_columns, sizeof(*b->read));
    p->branches = mem_resize(p->branches, p->n_branches + 1, sizeof(struct branch *));
    p->branches[p->n_branches++] = b;
    return b;
}

/* The columns of a link table are read for its joins alone. */
static struct branch *new_link(struct compiler *co, struct branch *above,
                               const struct relation_definition *r)
{
    const struct source src = {.place = r->place, .table = r->through.table};
    const struct joined to = {r->place, r->from, r->through.from, r->n_from, r->through.n_from};
    struct branch *b = new_branch(co, &src);

    if (b == NULL || !check_topic(co, &src, b->database))
        return NULL;
    b->parent = above;
    b->many = true;
    b->refresh = r->refresh != REFRESH_NONE;
    if (!add_joins(co, b, above, &to))
        return NULL;
    add_by_row(co, b);
    return b;
}

static bool add_relation(struct compiler *co, struct branch *above,
                         const struct relation_definition *r, uint32_t depth);

/* Those of the related table; a table that leads to itself is followed so often. */
static bool add_relations_below(struct compiler *co, struct branch *b,
                                const struct relation_definition *r, uint32_t depth)
{
    b->children = arena_alloc(co->plan->arena, r->n_relations + 1, sizeof(struct branch *));
    for (size_t i = 0; i < r->n_relations; i++)
        if (!add_relation(co, b, &r->relations[i], r->relations[i].max_depth))
            return false;
    return depth <= 1 || add_relation(co, b, r, depth - 1);
}

static bool add_relation(struct compiler *co, struct branch *above,
                         const struct relation_definition *r, uint32_t depth)
{
    struct column_definition single;
    const struct relation_columns shown = relation_columns(r, &single);
    const struct source src = {r->place, r->table, shown.all, shown.columns, shown.n};
    struct branch *link = r->through.given ? new_link(co, above, r) : NULL;

    if (r->through.given && link == NULL)
        return false;

    const struct joined pairs =
        link == NULL ? (struct joined){r->place, r->from, r->to, r->n_from, r->n_to}
                     : (struct joined){r->place, r->through.to, r->to, r->through.n_to, r->n_to};
    struct branch *b = new_branch(co, &src);

    if (b == NULL || !check_topic(co, &src, b->database))
        return false;
    b->link = link;
    b->parent = link != NULL ? link : above;
    b->member = member_of(co, relation_as(r));
    b->many = r->many;
    b->refresh = r->refresh != REFRESH_NONE;
    b->where = arena_copy(co->plan->arena, r->where);
    b->values = r->values.len > 0;
    b->distinct = r->distinct;
    b->limit = r->limit;
    b->order_by = arena_copy(co->plan->arena, r->order_by);
    if (has_member(above, b->member))
        return refuse(co, r->place, "the name `%" STR_FMT "` is given twice",
                      STR_ARG(relation_as(r)));
    above->children[above->n_children++] = b;
    if (!add_fields(co, b, &src) || !add_joins(co, b, link != NULL ? link : above, &pairs) ||
        !add_relations_below(co, b, r, depth))
        return false;
    query_prepare(b, co->plan->arena);
    if (link != NULL)
        query_prepare(link, co->plan->arena);
    set_order(co, b);
    add_by_row(co, b);
    return true;
}

/* The value of a JSON scalar as SQL; false: it is none. */
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

/* Which rows of the root have documents. */
static bool add_root_condition(struct compiler *co, struct branch *root,
                               const struct table_definition *t)
{
    struct buf sql = {0};

    if (!t->soft_delete_given) {
        root->where = arena_copy(co->plan->arena, t->filter);
        return true;
    }

    const struct column *c = find_column(co, root->schema, t->soft_delete_column, t->place);

    if (c == NULL)
        return false;
    if (t->filter.len > 0)
        buf_printf(&sql, "(%" STR_FMT "\n) AND ", STR_ARG(t->filter));
    buf_append(&sql, STR("NOT ("));
    mysql_quote_name(&sql, root->schema->table);
    buf_append_char(&sql, '.');
    mysql_quote_name(&sql, c->name);
    buf_append(&sql, STR(" <=> "));

    const bool fine = append_scalar(&sql, t->soft_delete_json) ||
                      refuse(co, t->place, "`deleted` of `soft_delete` must be a single value");

    buf_append_char(&sql, ')');
    root->where = arena_copy(co->plan->arena, buf_str(&sql));
    buf_free(&sql);
    return fine;
}

static bool add_root(struct compiler *co, const struct table_definition *t)
{
    const struct source src = {t->place, t->table, t->all_columns, t->columns, t->n_columns};
    struct branch *b = new_branch(co, &src);

    if (b == NULL)
        return false;
    b->refresh = true;
    if (!add_root_condition(co, b, t) || !add_fields(co, b, &src) || !add_key(co, b, t))
        return false;
    b->children = arena_alloc(co->plan->arena, t->n_relations, sizeof(struct branch *));
    for (size_t i = 0; i < t->n_relations; i++)
        if (!add_relation(co, b, &t->relations[i], t->relations[i].max_depth))
            return false;
    query_prepare(b, co->plan->arena);
    return true;
}

struct plan *plan_compile(const struct definitions *defs, const struct table_definition *table,
                          plan_schema_fn find, void *ctx, struct err *err)
{
    struct plan *p = mem_alloc(1, sizeof(*p));
    struct compiler co = {p, defs, find, ctx, err};

    p->refs = 1;
    p->arena = arena_new();
    if (add_root(&co, table))
        return p;
    plan_unref(p);
    return NULL;
}
