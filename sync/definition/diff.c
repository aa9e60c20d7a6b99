#include "config.h"

#include "sync/definition/diff.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/format/yaml.h"
#include "sync/definition/export.h"
#include "sync/definition/form.h"
#include "sync/definition/index_settings.h"

#include <stdlib.h>
#include <string.h>

struct definition_differ {
    struct arena *a;
    struct field_change *fields; /* of the current object; heap */
    size_t n_fields, cap;
};

static const char *change_name(enum change c)
{
    static const char *const names[] = {"add", "change", "remove"};

    return names[c];
}

static struct str json_of(struct arena *a, const struct yaml_node *n, bool secret)
{
    struct buf b = {0};
    struct str json;

    if (n == NULL)
        return (struct str){NULL, 0};
    if (secret)
        return STR("\"" DEFINITION_HIDDEN "\"");
    yaml_append_json(&b, n, true);
    json = arena_copy(a, buf_str(&b));
    buf_free(&b);
    return json;
}

static void note(struct definition_differ *d, struct str path, const struct yaml_node *before,
                 const struct yaml_node *after, unsigned flags)
{
    bool secret = (flags & FORM_SECRET) != 0;

    if (yaml_equal(before, after))
        return;
    if (d->n_fields == d->cap) {
        d->cap = d->cap == 0 ? 16 : d->cap * 2;
        d->fields = mem_resize(d->fields, d->cap, sizeof(*d->fields));
    }
    d->fields[d->n_fields++] = (struct field_change){
        .path = arena_copy(d->a, path),
        .before = json_of(d->a, before, secret),
        .after = json_of(d->a, after, secret),
        .needs_build = (flags & FORM_REBUILD) != 0,
    };
}

static struct str join(struct arena *a, struct str path, const char *separator, struct str name,
                       const char *end)
{
    struct buf b = {0};
    struct str joined;

    buf_printf(&b, "%" STR_FMT "%s%" STR_FMT "%s", STR_ARG(path), path.len > 0 ? separator : "",
               STR_ARG(name), end);
    joined = arena_copy(a, buf_str(&b));
    buf_free(&b);
    return joined;
}

/* ---- settings ---- */

static void compare_settings(struct definition_differ *d, struct str path,
                             const struct yaml_node *before, const struct yaml_node *after)
{
    struct yaml_node *none = yaml_new(d->a, YAML_MAP);
    struct yaml_node *x = index_settings_flatten(d->a, before == NULL ? none : before);
    struct yaml_node *y = index_settings_flatten(d->a, after == NULL ? none : after);

    for (size_t i = 0; i < x->n + y->n; i++) {
        struct str name = i < x->n ? x->names[i]->text : y->names[i - x->n]->text;

        if (i < x->n || yaml_find(x, name) == NULL)
            note(d, join(d->a, path, ".", name, ""), yaml_find(x, name), yaml_find(y, name),
                 index_setting_is_live(name) ? 0 : FORM_REBUILD);
    }
}

/* ---- lists of objects ---- */

static void compare_objects(struct definition_differ *d, const struct form *form,
                            struct str path, const struct yaml_node *before,
                            const struct yaml_node *after);

static struct str text_of(const struct yaml_node *map, const char *name)
{
    const struct yaml_node *value = yaml_find(map, str_from(name));

    return value == NULL ? (struct str){"", 0} : value->text;
}

/* Identify an item within its list by its name in the document, given or default. */
static struct str identity_of(const struct yaml_node *item)
{
    if (item->kind == YAML_SCALAR)
        return item->text;

    struct str as = text_of(item, "as"), database, table;

    if (as.len == 0 && definition_split_table(text_of(item, "table"), &database, &table))
        return table;
    return as.len > 0 ? as : text_of(item, "name");
}

/* Find the counterpart of list item i.  Among equals, the first matches the first. */
static const struct yaml_node *find_item(const struct yaml_node *list, size_t i,
                                         const struct yaml_node *other)
{
    struct str identity = identity_of(list->items[i]);
    size_t n_before = 0;

    for (size_t k = 0; k < i; k++)
        n_before += str_equal(identity_of(list->items[k]), identity) ? 1 : 0;
    for (size_t k = 0; k < other->n; k++)
        if (str_equal(identity_of(other->items[k]), identity) && n_before-- == 0)
            return other->items[k];
    return NULL;
}

/* Expand a bare name to the object it abbreviates. */
static const struct yaml_node *as_map(struct definition_differ *d, const struct yaml_node *item)
{
    struct yaml_node *map;

    if (item->kind != YAML_SCALAR)
        return item;
    map = yaml_new(d->a, YAML_MAP);
    yaml_put(d->a, map, STR("name"), yaml_new_text(d->a, item->text));
    return map;
}

static struct yaml_node *order_of(struct definition_differ *d, const struct yaml_node *list,
                                  const struct yaml_node *other)
{
    struct yaml_node *order = yaml_new(d->a, YAML_LIST);

    for (size_t i = 0; i < list->n; i++)
        if (find_item(list, i, other) != NULL)
            yaml_push(d->a, order, yaml_new_text(d->a, identity_of(list->items[i])));
    return order;
}

