#include "config.h"

#include "sync/document/plan.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/document/row_document.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

#include <assert.h>
#include <stdlib.h>

void plan_free(void *plan)
{
    struct plan *p = plan;

    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n_nodes; i++)
        schema_unref(p->nodes[i]->schema);
    arena_free(p->arena);
    free(p->nodes);
    free(p->topics);
    free(p);
}

bool plan_is_flat(const struct plan *p)
{
    return p->n_nodes == 1 && p->nodes[0]->where.len == 0;
}

bool plan_is_filtered(const struct plan *p)
{
    return p->nodes[0]->where.len > 0;
}

bool plan_is_routed(const struct plan *p)
{
    return p->nodes[0]->membership != NULL && p->nodes[0]->membership->routed;
}

bool plan_is_routed_by_path(const struct plan *p)
{
    return p->nodes[0]->membership != NULL && p->nodes[0]->membership->n_ancestors > 0;
}

size_t plan_n_places(const struct plan *p)
{
    return p->n_nodes;
}

static const struct plan_node *node_at(const struct plan *p, size_t place)
{
    assert(place < p->n_nodes);
    return p->nodes[place];
}

void plan_place(const struct plan *p, size_t place, struct str *database, struct str *table,
                bool *refresh)
{
    const struct plan_node *b = node_at(p, place);

    *database = b->schema->database;
    *table = b->schema->table;
    *refresh = b->refresh;
}

struct schema *plan_place_schema(const struct plan *p, size_t place)
{
    return node_at(p, place)->schema;
}

bool plan_place_leads(const struct plan *p, size_t place)
{
    return node_at(p, place)->leads;
}

const struct str *plan_areas(const struct plan *p, size_t *n, struct str *why_not)
{
    if (why_not != NULL)
        *why_not = p->no_areas;
    *n = p->no_areas.len > 0 ? 0 : p->n_areas;
    return p->area_names;
}

uint8_t plan_area_of(const struct plan *p, size_t place)
{
    return p->no_areas.len > 0 ? 0 : node_at(p, place)->area;
}

size_t plan_n_topics(const struct plan *p)
{
    return p->n_topics;
}

struct str plan_topic(const struct plan *p, size_t number)
{
    assert(number < p->n_topics);
    return p->topics[number];
}

size_t plan_place_topic(const struct plan *p, size_t place)
{
    return node_at(p, place)->topic;
}

/* Rows can be found without their key, too, so it may be missing. */
static void bind_key(struct binding *b, const struct schema *row_schema)
{
    const struct plan_node *by_row = b->node->by_row;

    if (by_row == NULL)
        return;
    b->key = mem_alloc(by_row->n_joins, sizeof(*b->key));
    for (size_t i = 0; i < by_row->n_joins; i++) {
        b->key[i] = schema_find(row_schema, by_row->joins[i].inner->name);
        if (b->key[i] != SIZE_MAX)
            continue;
        free(b->key);
        b->key = NULL;
        return;
    }
}

static bool is_geometry(enum column_type t)
{
    return t == COLUMN_POINT || t == COLUMN_GEOMETRY;
}

static bool is_time(enum column_type t)
{
    return t == COLUMN_TIME || t == COLUMN_DATETIME || t == COLUMN_TIMESTAMP;
}

/* Tell whether the images have the column's values in its present form. */
static bool has_same_form(const struct column *in_row, const struct column *now)
{
    if (is_geometry(in_row->type) && is_geometry(now->type))
        return true;
    return in_row->type == now->type && (!is_time(now->type) || in_row->fsp == now->fsp) &&
           (now->type != COLUMN_DECIMAL || in_row->scale == now->scale);
}

static bool links_by(const struct membership_link *l, size_t at)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i] == at)
            return true;
    return false;
}

/* Tell whether the column decides which documents hold the row, or where they lie. */
static bool is_found_by(const struct plan_node *b, size_t at)
{
    const struct membership *m = b->membership;

    for (size_t i = 0; i < b->n_joins; i++)
        if (b->joins[i].inner_at == at)
            return true;
    return m != NULL && (links_by(&m->parent, at) || links_by(&m->root, at));
}

