#include "config.h"

#include "sync/document/lookup.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/value/schema.h"

#include <stdint.h>
#include <string.h>

struct finder {
    const struct plan *plan;
    struct str mapping;
    struct arena *arena;
    struct lookup_term *out;
};

/* "name": without the quotes and the colon. */
static struct str plain_member(struct str member)
{
    return (struct str){member.ptr + 1, member.len - 3};
}

/* ---- what the mapping says ---- */

static void append_pointer(struct buf *pointer, struct str name)
{
    buf_append(pointer, STR("/properties/"));
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~')
            buf_append(pointer, STR("~0"));
        else if (name.ptr[i] == '/')
            buf_append(pointer, STR("~1"));
        else
            buf_append_char(pointer, name.ptr[i]);
    }
}

static void append_dotted(struct buf *path, struct str name)
{
    if (path->len > 0)
        buf_append_char(path, '.');
    buf_append(path, name);
}

/* Follow the nodes down from the root; *nested gets the last one mapped as nested. */
static void descend(const struct finder *f, const struct plan_node *b, struct buf *pointer,
                    struct buf *path, struct str *nested)
{
    struct str type;

    if (b->parent == NULL)
        return;
    descend(f, b->parent, pointer, path, nested);
    if (b->member.len == 0)
        return; /* a link table shows nothing */
    append_pointer(pointer, plain_member(b->member));
    append_dotted(path, plain_member(b->member));

    const size_t len = pointer->len;

    buf_append(pointer, STR("/type"));
    if (json_find(f->mapping, pointer->ptr, &type) && str_equal(type, STR("\"nested\"")))
        *nested = arena_copy(f->arena, buf_str(path));
    pointer->len = len;
    pointer->ptr[len] = '\0';
}

static bool is_one_of(struct str type, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(type, str_from(names[i])))
            return true;
    return false;
}

/* The field finds every value of the column, each by its text. */
static bool finds_values(struct str field, const struct column *c)
{
    static const char *const integers[] = {"byte", "short", "integer", "long", "unsigned_long"};
    struct buf type = {0};
    uint64_t longest;
    bool indexed = true, fits = false;

    if (json_find_text(field, "/type", &type)) {
        const struct str t = buf_str(&type);

        if (key_is_integer(c) && is_one_of(t, integers, ARRAY_LEN(integers)))
            fits = true;
        else if (str_equal(t, STR("keyword")))
            fits = key_class_of(c) == KEY_NUMBER || key_class_of(c) == KEY_TEXT ||
                   key_class_of(c) == KEY_UUID;
        else if (str_equal(t, STR("scaled_float")))
            fits = key_class_of(c) == KEY_NUMBER;
        else if (str_equal(t, STR("ip")))
            fits = key_class_of(c) == KEY_INET4 || key_class_of(c) == KEY_INET6;
    }
    if (json_find_bool(field, "/index", &indexed) && !indexed)
        fits = false;
    if (c->type == COLUMN_SET || c->type == COLUMN_BIT ||
        (json_find_u64(field, "/ignore_above", &longest) && c->length > longest))
        fits = false;
    buf_free(&type);
    return fits;
}

static bool try_field(const struct finder *f, const struct plan_node *b, struct str member,
                      const struct column *c)
{
    struct buf pointer = {0}, path = {0};
    struct str nested = {0}, field, sub;
    bool found = false;

    descend(f, b, &pointer, &path, &nested);
    append_pointer(&pointer, plain_member(member));
    append_dotted(&path, plain_member(member));
    if (json_find(f->mapping, pointer.ptr, &field)) {
        found = finds_values(field, c);
        if (!found && json_find(field, "/fields/keyword", &sub) && finds_values(sub, c)) {
            append_dotted(&path, STR("keyword"));
            found = true;
        }
    }
    if (found)
        *f->out = (struct lookup_term){.field = arena_copy(f->arena, buf_str(&path)),
                                       .nested = nested};
    buf_free(&pointer);
    buf_free(&path);
    return found;
}

/* ---- where a column is shown ---- */

