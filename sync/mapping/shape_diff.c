#include "config.h"

#include "sync/mapping/shape_diff.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/catalog/table_key.h"
#include "sync/decode/ddl.h"
#include "sync/decode/sql_lexer.h"
#include "sync/definition/field_type.h"
#include "sync/definition/transform.h"
#include "sync/mapping/value_change.h"
#include "sync/value/schema.h"

#include <stdio.h>
#include <string.h>

struct shape_differ {
    const struct definitions *d;
    const struct shape_find *was, *is;
    const struct shape_event *event;
    struct shape_diff *out;
    struct arena *arena;
};

/* One object of a document: the root's, or a relation's. */
struct shape_object {
    struct str table;
    bool all_columns;
    const struct column_definition *columns;
    size_t n_columns;
    struct str conditions[2]; /* SQL that may name any column */
    const struct schema *was, *is;
    bool is_root;
    bool *named; /* parallel to the columns of `is`: an expression that counts names them */
};

/* ---- what is noted ---- */

bool shape_diff_is_later(const struct shape_diff *diff, struct str table)
{
    for (size_t i = 0; i < diff->n_later; i++)
        if (str_equal(str_from(diff->later[i].table), table))
            return true;
    return false;
}

static bool is_delayed(const struct shape_differ *f, const struct shape_object *o)
{
    const struct table_definition *t = o->is_root || f->event == NULL || f->event->now == NULL
                                           ? NULL
                                           : definitions_table(f->event->now, o->table);

    return t != NULL && t->delayed && o->table.len < sizeof(f->out->later[0].table);
}

/* Where the reason of a change goes; NULL: it is known already. */
static char *room_for(struct shape_differ *f, enum shape_change change,
                      const struct shape_object *o)
{
    if (change == SHAPE_CHANGED && is_delayed(f, o)) {
        if (shape_diff_is_later(f->out, o->table))
            return NULL;
        if (f->out->n_later < SHAPE_LATER_MAX) {
            struct shape_later *l = &f->out->later[f->out->n_later++];

            memcpy(l->table, o->table.ptr, o->table.len);
            return l->reason;
        }
    }
    if (change <= f->out->change)
        return NULL;
    f->out->change = change;
    return f->out->reason;
}

static void put_reason(char *room, const struct shape_object *o, struct str column,
                       const char *what)
{
    snprintf(room, sizeof(((struct shape_diff *)0)->reason), "column `%.*s` of %.*s %s",
             column.len < 64 ? (int)column.len : 64, column.ptr,
             o->table.len < 130 ? (int)o->table.len : 130, o->table.ptr, what);
}

static void note(struct shape_differ *f, enum shape_change change, const struct shape_object *o,
                 struct str column, const char *what)
{
    char *room = room_for(f, change, o);

    if (room != NULL)
        put_reason(room, o, column, what);
}

/* The field is another one, so documents cannot be written until the index is built again. */
static void note_field(struct shape_differ *f, const struct shape_object *o, struct str column,
                       const char *what)
{
    if (f->out->change >= SHAPE_CHANGED)
        return;
    f->out->change = SHAPE_CHANGED;
    put_reason(f->out->reason, o, column, what);
}

/* ---- objects ---- */

static const struct column *find_column(const struct schema *s, struct str name)
{
    const size_t i = schema_find(s, name);

    return i == SIZE_MAX ? NULL : &s->columns[i];
}

static const struct column *find_visible(const struct schema *s, struct str name)
{
    const struct column *c = find_column(s, name);

    return c == NULL || c->invisible ? NULL : c;
}

static void note_added(struct shape_differ *f, const struct shape_object *o,
                       const struct column *c)
{
    if (value_change_adds_null(c))
        note(f, SHAPE_ADDED, o, c->name, "was added");
    else
        note(f, SHAPE_CHANGED, o, c->name,
             c->generated  ? "was added, and existing rows have a generated value in it"
             : c->nullable ? "was added with a default, which existing rows have now"
                           : "was added as NOT NULL, so existing rows have a value in it");
}

/*
 * Include the columns that generated ones are made of, at any depth.  If the server does not
 * say which, assume all.
 */
static void name_columns(struct shape_object *o, struct str sql)
{
    for (size_t i = 0; i < o->is->n_columns; i++) {
        const struct column *c = &o->is->columns[i];

        if (o->named[i] || (sql.len > 0 && !sql_may_name(sql, c->name)))
            continue;
        o->named[i] = true;
        if (c->generated)
            name_columns(o, c->expression);
    }
}