struct binding *plan_bind(const struct plan *p, size_t place, const struct schema *row_schema,
                          struct err *err)
{
    const struct plan_node *node = node_at(p, place);
    struct binding *b = mem_alloc(1, sizeof(*b));

    b->node = node;
    b->map = mem_alloc(node->n_read, sizeof(*b->map));
    b->n_row = row_schema->n_columns;
    for (size_t i = 0; i < node->n_read; i++) {
        struct str name = node->read[i]->name;

        b->map[i] = schema_find(row_schema, name);
        if (b->map[i] == SIZE_MAX ||
            !has_same_form(&row_schema->columns[b->map[i]], node->read[i]))
            b->lacks = b->lacks == NULL ? node->read[i] : b->lacks;
        if (b->map[i] != SIZE_MAX || !is_found_by(node, i))
            continue;
        err_set(err, ERR_REJECT, "table %" STR_FMT ".%" STR_FMT " has no column `%" STR_FMT "`",
                STR_ARG(row_schema->database), STR_ARG(row_schema->table), STR_ARG(name));
        binding_free(b);
        return NULL;
    }
    bind_key(b, row_schema);
    return b;
}

void binding_free(struct binding *b)
{
    if (b == NULL)
        return;
    free(b->map);
    free(b->key);
    free(b);
}

void binding_mark_generated(const struct binding *b, struct str *generated)
{
    for (size_t i = 0; i < b->node->n_read; i++) {
        const struct column *c = b->node->read[i];

        if (c->generated && b->map[i] != SIZE_MAX)
            generated[b->map[i]] = c->expression.ptr != NULL ? c->expression : STR("");
    }
}

static const struct column *find_absent_of(const struct binding *b,
                                           const struct membership_link *l,
                                           const struct value *row)
{
    for (size_t i = 0; i < l->n; i++)
        if (row[b->map[l->at[i]]].kind == VALUE_ABSENT)
            return l->columns[i];
    return NULL;
}

const struct column *plan_find_absent(const struct plan *p, size_t place,
                                      const struct binding *b, const struct value *row,
                                      enum plan_part part)
{
    const struct plan_node *node = node_at(p, place);
    const struct membership *m = node->membership;
    const size_t n = part == PLAN_KEY ? node->n_joins : node->n_read;

    if (part == PLAN_ROW && b->lacks != NULL)
        return b->lacks;
    for (size_t i = 0; i < n; i++) {
        const size_t at = part == PLAN_KEY ? node->joins[i].inner_at : i;

        if (row[b->map[at]].kind == VALUE_ABSENT)
            return node->read[at];
    }
    if (part == PLAN_ROW || m == NULL)
        return NULL;

    const struct column *lacks = find_absent_of(b, &m->parent, row);

    return lacks != NULL ? lacks : find_absent_of(b, &m->root, row);
}

bool plan_root_id(const struct plan *p, const struct binding *b, const struct value *row,
                  struct buf *id, struct buf *key, struct buf *routing, struct err *err)
{
    const struct plan_node *root = node_at(p, 0);
    const size_t key_at = key->len, id_at = id->len, routing_at = routing->len;
    struct err unknown = {0};

    if (!row_document_key(root, b->map, row, key, err)) {
        key->len = key_at;
        return false;
    }
    if (!row_document_id(root, (struct str){key->ptr + key_at, key->len - key_at}, id, err))
        return false;

    const struct str whole = {id->ptr + id_at, id->len - id_at};
    const bool by_path = plan_is_routed_by_path(p);

    if ((!by_path || row_document_is_rooted(root, b->map, row)) &&
        row_document_routing(root, b->map, row, whole, routing, by_path ? &unknown : err))
        return true;
    routing->len = routing_at;
    if (!by_path)
        buf_append(routing, whole);
    return by_path;
}

bool plan_is_rooted(const struct plan *p, const struct binding *b, const struct value *row)
{
    const struct plan_node *root = node_at(p, 0);

    return plan_is_routed_by_path(p) ? row_document_has_parent(root, b->map, row)
                                     : row_document_is_rooted(root, b->map, row);
}