static bool try_own_fields(const struct finder *f, const struct plan_node *b,
                           const struct column *c)
{
    for (size_t i = 0; !b->values && i < b->n_fields; i++)
        if (b->fields[i].field.column == c && try_field(f, b, b->fields[i].field.member, c))
            return true;
    return false;
}

static bool folds_case(const struct column *c)
{
    static const struct str binary = STR("_bin");
    const struct str s = c->collation;

    return key_class_of(c) == KEY_TEXT &&
           !(s.len >= binary.len &&
             memcmp(s.ptr + s.len - binary.len, binary.ptr, binary.len) == 0) &&
           !str_equal(s, STR("binary"));
}

/* Equal values have the same text, that of a key. */
static bool is_spelled(const struct column *c)
{
    return key_is_integer(c) || key_class_of(c) == KEY_UUID ||
           (key_class_of(c) == KEY_TEXT && !folds_case(c));
}

static bool is_bare_id(const struct plan_node *b, const struct column *c)
{
    return b->parent == NULL && b->n_order == 1 && b->order[0] == c && is_spelled(c);
}

/* A relation's row shows its join value, as long as the row exists. */
static bool try_children(const struct finder *f, const struct plan_node *b,
                         const struct column *c)
{
    for (size_t i = 0; i < b->n_children; i++) {
        const struct plan_node *child = b->children[i];

        for (size_t j = 0; child->link == NULL && j < child->n_joins; j++)
            if (child->joins[j].outer == c && child->where.len == 0 &&
                try_own_fields(f, child, child->joins[j].inner))
                return true;
    }
    return false;
}

/* A linked row shows the link's inner join value; without such a row the link shows nothing. */
static bool try_linked(const struct finder *f, const struct plan_node *link,
                       const struct column *c)
{
    for (size_t i = 0; i < f->plan->n_nodes; i++) {
        const struct plan_node *b = f->plan->nodes[i];

        for (size_t j = 0; b->link == link && j < b->n_joins; j++)
            if (b->joins[j].outer == c && b->where.len == 0 &&
                try_own_fields(f, b, b->joins[j].inner))
                return true;
    }
    return false;
}

static struct str own_prefix(const struct plan_node *root)
{
    return root->membership == NULL ? STR("") : root->membership->prefix;
}

/* A child shows its parent's `_id` in the join field. */
static struct str parent_field(const struct membership *m, struct arena *a)
{
    struct buf field = {0};

    buf_printf(&field, "%" STR_FMT "#%" STR_FMT, STR_ARG(m->field), STR_ARG(m->parent_name));

    const struct str kept = arena_copy(a, buf_str(&field));

    buf_free(&field);
    return kept;
}

static bool try_parent(const struct finder *f, const struct plan_node *b,
                       const struct column *c)
{
    const struct membership *m = b->membership;

    if (m == NULL || m->parent.n != 1 || m->parent.columns[0] != c || !is_spelled(c))
        return false;
    *f->out =
        (struct lookup_term){.field = parent_field(m, f->arena), .prefix = m->parent.prefix};
    return true;
}

static bool try_column(const struct finder *f, const struct plan_node *b,
                       const struct column *c)
{
    if (is_bare_id(b, c)) {
        *f->out = (struct lookup_term){.field = STR("_id"), .prefix = own_prefix(b)};
        return true;
    }
    if (try_own_fields(f, b, c) || try_parent(f, b, c))
        return true;
    for (size_t i = 0; b->parent != NULL && i < b->n_joins; i++)
        if (b->joins[i].inner == c && try_column(f, b->parent, b->joins[i].outer))
            return true;
    return try_children(f, b, c) || try_linked(f, b, c);
}

bool lookup_find(const struct plan *p, size_t place, struct str column, struct str mapping,
                 struct arena *a, struct lookup_term *out, struct err *err)
{
    const struct finder f = {p, mapping, a, out};
    const struct plan_node *b = p->nodes[place];
    const size_t i = schema_find(b->schema, column);

