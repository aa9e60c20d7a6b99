/*
 * The areas of a plan: which relations are written alone, and why none can be.
 *
 * An area is a top-level member of the document with everything below it.  On an update the
 * engine reads and rewrites the whole document, and turns numbers into doubles on the way.  So
 * a document with numbers that a double cannot hold is never written in parts.
 */
#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_compiler.h"
#include "sync/document/query.h"
#include "sync/value/schema.h"

#include <ctype.h>
#include <stdint.h>

/* Digits that survive in every engine: it keeps a double. */
#define DIGITS_MAX 15

/* ---- what is written alone ---- */

static const struct plan_node *top_of(const struct plan_node *b)
{
    while (b->parent->parent != NULL)
        b = b->parent;
    return b;
}

static bool is_below(const struct plan_node *b, const struct plan_node *top)
{
    return b->parent != NULL && top_of(b) == top;
}

/* Integers have one text: the document's key equals c's join value without a read. */
static bool is_joined_by_key(const struct plan_node *root, const struct plan_node *entry)
{
    for (size_t i = 0; i < root->n_joins; i++)
        if (!key_is_integer(root->joins[i].inner))
            return false;
    for (size_t i = 0; i < entry->n_joins; i++) {
        bool is_key = false;

        for (size_t k = 0; k < root->n_joins; k++)
            is_key = is_key || root->joins[k].inner == entry->joins[i].outer;
        if (!is_key)
            return false;
    }
    return true;
}

/* The members of a shared index belong to no area. */
static const struct membership *without_members(const struct membership *m, struct arena *a)
{
    struct membership *bare;

    if (m == NULL)
        return NULL;
    bare = arena_alloc(a, 1, sizeof(*bare));
    *bare = *m;
    bare->members = STR("");
    return bare;
}

/* A node without fields that reads c's join columns, with c below it. */
static struct plan_node *root_of_area(struct plan_compiler *co, struct plan_node *c)
{
    const struct plan_node *root = co->plan->nodes[0];
    struct plan_node *alone = arena_alloc(co->plan->arena, 1, sizeof(*alone));

    *alone = *root;
    alone->fields = NULL;
    alone->n_fields = 0;
    alone->membership = without_members(root->membership, co->plan->arena);
    alone->children = arena_alloc(co->plan->arena, 1, sizeof(struct plan_node *));
    alone->children[0] = c;
    alone->n_children = 1;
    alone->by_key_alone = is_joined_by_key(root, plan_node_entry(c));
    query_prepare_joins(alone, plan_node_entry(c), co->plan->arena);
    return alone;
}

static struct str name_of(const struct plan_node *c)
{
    return (struct str){c->member.ptr + 1, c->member.len - 3}; /* without quotes and colon */
}

static bool wants_area(const struct plan *p, const struct plan_node *top)
{
    for (size_t i = 1; i < p->n_nodes; i++)
        if (is_below(p->nodes[i], top) && p->nodes[i]->alone)
            return true;
    return false;
}

static void add_area(struct plan_compiler *co, struct plan_node *c)
{
    struct plan *p = co->plan;
    const struct plan_node *top = plan_node_entry(c);
    struct buf name = {0};

    json_unescape(&name, name_of(c));
    p->areas[p->n_areas] = root_of_area(co, c);
    p->area_names[p->n_areas++] = arena_copy(p->arena, buf_str(&name));
    buf_free(&name);
    for (size_t i = 1; i < p->n_nodes; i++)
        if (is_below(p->nodes[i], top) && p->nodes[i]->alone)
            p->nodes[i]->area = (uint8_t)p->n_areas;
}

/* ---- why a document cannot be written in parts ---- */

/* Find JSON numbers that a double cannot hold exactly; skips strings. */
static bool has_long_number(struct str json)
{
    size_t digits = 0;
    bool in_string = false;

    for (size_t i = 0; i < json.len; i++) {
        const char c = json.ptr[i];

        if (in_string && c == '\\') {
            i++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string) {
            digits = isdigit((unsigned char)c) ? digits + 1 : c == '.' ? digits : 0;
            if (digits > DIGITS_MAX || (digits > 0 && i + 1 < json.len &&
                                        (json.ptr[i + 1] == 'e' || json.ptr[i + 1] == 'E')))
                return true;
        }
    }
    return false;
}

static bool makes_any_number(const struct transforms *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->steps[i].kind == TRANSFORM_NUMBER || t->steps[i].kind == TRANSFORM_JSON)
            return true;
    return false;
}

/* Which of the column's values an engine would not return unchanged; NULL if none. */
static const char *blurred(const struct field *f)
{
    const struct column *c = f->column;

    if (c->type == COLUMN_JSON)
        return "its numbers may have any number of digits";
    if (c->type == COLUMN_VECTOR)
        return "engines keep vectors outside of documents";
    if (c->type == COLUMN_DECIMAL && c->precision > DIGITS_MAX && !f->as_string)
        return "its numbers may have more than 15 digits";
    return NULL;
}

static const char *blurred_field(const struct plan_field *f)
{
    if (has_long_number(f->constant) || has_long_number(f->field.if_null))
        return "its number has more than 15 digits";
    if (f->transforms.n > 0)
        return makes_any_number(&f->transforms) ? "its numbers may have any number of digits"
                                                : NULL;
    return f->constant.len > 0 ? NULL : blurred(&f->field);
}

static bool note_blurred(struct plan_compiler *co, const struct plan_node *b)
{
    for (size_t i = 0; i < b->n_fields; i++) {
        const struct plan_field *f = &b->fields[i];
        const char *why = blurred_field(f);
        struct buf text = {0};

        if (why == NULL)
            continue;
        buf_printf(&text, "%.*s of table %" STR_FMT ": %s", (int)f->field.member.len - 1,
                   f->field.member.ptr, STR_ARG(b->schema->table), why);
        co->plan->no_areas = arena_copy(co->plan->arena, buf_str(&text));
        buf_free(&text);
        return true;
    }
    return false;
}

static void note_obstacle(struct plan_compiler *co, const struct table_definition *t)
{
    struct plan *p = co->plan;
    struct str raw;

    /* Their versions stand still while another source writes (docs/adr/0021). */
    if (p->n_topics > 1) {
        p->no_areas = STR("the documents show tables of another topic");
        return;
    }
    if (t->join.parent.len > 0) {
        p->no_areas = STR("a child's routing is only known from its whole document");
        return;
    }
    if (t->pipeline.len > 0) {
        p->no_areas = STR("updates of a part do not pass the pipeline");
        return;
    }
    if (json_find(t->mapping_json, "/_source", &raw)) {
        p->no_areas = STR("its `mapping` sets which parts of a document the engine keeps "
                          "(`_source`)");
        return;
    }
    for (size_t i = 0; i < p->n_nodes; i++)
        if (note_blurred(co, p->nodes[i]))
            return;
}

void plan_add_areas(struct plan_compiler *co, const struct table_definition *t)
{
    struct plan *p = co->plan;
    struct plan_node *root = p->nodes[0];

    p->areas = arena_alloc(p->arena, root->n_children + 1, sizeof(struct plan_node *));
    p->area_names = arena_alloc(p->arena, root->n_children + 1, sizeof(*p->area_names));
    for (size_t i = 0; i < root->n_children && p->n_areas < UINT8_MAX; i++) {
        const struct plan_node *top = plan_node_entry(root->children[i]);

        if (wants_area(p, top))
            add_area(co, root->children[i]);
    }
    if (p->n_areas > 0)
        note_obstacle(co, t);
}