bool plan_key_of_id(const struct plan *p, struct str id, struct buf *key, struct err *err)
{
    return row_document_parse_id(node_at(p, 0), id, key, err);
}

bool plan_flat_document(const struct plan *p, const struct binding *b, const struct value *row,
                        struct buf *body, struct err *err)
{
    assert(plan_is_flat(p));
    buf_append_char(body, '{');
    if (!row_document_members(node_at(p, 0), b->map, row, body, err))
        return false;
    buf_append_char(body, '}');
    return true;
}

/* A generated column missing from the new image may still have changed. */
static bool may_differ(const struct column *c, const struct value *a, const struct value *b)
{
    return (c->generated && b->kind == VALUE_ABSENT) || !value_same(a, b);
}

/* Whoever found the row by its old key must find it by the new one. */
static bool row_key_changes(const struct binding *b, const struct value *old_row,
                            const struct value *new_row)
{
    for (size_t i = 0; b->key != NULL && i < b->node->by_row->n_joins; i++)
        if (!value_same(&old_row[b->key[i]], &new_row[b->key[i]]))
            return true;
    return false;
}

bool plan_update_keeps_joins(const struct plan *p, size_t place, const struct binding *b,
                             const struct value *old_row, const struct value *new_row)
{
    const struct plan_node *node = node_at(p, place);

    for (size_t i = 0; i < node->n_joins; i++) {
        const size_t at = b->map[node->joins[i].inner_at];

        if (may_differ(node->joins[i].inner, &old_row[at], &new_row[at]))
            return false;
    }
    return true;
}

static bool link_may_differ(const struct membership_link *l, const struct binding *b,
                            const struct value *old_row, const struct value *new_row)
{
    for (size_t i = 0; i < l->n; i++) {
        const size_t at = b->map[l->at[i]];

        if (may_differ(l->columns[i], &old_row[at], &new_row[at]))
            return true;
    }
    return false;
}

bool plan_update_moves(const struct plan *p, const struct binding *b,
                       const struct value *old_row, const struct value *new_row)
{
    const struct membership *m = node_at(p, 0)->membership;

    return m != NULL && (link_may_differ(&m->parent, b, old_row, new_row) ||
                         link_may_differ(&m->root, b, old_row, new_row));
}

bool plan_update_matters(const struct plan *p, size_t place, const struct binding *b,
                         const struct value *old_row, const struct value *new_row)
{
    const struct plan_node *node = node_at(p, place);
    /* An SQL condition or order may use any column. */
    const bool any = node->where.len > 0 || node->order_by.len > 0;
    const size_t n = any ? b->n_row : node->n_read;

    if (b->lacks != NULL)
        return true;
    for (size_t i = 0; i < n; i++) {
        const size_t at = any ? i : b->map[i];

        if (any ? !value_same(&old_row[at], &new_row[at])
                : may_differ(node->read[i], &old_row[at], &new_row[at]))
            return true;
    }
    return row_key_changes(b, old_row, new_row);
}

static bool is_among(const struct column *const *columns, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (columns[i]->generated || str_equal_any_case(columns[i]->name, name))
            return true;
    return false;
}

/* Tell whether the SQL may contain the name; assume so for names with several spellings. */
static bool may_name(struct str sql, struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '`' || (unsigned char)name.ptr[i] >= 0x80)
            return sql.len > 0;
    for (size_t i = 0; i + name.len <= sql.len; i++)
        if (str_equal_any_case((struct str){sql.ptr + i, name.len}, name))
            return true;
    return false;
}

static bool computes(const struct schema *s)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (s->columns[i].generated)
            return true;
    return false;
}

static bool sql_may_name(const struct plan_node *b, struct str sql, struct str column)
{
    return sql.len > 0 && (computes(b->schema) || may_name(sql, column));
}

bool plan_reads(const struct plan *p, size_t place, struct str column)
{
    const struct plan_node *b = node_at(p, place);

    return sql_may_name(b, b->where, column) || sql_may_name(b, b->order_by, column) ||
           schema_keeps_history(b->schema) ||
           is_among((const struct column *const *)b->read, b->n_read, column) ||
           is_among((const struct column *const *)b->order, b->n_order, column);
}