/* Compare a used column. d is NULL if it is not shown, or shown as it is. */
static void compare_column(struct shape_differ *f, struct shape_object *o, struct str name,
                           bool is_shown, const struct column_definition *d)
{
    const struct engine any = {0};
    const struct column *was = find_column(o->was, name), *is = find_column(o->is, name);

    if (was == NULL || is == NULL)
        return;
    if (is->generated)
        name_columns(o, is->expression);

    const bool is_other_field =
        is_shown && (d == NULL || d->type.len == 0) &&
        strcmp(field_default_type(was, &any), field_default_type(is, &any)) != 0;

    if (!value_change_keeps_text(was, is) && is_other_field)
        note_field(f, o, name, "changed its values");
    else if (!value_change_keeps_text(was, is))
        note(f, SHAPE_CHANGED, o, name, "changed its values");
    else if (is_other_field)
        note_field(f, o, name, "changed its type, which maps to another field type");
    else if (!is_shown && !value_change_keeps_collation(was, is))
        note(f, SHAPE_CHANGED, o, name,
             "compares differently now, and the definition selects "
             "rows by it");
}

static bool is_listed(const struct shape_object *o, struct str name)
{
    for (size_t i = 0; i < o->n_columns; i++)
        if (str_equal_any_case(o->columns[i].name, name))
            return true;
    return false;
}

/* Compare every visible column not listed. */
static void compare_rest(struct shape_differ *f, struct shape_object *o)
{
    for (size_t i = 0; i < o->is->n_columns; i++) {
        const struct column *c = &o->is->columns[i], *was = find_column(o->was, c->name);

        if (c->invisible || is_listed(o, c->name))
            continue;
        if (was == NULL)
            note_added(f, o, c);
        else if (was->invisible)
            note(f, SHAPE_CHANGED, o, c->name, "became visible");
        else
            compare_column(f, o, c->name, true, NULL);
    }
    for (size_t i = 0; i < o->was->n_columns; i++) {
        const struct column *c = &o->was->columns[i];

        if (!c->invisible && !is_listed(o, c->name) && find_visible(o->is, c->name) == NULL)
            note(f, SHAPE_CHANGED, o, c->name, "is gone");
    }
}

/*
 * Compare the columns that the first step of a transform joins.  Returns false if it joins
 * none.
 */
static bool compare_joined(struct shape_differ *f, struct shape_object *o,
                           const struct column_definition *d)
{
    struct arena *a = arena_new();
    struct transforms steps;
    struct err err = {0};
    const bool joined =
        transforms_parse(a, d->transform_json, &steps, &err) && !transforms_read_column(&steps);

    for (size_t i = 0; joined && i < steps.steps[0].n_columns; i++)
        compare_column(f, o, steps.steps[0].columns[i], true, NULL);
    arena_free(a);
    return joined;
}

static void compare_listed(struct shape_differ *f, struct shape_object *o)
{
    bool rest = o->all_columns;

    for (size_t i = 0; i < o->n_columns; i++) {
        const struct column_definition *d = &o->columns[i];
        const struct column *is;

        if (column_is_rest(d)) {
            rest = true;
            continue;
        }
        if (d->has_value || compare_joined(f, o, d))
            continue;
        is = find_column(o->is, d->name);
        if (!d->skip && is != NULL && find_column(o->was, d->name) == NULL)
            note_added(f, o, is);
        else if (!d->skip)
            compare_column(f, o, d->name, true, d);
    }
    if (rest)
        compare_rest(f, o);
}

static void compare_conditions(struct shape_object *o)
{
    for (size_t i = 0; i < ARRAY_LEN(o->conditions); i++)
        if (o->conditions[i].len > 0)
            name_columns(o, o->conditions[i]);
}

/* Compare the columns that expressions name, once the whole object has been examined. */
static void compare_named(struct shape_differ *f, const struct shape_object *o)
{
    for (size_t i = 0; i < o->is->n_columns; i++) {
        const struct column *is = &o->is->columns[i], *was = find_column(o->was, is->name);

        if (o->named[i] && was != NULL && !value_change_keeps_meaning(was, is))
            note(f, SHAPE_CHANGED, o, is->name,
                 "changed, and an expression of the definition names it");
    }
}