static void compare_lists(struct definition_differ *d, const struct form_field *f,
                          struct str path, const struct yaml_node *before,
                          const struct yaml_node *after)
{
    for (size_t i = 0; i < before->n; i++) {
        struct str inner = join(d->a, path, "[", identity_of(before->items[i]), "]");
        const struct yaml_node *match = find_item(before, i, after);

        if (match == NULL)
            note(d, inner, before->items[i], NULL, f->flags);
        else
            compare_objects(d, f->object, inner, as_map(d, before->items[i]), as_map(d, match));
    }
    for (size_t i = 0; i < after->n; i++)
        if (find_item(after, i, before) == NULL)
            note(d, join(d->a, path, "[", identity_of(after->items[i]), "]"), NULL,
                 after->items[i], f->flags);
    /* The order of fields makes no difference to a document. */
    note(d, join(d->a, path, ".", STR("order"), ""), order_of(d, before, after),
         order_of(d, after, before), 0);
}

/* ---- objects ---- */

static void compare_objects(struct definition_differ *d, const struct form *form,
                            struct str path, const struct yaml_node *before,
                            const struct yaml_node *after)
{
    for (size_t i = 0; i < form->n_fields; i++) {
        const struct form_field *f = &form->fields[i];
        const struct yaml_node *x = yaml_find(before, str_from(f->name));
        const struct yaml_node *y = yaml_find(after, str_from(f->name));
        struct str inner = join(d->a, path, ".", str_from(f->name), "");
        bool both = x != NULL && y != NULL;

        if ((f->flags & FORM_SETTINGS) != 0)
            compare_settings(d, inner, x, y);
        else if (both && f->type == FORM_OBJECT)
            compare_objects(d, f->object, inner, x, y);
        else if (both && (f->type == FORM_OBJECTS || f->type == FORM_COLUMNS))
            compare_lists(d, f, inner, x, y);
        else
            note(d, inner, x, y, f->flags);
    }
}

/* ---- all of them ---- */

struct defined_object {
    struct str name;
    struct str index; /* of a table */
    const void *at;
};

/* The sorted objects of a section. */
struct section {
    const struct form *form;
    struct defined_object *objects;
    size_t n;
};

static void list_section(struct arena *a, const struct definitions *d, const struct form *form,
                         struct section *out)
{
    size_t n = d == NULL                ? 0
               : form == &form_topic    ? d->n_topics
               : form == &form_database ? d->n_databases
                                        : d->n_tables;

    *out = (struct section){form, arena_alloc(a, n + 1, sizeof(struct defined_object)), n};
    for (size_t i = 0; i < n; i++)
        if (form == &form_topic)
            out->objects[i] =
                (struct defined_object){.name = d->topics[i].name, .at = &d->topics[i]};
        else if (form == &form_database)
            out->objects[i] =
                (struct defined_object){.name = d->databases[i].name, .at = &d->databases[i]};
        else
            out->objects[i] = (struct defined_object){
                table_name(&d->tables[i]), table_index(&d->tables[i]), &d->tables[i]};
}

static int compare_object(const void *name, const void *object)
{
    return str_order(*(const struct str *)name, ((const struct defined_object *)object)->name);
}

static const struct defined_object *find_object(const struct section *s, struct str name)
{
    return bsearch(&name, s->objects, s->n, sizeof(*s->objects), compare_object);
}

static struct definition_change *add_change(struct definition_diff *out, enum change change,
                                            const struct section *s,
                                            const struct defined_object *of)
{
    struct definition_change *c = &out->changes[out->n++];

    *c = (struct definition_change){.change = change,
                                    .kind = s->form->noun,
                                    .name = arena_copy(out->arena, of->name),
                                    .index = arena_copy(out->arena, of->index),
                                    .needs_build =
                                        change == CHANGE_ADD && s->form == &form_table};
    return c;
}

static void compare_one(struct definition_diff *out, const struct section *s,
                        const struct defined_object *before, const struct defined_object *after)
{
    struct definition_differ d = {.a = out->arena};

    compare_objects(&d, s->form, STR(""),
                    definition_tree(d.a, s->form, before->at, SECRETS_SHOWN),
                    definition_tree(d.a, s->form, after->at, SECRETS_SHOWN));
    if (d.n_fields > 0) {
        struct definition_change *c = add_change(out, CHANGE_CHANGE, s, after);

        c->fields = arena_alloc(d.a, d.n_fields, sizeof(*c->fields));
        memcpy(c->fields, d.fields, d.n_fields * sizeof(*c->fields));
        c->n_fields = d.n_fields;
        for (size_t i = 0; i < c->n_fields; i++)
            c->needs_build = c->needs_build || c->fields[i].needs_build;
    }
    free(d.fields);
}

static void append_identity(struct buf *out, const char *kind, struct str name)
{
    buf_printf(out, "%s %" STR_FMT, kind, STR_ARG(name));
}