    if (i == SIZE_MAX)
        return err_set(err, ERR_REJECT, "%" STR_FMT " has no column `%" STR_FMT "`",
                       STR_ARG(b->schema->table), STR_ARG(column));
    if (!try_column(&f, b, &b->schema->columns[i]))
        return err_set(
            err, ERR_REJECT,
            "no field that searches can match exactly shows `%" STR_FMT "` of %" STR_FMT
            ".%" STR_FMT "; fix: name it in `columns`, with a type that matches "
            "whole values (a number or keyword)",
            STR_ARG(column), STR_ARG(b->schema->database), STR_ARG(b->schema->table));
    out->fold_case = folds_case(&b->schema->columns[i]);
    return true;
}

static bool links_by(const struct membership_link *l, struct str column)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_equal_any_case(l->columns[i]->name, column))
            return true;
    return false;
}

bool lookup_places(const struct plan *p, struct str column)
{
    const struct membership *m = p->nodes[0]->membership;

    return m != NULL && (links_by(&m->parent, column) || links_by(&m->root, column));
}

bool lookup_children(const struct plan *p, const struct plan *child, struct arena *a,
                     struct lookup_term *out)
{
    const struct membership *above = p->nodes[0]->membership, *m = child->nodes[0]->membership;

    if (above == NULL || m == NULL || m->n_ancestors == 0 ||
        !str_equal(m->parent.prefix, above->prefix))
        return false;
    *out = (struct lookup_term){.field = parent_field(m, a)};
    return true;
}

bool lookup_root_column(const struct plan *p, struct str column, size_t *part)
{
    const struct plan_node *root = p->nodes[0];

    for (size_t i = 0; i < root->n_order; i++)
        if (str_equal_any_case(root->order[i]->name, column)) {
            *part = i;
            return true;
        }
    return false;
}

/* ---- queries ---- */

static void write_prefixed(struct json_writer *w, struct str prefix, struct str text)
{
    struct buf whole = {0};

    buf_append(&whole, prefix);
    buf_append(&whole, text);
    json_write_string(w, buf_str(&whole));
    buf_free(&whole);
}

static void write_values(struct json_writer *w, const struct lookup_term *t,
                         const struct lookup_values *v)
{
    json_open_object(w);
    json_write_key(w, STR("terms"));
    json_open_object(w);
    json_write_key(w, t->field);
    json_open_array(w);
    for (size_t i = 0; i < v->n; i++)
        write_prefixed(w, t->prefix, v->texts[i]);
    json_close_array(w);
    json_close_object(w);
    json_close_object(w);
}

static void write_folded(struct json_writer *w, const struct lookup_term *t, struct str text)
{
    json_open_object(w);
    json_write_key(w, STR("term"));
    json_open_object(w);
    json_write_key(w, t->field);
    json_open_object(w);
    json_put_string(w, STR("value"), text);
    json_put_bool(w, STR("case_insensitive"), true);
    json_close_object(w);
    json_close_object(w);
    json_close_object(w);
}

/* Write one term per value: only these can ignore case. */
static void write_any_case(struct json_writer *w, const struct lookup_term *t,
                           const struct lookup_values *v)
{
    json_open_object(w);
    json_write_key(w, STR("bool"));
    json_open_object(w);
    json_write_key(w, STR("should"));
    json_open_array(w);
    for (size_t i = 0; i < v->n; i++)
        write_folded(w, t, v->texts[i]);
    json_close_array(w);
    json_close_object(w);
    json_close_object(w);
}

static void write_term(struct json_writer *w, const struct lookup_term *t,
                       const struct lookup_values *v)
{
    if (t->nested.len > 0) {
        json_open_object(w);
        json_write_key(w, STR("nested"));
        json_open_object(w);
        json_put_string(w, STR("path"), t->nested);
        json_write_key(w, STR("query"));
    }
    if (t->fold_case)
        write_any_case(w, t, v);
    else
        write_values(w, t, v);
    if (t->nested.len > 0) {
        json_close_object(w);
        json_close_object(w);
    }
}

void lookup_query(struct buf *json, const struct lookup_term *terms,
                  const struct lookup_values *values, size_t n)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_write_key(&w, STR("bool"));
    json_open_object(&w);
    json_write_key(&w, STR("filter"));
    json_open_array(&w);
    for (size_t i = 0; i < n; i++)
        write_term(&w, &terms[i], &values[i]);
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);
}