static void compare_texts(struct shape_differ *f, struct shape_object *o,
                          const struct str *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        compare_column(f, o, columns[i], false, NULL);
}

/* The first column in which the primary keys differ; ptr NULL if they are equal. */
static struct str other_key(const struct schema *was, const struct schema *is)
{
    for (size_t i = 0; i < was->n_key && i < is->n_key; i++) {
        const struct str name = is->columns[is->key[i]].name;

        if (!str_equal_any_case(was->columns[was->key[i]].name, name))
            return name;
    }
    if (is->n_key > was->n_key)
        return is->columns[is->key[was->n_key]].name;
    if (was->n_key > is->n_key)
        return was->columns[was->key[is->n_key]].name;
    return (struct str){NULL, 0};
}

/* The statement gives the column's name to another one. */
static bool is_given_away(const struct ddl *ddl, const struct ddl_column *c)
{
    if (c->op != DDL_COLUMN_DROP &&
        (c->new_name.ptr == NULL || str_equal_any_case(c->new_name, c->name)))
        return false;
    for (size_t i = 0; i < ddl->n_columns; i++) {
        const struct ddl_column *other = &ddl->columns[i];
        const struct str taken = other->op == DDL_COLUMN_ADD ? other->name : other->new_name;

        if (other != c && taken.ptr != NULL && str_equal_any_case(taken, c->name))
            return true;
    }
    return false;
}

static bool concerns(const struct ddl *ddl, const struct shape_object *o)
{
    return (ddl->kind == DDL_ALTER_TABLE || ddl->kind == DDL_RENAME_TABLE) &&
           ddl_concerns(ddl, o->is->database, o->is->table);
}

static bool only_adds(const struct ddl *ddl)
{
    for (size_t i = 0; i < ddl->n_columns; i++)
        if (ddl->columns[i].op != DDL_COLUMN_ADD)
            return false;
    return ddl->n_columns > 0 && !ddl->columns_unclear && ddl->kind == DDL_ALTER_TABLE;
}

static void note_statement(struct shape_differ *f, const struct shape_object *o,
                           const char *what)
{
    char *room = room_for(f, SHAPE_CHANGED, o);

    if (room == NULL)
        return;
    snprintf(room, sizeof(f->out->reason), "%s of %.*s %s", ddl_kind_name(f->event->ddl->kind),
             o->table.len < 130 ? (int)o->table.len : 130, o->table.ptr, what);
}

/* Tables of other servers may have the same names. */
static bool is_of_topic(const struct shape_differ *f, struct str table)
{
    const struct topic_definition *t = definitions_topic_of(f->d, table);

    return f->event->topic.len == 0 || t == NULL || str_equal(t->name, f->event->topic);
}

static void compare_event(struct shape_differ *f, const struct shape_object *o)
{
    const struct shape_event *e = f->event;

    if (e == NULL || e->ddl == NULL || !is_of_topic(f, o->table) || !concerns(e->ddl, o))
        return;
    for (size_t i = 0; i < e->ddl->n_columns; i++)
        if (is_given_away(e->ddl, &e->ddl->columns[i]))
            note(f, SHAPE_CHANGED, o, e->ddl->columns[i].name, "is a different column now");
    if (e->hidden)
        note_statement(f, o, "changed a column that the previous statement had changed");
    if (e->filling && !only_adds(e->ddl) &&
        (e->ddl->changes_values || e->ddl->kind == DDL_RENAME_TABLE))
        note_statement(f, o, "while the index was built");
}

static const struct schema *look(const struct shape_differ *f, const struct shape_find *shapes,
                                 struct str table)
{
    struct table_location at;

    return definitions_locate(f->d, table, &at)
               ? shapes->find(shapes->ctx, at.topic, at.schema, at.name)
               : NULL;
}

/* Returns false if one of the two shapes is missing. */
static bool open(const struct shape_differ *f, struct shape_object *o)
{
    o->was = look(f, f->was, o->table);
    o->is = look(f, f->is, o->table);
    if (o->was == NULL || o->is == NULL)
        return false;
    o->named = arena_alloc(f->arena, o->is->n_columns + 1, sizeof(*o->named));
    return true;
}

/* Only the join columns of a link table count. */
static void compare_link(struct shape_differ *f, const struct through_definition *through)
{
    struct shape_object o = {.table = through->table};

    if (!through->given || !open(f, &o))
        return;
    compare_texts(f, &o, through->from, through->n_from);
    compare_texts(f, &o, through->to, through->n_to);
    compare_event(f, &o);
    compare_named(f, &o);
}

