#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/members.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_compiler.h"
#include "sync/document/query.h"
#include "sync/value/schema.h"

#include <stdint.h>
#include <string.h>

/* The columns that make up the `_id` of another table's documents. */
struct key_columns {
    const struct schema *schema;
    const struct column **columns;
    size_t n;
};

static bool find_key(struct plan_compiler *co, const struct table_definition *t,
                     struct key_columns *out)
{
    struct str database, name;
    const struct database_definition *db = definition_split_table(t->table, &database, &name)
                                               ? definitions_database(co->defs, database)
                                               : NULL;
    const struct schema *s =
        db == NULL ? NULL : co->find(co->ctx, db->topic, database_schema(db), name);

    if (s == NULL)
        return plan_refuse(co, t->place, "there is no table %" STR_FMT, STR_ARG(t->table));

    const size_t n = t->n_key > 0 ? t->n_key : s->n_key;

    *out =
        (struct key_columns){s, arena_alloc(co->plan->arena, n + 1, sizeof(*out->columns)), n};
    for (size_t i = 0; i < n; i++) {
        out->columns[i] = t->n_key == 0 ? &s->columns[s->key[i]]
                                        : plan_find_column(co, s, t->key[i], t->place);
        if (out->columns[i] == NULL)
            return false;
    }
    return true;
}

/* Equal values make the same text in an `_id`. */
static bool spell_alike(const struct column *a, const struct column *b)
{
    const enum key_class class = key_class_of(a);

    if (class != key_class_of(b) || class == KEY_NONE)
        return false;
    if (class == KEY_NUMBER)
        return (key_is_integer(a) && key_is_integer(b)) ||
               (a->type == b->type && a->scale == b->scale);
    if (class == KEY_DATETIME || class == KEY_TIME)
        return a->type == b->type && a->fsp == b->fsp;
    if (class == KEY_REAL || class == KEY_BYTES)
        return a->type == b->type && (a->type != COLUMN_BINARY || a->length == b->length);
    return true;
}

static bool add_link(struct plan_compiler *co, struct plan_node *root,
                     const struct table_definition *t, const struct str *columns, size_t n,
                     const struct table_definition *to, const char *what,
                     struct membership_link *out)
{
    struct arena *a = co->plan->arena;
    struct key_columns key = {0};

    if (!find_key(co, to, &key))
        return false;
    if (key.n != n)
        return plan_refuse(co, t->place,
                           "`%s` has %zu column%s and the key of %" STR_FMT " %zu", what, n,
                           n == 1 ? "" : "s", STR_ARG(to->table), key.n);
    *out = (struct membership_link){.prefix = membership_prefix(a, to->join.name),
                                    .columns = arena_alloc(a, n, sizeof(*out->columns)),
                                    .at = arena_alloc(a, n, sizeof(*out->at))};
    for (size_t i = 0; i < n; i++) {
        const struct column *c = plan_find_column(co, root->schema, columns[i], t->place);

        if (c == NULL)
            return false;
        if (!spell_alike(c, key.columns[i]))
            return plan_refuse(co, t->place,
                               "`%" STR_FMT "` (%" STR_FMT ") cannot hold `%" STR_FMT
                               "` (%" STR_FMT ") of %" STR_FMT ": they make different ids",
                               STR_ARG(c->name), STR_ARG(c->type_text),
                               STR_ARG(key.columns[i]->name),
                               STR_ARG(key.columns[i]->type_text), STR_ARG(to->table));
        out->columns[out->n] = c;
        out->at[out->n++] = plan_read_column(root, c);
    }
    return true;
}

/* ---- the way to the root ---- */

static struct plan_node *add_ancestor(struct plan_compiler *co, struct plan_node *child,
                                      const struct table_definition *of,
                                      const struct table_definition *t)
{
    const struct plan_source src = {.place = of->place, .table = t->table};
    struct plan_node *b = plan_new_node(co, &src);
    struct plan_joined pairs = {.place = of->place,
                                .outer = of->join.parent_columns,
                                .n_outer = of->join.n_parent_columns};
    struct key_columns key = {0};
    struct str *names;

    if (b == NULL || !find_key(co, t, &key))
        return NULL;
    names = arena_alloc(co->plan->arena, key.n, sizeof(*names));
    for (size_t i = 0; i < key.n; i++)
        names[i] = key.columns[i]->name;
    pairs.inner = names;
    pairs.n_inner = key.n;
    b->parent = child;
    b->refresh = b->leads = true;
    if (!plan_add_joins(co, b, child, &pairs))
        return NULL;
    query_prepare(b, co->plan->arena);
    plan_add_by_row(co, b);
    return b;
}