static void index_changes(struct definition_diff *d)
{
    struct buf key = {0};

    d->after = map_new();
    for (size_t i = 0; i < d->n; i++) {
        if (d->changes[i].change == CHANGE_REMOVE)
            continue;
        buf_clear(&key);
        append_identity(&key, d->changes[i].kind, d->changes[i].name);
        map_put(d->after, buf_str(&key), &d->changes[i]);
    }
    buf_free(&key);
}

bool definition_diff_touches(const struct definition_diff *d, const char *kind, struct str name)
{
    struct buf key = {0};

    if (d->after == NULL)
        return false;
    append_identity(&key, kind, name);

    const bool found = map_find(d->after, buf_str(&key)) != NULL;

    buf_free(&key);
    return found;
}

void definition_diff_make(const struct definitions *before, const struct definitions *after,
                          struct definition_diff *out)
{
    static const struct form *const sections[] = {&form_topic, &form_database, &form_table};

    *out = (struct definition_diff){.arena = arena_new()};
    for (size_t k = 0, max = 0; k < ARRAY_LEN(sections); k++) {
        struct section x, y;
        struct definition_change *old = out->changes;

        list_section(out->arena, before, sections[k], &x);
        list_section(out->arena, after, sections[k], &y);
        max = out->n + x.n + y.n;
        out->changes = arena_alloc(out->arena, max + 1, sizeof(*out->changes));
        if (out->n > 0)
            memcpy(out->changes, old, out->n * sizeof(*old));
        for (size_t i = 0; i < x.n; i++)
            if (find_object(&y, x.objects[i].name) == NULL)
                add_change(out, CHANGE_REMOVE, &x, &x.objects[i]);
        for (size_t i = 0; i < y.n; i++) {
            const struct defined_object *was = find_object(&x, y.objects[i].name);

            if (was == NULL)
                add_change(out, CHANGE_ADD, &y, &y.objects[i]);
            else
                compare_one(out, &y, was, &y.objects[i]);
        }
    }
    index_changes(out);
}

void definition_diff_free(struct definition_diff *d)
{
    map_free(d->after, NULL);
    arena_free(d->arena);
    *d = (struct definition_diff){0};
}

/* ---- showing ---- */

static void append_member(struct buf *b, const char *name, struct str json)
{
    if (json.len > 0)
        buf_printf(b, ",\"%s\":%" STR_FMT, name, STR_ARG(json));
}

static void append_field(struct buf *b, const struct field_change *f)
{
    buf_append(b, STR("{\"path\":"));
    buf_append_json(b, f->path);
    append_member(b, "before", f->before);
    append_member(b, "after", f->after);
    buf_printf(b, ",\"needs_build\":%s}", f->needs_build ? "true" : "false");
}

void definition_diff_append_json(const struct definition_diff *d, struct buf *json)
{
    buf_append_char(json, '[');
    for (size_t i = 0; i < d->n; i++) {
        const struct definition_change *c = &d->changes[i];

        buf_printf(json, "%s{\"action\":\"%s\",\"kind\":\"%s\",\"name\":", i > 0 ? "," : "",
                   change_name(c->change), c->kind);
        buf_append_json(json, c->name);
        if (c->index.len > 0) {
            buf_append(json, STR(",\"index\":"));
            buf_append_json(json, c->index);
        }
        buf_printf(json, ",\"needs_build\":%s", c->needs_build ? "true" : "false");
        for (size_t k = 0; k < c->n_fields; k++) {
            buf_append(json, k == 0 ? STR(",\"fields\":[") : STR(","));
            append_field(json, &c->fields[k]);
        }
        buf_append(json, c->n_fields > 0 ? STR("]}") : STR("}"));
    }
    buf_append_char(json, ']');
}

static void append_value(struct buf *b, struct str json)
{
    if (json.len == 0)
        buf_append(b, STR("(not given)"));
    else
        buf_append(b, json);
}

static void append_build_hint(struct buf *b, const struct definition_change *c)
{
    if (!c->needs_build)
        return;
    if (strcmp(c->kind, form_table.noun) == 0) {
        buf_append(b, STR("    takes effect with: millrace index create "));
        buf_append_word(b, c->name);
        buf_append_char(b, '\n');
    } else {
        buf_printf(b, "    takes effect with new indexes of its tables\n");
    }
}

void definition_diff_append_text(const struct definition_diff *d, struct buf *text)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct definition_change *c = &d->changes[i];

        buf_printf(text, "%s %s %" STR_FMT "\n", change_name(c->change), c->kind,
                   STR_ARG(c->name));
        for (size_t k = 0; k < c->n_fields; k++) {
            buf_printf(text, "    %" STR_FMT ": ", STR_ARG(c->fields[k].path));
            append_value(text, c->fields[k].before);
            buf_append(text, STR(" -> "));
            append_value(text, c->fields[k].after);
            buf_append_char(text, '\n');
        }
        append_build_hint(text, c);
    }
}