/* The first column that now follows another one than before; ptr NULL if none does. */
static struct str moved_column(const struct schema *was, const struct schema *is)
{
    size_t last = 0;

    for (size_t i = 0; i < is->n_columns; i++) {
        const size_t at = schema_find(was, is->columns[i].name);

        if (at == SIZE_MAX)
            continue;
        if (at < last)
            return is->columns[i].name;
        last = at;
    }
    return (struct str){NULL, 0};
}

/*
 * Rows sort by `order_by`, then by key, and a document shows the first one or so many.  Without
 * a key they sort by the columns in order (sync/document/plan_compile.c).
 */
static void compare_order(struct shape_differ *f, struct shape_object *o)
{
    const struct str key = other_key(o->was, o->is);

    if (key.ptr != NULL)
        note(f, SHAPE_CHANGED, o, key, "joined or left the primary key, which orders the rows");
    for (size_t i = 0; i < o->is->n_key; i++)
        compare_column(f, o, o->is->columns[o->is->key[i]].name, false, NULL);
    if (o->is->n_key > 0)
        return;
    for (size_t i = 0; i < o->is->n_columns; i++)
        compare_column(f, o, o->is->columns[i].name, false, NULL);

    const struct str moved = moved_column(o->was, o->is);

    if (moved.ptr != NULL)
        note(f, SHAPE_CHANGED, o, moved,
             "changed its position, which orders rows without a key");
}

static void compare_relations(struct shape_differ *f, struct shape_object *outer,
                              const struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct relation_definition *r = &relations[i];
        struct column_definition room;
        const struct relation_columns shown = relation_columns(r, &room);
        struct shape_object o = {.table = r->table,
                                 .all_columns = shown.all,
                                 .columns = shown.columns,
                                 .n_columns = shown.n,
                                 .conditions = {r->where, r->order_by}};

        compare_link(f, &r->through);
        if (!open(f, &o))
            continue;

        compare_texts(f, outer, r->from, r->n_from);
        compare_texts(f, &o, r->to, r->n_to);
        compare_listed(f, &o);
        compare_conditions(&o);
        compare_order(f, &o);
        compare_event(f, &o);
        compare_relations(f, &o, r->relations, r->n_relations);
        compare_named(f, &o);
    }
}

static void compare_table(struct shape_differ *f, const struct table_definition *t)
{
    struct shape_object o = {.table = t->table,
                             .is_root = true,
                             .all_columns = t->all_columns,
                             .columns = t->columns,
                             .n_columns = t->n_columns,
                             .conditions = {t->filter}};

    if (!open(f, &o))
        return;

    const struct table_key named = table_key_named(t, o.was);

    compare_texts(f, &o, named.columns, named.n);
    for (size_t i = 0; named.n == 0 && i < o.was->n_key; i++)
        compare_column(f, &o, o.was->columns[o.was->key[i]].name, false, NULL);
    compare_listed(f, &o);
    compare_conditions(&o);
    compare_texts(f, &o, t->join.parent_columns, t->join.n_parent_columns);
    compare_texts(f, &o, t->root_columns, t->n_root_columns);
    if (t->soft_delete_given)
        compare_texts(f, &o, &t->soft_delete_column, 1);
    compare_event(f, &o);
    compare_relations(f, &o, t->relations, t->n_relations);
    compare_named(f, &o);

    const struct str key = t->n_key == 0 ? other_key(o.was, o.is) : (struct str){NULL, 0};

    if (key.ptr != NULL)
        note(f, SHAPE_KEY, &o, key, "joined or left the primary key, which makes the _id");
    else if (table_key_named(t, o.is).columns != named.columns)
        note(f, SHAPE_KEY, &o,
             named.n > 0 ? named.columns[0] : table_key_named(t, o.is).columns[0],
             "belongs to a unique key that became nullable or NOT NULL, and the first NOT "
             "NULL one makes the _id");
}

struct shape_diff shape_diff_make(const struct definitions *d, const struct table_definition *t,
                                  const struct shape_find *was, const struct shape_find *is,
                                  const struct shape_event *event)
{
    struct shape_diff out = {.change = SHAPE_SAME};
    struct shape_differ f = {d, was, is, event, &out, arena_new()};

    compare_table(&f, t);
    arena_free(f.arena);
    return out;
}