/* The columns of an ancestor's table with the key of the join's root. */
static const struct column **root_columns(struct plan_compiler *co, struct plan_node *at,
                                          const struct table_definition *above, size_t n)
{
    const bool second = above->n_root_columns == 0;
    const struct str *names = second ? above->join.parent_columns : above->root_columns;
    const struct column **found = arena_alloc(co->plan->arena, n, sizeof(*found));

    if (n != (second ? above->join.n_parent_columns : above->n_root_columns)) {
        plan_refuse(co, above->place, "the key of its root has %zu columns", n);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        found[i] = plan_find_column(co, at->schema, names[i], above->place);
        if (found[i] == NULL)
            return NULL;
        (void)plan_read_column(at, found[i]);
    }
    return found;
}

/* Each ancestor is a member itself, so the checks of the row's own table cover it. */
static bool add_ancestors(struct plan_compiler *co, struct plan_node *root,
                          const struct table_definition *t, struct membership *m)
{
    const size_t n = definition_join_level(co->defs, t) - 1;
    struct plan_node *at = root;

    m->ancestors = arena_alloc(co->plan->arena, n, sizeof(*m->ancestors));
    for (size_t i = 0; i < n; i++) {
        const struct table_definition *above = definitions_table(co->defs, t->join.parent);
        const struct column **columns;

        at = add_ancestor(co, at, t, above);
        columns = at == NULL ? NULL : root_columns(co, at, above, m->root.n);
        if (columns == NULL)
            return false;
        m->ancestors[m->n_ancestors++] = (struct membership_ancestor){at, columns};
        t = above;
    }
    return true;
}

/* Read the root's key separately from the columns that may hold another key. */
static void read_root(struct plan_compiler *co, struct plan_node *root,
                      struct membership_link *to)
{
    const struct column **read =
        arena_alloc(co->plan->arena, root->n_read + to->n, sizeof(*read));

    memcpy(read, root->read, root->n_read * sizeof(*read));
    root->read = read;
    for (size_t i = 0; i < to->n; i++) {
        root->read[root->n_read] = to->columns[i];
        to->at[i] = root->n_read++;
    }
}

bool plan_add_ancestors(struct plan_compiler *co, struct plan_node *root,
                        const struct table_definition *t)
{
    struct membership *m;

    if (!t->join.given || definition_join_level(co->defs, t) < 2)
        return true;
    m = arena_alloc(co->plan->arena, 1, sizeof(*m));
    *m = *root->membership;
    root->membership = m;
    read_root(co, root, &m->root);
    return add_ancestors(co, root, t, m);
}

static void append_member(struct buf *json, struct str name)
{
    buf_append_json(json, name);
    buf_append_char(json, ':');
}

static bool add_join(struct plan_compiler *co, struct plan_node *root,
                     const struct table_definition *t, struct membership *m)
{
    const struct table_definition *parent, *top = definition_join_root(co->defs, t);
    struct buf json = {0};

    if (top == NULL)
        return plan_refuse(co, t->place, "the parents of %" STR_FMT " are not all defined",
                           STR_ARG(t->table));
    m->routed = true;
    m->prefix = membership_prefix(co->plan->arena, t->join.name);
    append_member(&json, join_field(&t->join));
    if (t != top) {
        buf_append(&json, STR("{\"name\":"));
        buf_append_json(&json, t->join.name);
        buf_append(&json, STR(",\"parent\":"));
        m->ends = STR("}");
    } else {
        buf_append_json(&json, t->join.name);
    }
    m->members = arena_copy(co->plan->arena, buf_str(&json));
    buf_free(&json);
    if (t == top)
        return true;
    parent = definitions_table(co->defs, t->join.parent);
    m->field = arena_copy(co->plan->arena, join_field(&t->join));
    m->parent_name = arena_copy(co->plan->arena, parent->join.name);
    if (!add_link(co, root, t, t->join.parent_columns, t->join.n_parent_columns, parent,
                  "parent_column", &m->parent))
        return false;
    if (parent != top)
        return add_link(co, root, t, t->root_columns, t->n_root_columns, top, "root_column",
                        &m->root);
    m->root = m->parent;
    return true;
}

static void add_source(struct plan_compiler *co, const struct table_definition *t,
                       struct membership *m)
{
    struct buf json = {0};

    m->prefix = membership_prefix(co->plan->arena, t->table);
    if (t->source_field.len > 0) {
        append_member(&json, t->source_field);
        buf_append_json(&json, t->table);
    }
    m->members = arena_copy(co->plan->arena, buf_str(&json));
    buf_free(&json);
}

bool plan_add_membership(struct plan_compiler *co, struct plan_node *root,
                         const struct table_definition *t)
{
    struct membership *m;

    if (!t->join.given && t->pattern.len == 0)
        return true;
    m = arena_alloc(co->plan->arena, 1, sizeof(*m));
    root->membership = m;
    if (t->join.given)
        return add_join(co, root, t, m);
    add_source(co, t, m);
    return true;
}
