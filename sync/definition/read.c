#include "config.h"

#include "sync/definition/read.h"

#include "src/base/buf.h"
#include "src/base/nearest.h"
#include "src/format/yaml.h"

#include <ctype.h>
#include <string.h>

#define DURATION_MAX_S (10u * 365 * 86400)

/* For the store, the place is the object's name. */
static struct place place_of(const struct definition_reader *r, const struct yaml_node *node)
{
    return r->stored != NULL ? (struct place){r->stored, 0, 0} : node->place;
}

#define REPORT(r, node, ...) \
    problems_add((r)->problems, SEVERITY_ERROR, place_of(r, node), __VA_ARGS__)

static void *member(void *object, size_t at)
{
    return (char *)object + at;
}

static bool is_flag(const struct form_field *f, unsigned flag)
{
    return (f->flags & flag) != 0;
}

static void wrong_type(struct definition_reader *r, const struct form_field *f,
                       const struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR && yaml_scalar_kind(node) == YAML_NULL)
        REPORT(r, node, "`%s` has no value", f->name);
    else
        REPORT(r, node, "`%s` must be a %s, this is %s", f->name, form_type_name(f),
               yaml_kind_name(node));
}

/* ---- texts ---- */

/* FOLDER/path, unless path is absolute or there is no folder. */
static struct str in_folder(struct definition_reader *r, struct str path)
{
    struct buf b = {0};
    struct str joined;

    if (r->folder.len == 0 || r->stored != NULL || path.len == 0 || path.ptr[0] == '/')
        return path;
    buf_append(&b, r->folder);
    if (b.ptr[b.len - 1] != '/')
        buf_append_char(&b, '/');
    buf_append(&b, path);
    joined = arena_copy(r->d->arena, buf_str(&b));
    buf_free(&b);
    return joined;
}

/* Read a non-empty scalar, checked by the field's rule. */
static bool read_text(struct definition_reader *r, const struct form_field *f,
                      const struct yaml_node *node, struct str *out)
{
    if (node->kind != YAML_SCALAR || yaml_scalar_kind(node) == YAML_NULL) {
        wrong_type(r, f, node);
        return false;
    }
    if (node->text.len == 0 && !is_flag(f, FORM_SECRET) &&
        (is_flag(f, FORM_REQUIRED) || f->rule != NULL)) {
        REPORT(r, node, "`%s` is empty", f->name);
        return false;
    }

    if (node->text.len == 0 && !is_flag(f, FORM_SECRET))
        return true;
    /*
     * Keep a text even if it breaks the rule, so that references to it cause no further
     * reports.
     */
    *out = is_flag(f, FORM_PATH) ? in_folder(r, node->text) : node->text;
    definitions_add_place(r->d, *out, place_of(r, node));

    const char *wrong = f->rule == NULL || node->unfilled ? NULL : f->rule(node->text);

    if (wrong != NULL)
        REPORT(r, node, "`%" STR_FMT "` %s", STR_ARG(node->text), wrong);
    return wrong == NULL;
}

static void read_preset_text(struct definition_reader *r, const struct form_field *f,
                             const struct yaml_node *node, struct str *out)
{
    if (read_text(r, f, node, out) && f->preset != NULL && str_equal(*out, str_from(f->preset)))
        *out = (struct str){NULL, 0};
}

/* Read one text or a list.  Returns the count. */
static size_t read_texts(struct definition_reader *r, const struct form_field *f,
                         const struct yaml_node *node, struct str **out)
{
    size_t n = 0;

    if (node->kind == YAML_SCALAR) {
        *out = arena_alloc(r->d->arena, 2, sizeof(**out));
        return read_text(r, f, node, &(*out)[0]) && (*out)[0].len > 0 ? 1 : 0;
    }
    if (node->kind == YAML_MAP) {
        wrong_type(r, f, node);
        return 0;
    }
    if (node->n == 0 && is_flag(f, FORM_REQUIRED))
        REPORT(r, node, "`%s` is empty", f->name);
    *out = arena_alloc(r->d->arena, node->n + 1, sizeof(**out));
    for (size_t i = 0; i < node->n; i++) {
        struct str *text = &(*out)[n];

        if (!read_text(r, f, node->items[i], text) || text->len == 0)
            continue;
        for (size_t k = 0; k < n; k++)
            if (str_equal((*out)[k], *text))
                REPORT(r, node->items[i], "`%" STR_FMT "` is listed twice", STR_ARG(*text));
        n++;
    }
    return n;
}

static void read_text_lists(struct definition_reader *r, const struct form_field *f,
                            const struct yaml_node *node, void *object)
{
    if (node->kind != YAML_LIST) {
        wrong_type(r, f, node);
        return;
    }

    struct str **lists = arena_alloc(r->d->arena, node->n + 1, sizeof(*lists));

    for (size_t i = 0; i < node->n; i++)
        read_texts(r, f, node->items[i], &lists[i]);
    *(struct str ***)member(object, f->at) = lists;
    *(size_t *)member(object, f->count_at) = node->n;
}

/* ---- other scalars ---- */

/* Quotes around a variable say nothing of its type: `{server_id: '${ID}'}` needs them. */
static enum yaml_scalar_kind kind_of(const struct yaml_node *node)
{
    struct yaml_node plain = *node;

    plain.quoted = node->quoted && !node->filled;
    return yaml_scalar_kind(&plain);
}

static void read_bool(struct definition_reader *r, const struct form_field *f,
                      const struct yaml_node *node, void *object)
{
    enum yaml_scalar_kind kind = node->kind == YAML_SCALAR ? kind_of(node) : YAML_TEXT;

    if (node->kind != YAML_SCALAR || (kind != YAML_TRUE && kind != YAML_FALSE)) {
        REPORT(r, node, "`%s` is true or false, this is %s", f->name, yaml_kind_name(node));
        return;
    }
    *(bool *)member(object, f->at) = kind == YAML_TRUE;
}

/* Parse a decimal number.  Returns UINT64_MAX on failure. */
static uint64_t number_of(struct str s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!isdigit((unsigned char)s.ptr[i]) || n > UINT32_MAX)
            return UINT64_MAX;
        n = n * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    return s.len == 0 ? UINT64_MAX : n;
}

static void read_count(struct definition_reader *r, const struct form_field *f,
                       const struct yaml_node *node, void *object)
{
    uint64_t n = node->kind == YAML_SCALAR && kind_of(node) == YAML_NUMBER
                     ? number_of(node->text)
                     : UINT64_MAX;

    if (n == 0 || n > UINT32_MAX)
        REPORT(r, node, "`%s` must be a whole number from 1 to %u", f->name, UINT32_MAX);
    else
        *(uint32_t *)member(object, f->at) = (uint32_t)n;
}

/* Parse "1h" to seconds.  Returns false if it is no duration or exceeds 10 years. */
static bool parse_duration(struct str text, uint32_t *seconds)
{
    static const struct {
        char unit;
        uint32_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};

    if (text.len < 2)
        return false;

    uint64_t n = number_of((struct str){text.ptr, text.len - 1});

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (text.ptr[text.len - 1] == units[i].unit && n <= DURATION_MAX_S / units[i].seconds) {
            *seconds = (uint32_t)n * units[i].seconds;
            return true;
        }
    return false;
}

static void read_duration(struct definition_reader *r, const struct form_field *f,
                          const struct yaml_node *node, void *object)
{
    uint32_t *seconds = member(object, f->at);

    if (node->kind != YAML_SCALAR || !parse_duration(node->text, seconds))
        REPORT(r, node, "`%s` must be a duration: 60s, 5m, 2h or 1d", f->name);
    else if (*seconds == 0)
        REPORT(r, node, "`%s` must be more than 0s", f->name);
}

static void read_choice(struct definition_reader *r, const struct form_field *f,
                        const struct yaml_node *node, void *object)
{
    struct nearest near = nearest_to(node->text);

    for (size_t i = 0; node->kind == YAML_SCALAR && f->choices[i] != NULL; i++) {
        nearest_offer(&near, str_from(f->choices[i]));
        if (!str_equal(node->text, str_from(f->choices[i])))
            continue;
        *(int *)member(object, f->at) =
            (int)i; /* an enum counts from 0 in the order of choices */
        return;
    }

    struct buf words = {0};

    for (size_t i = 0; f->choices[i] != NULL; i++)
        buf_printf(&words, "%s%s",
                   i == 0                      ? ""
                   : f->choices[i + 1] == NULL ? " or "
                                               : ", ",
                   f->choices[i]);
    REPORT(r, node, "`%s` must be %s%s%" STR_FMT "%s", f->name, words.ptr,
           near.best.len > 0 ? "; did you mean `" : "", STR_ARG(near.best),
           near.best.len > 0 ? "`?" : "");
    buf_free(&words);
}

/* ---- parts ---- */

static void read_json(struct definition_reader *r, const struct form_field *f,
                      const struct yaml_node *node, void *object)
{
    struct buf json = {0};
    struct str *out = member(object, f->at);

    if (f->type == FORM_JSON_MAP && node->kind != YAML_MAP) {
        wrong_type(r, f, node);
        return;
    }
    if (f->type == FORM_JSON_MAP && node->n == 0)
        return;
    yaml_append_json(&json, node, true);
    *out = arena_copy(r->d->arena, buf_str(&json));
    definitions_add_place(r->d, *out, place_of(r, node));
    buf_free(&json);
}

/* Read each element into scratch memory for the checks; keep the whole as JSON. */
static void read_json_objects(struct definition_reader *r, const struct form_field *f,
                              const struct yaml_node *node, void *object)
{
    if (node->kind != YAML_LIST) {
        wrong_type(r, f, node);
        return;
    }
    for (size_t i = 0; i < node->n; i++)
        definition_read_object(r, f->object, node->items[i],
                               arena_alloc(r->d->arena, 1, f->object->size));
    read_json(r, f, node, object);
}

/* `columns: [id]` is short for `columns: [{name: id}]`. */
static void read_column_name(struct definition_reader *r, const struct form_field *f,
                             const struct yaml_node *node, void *object)
{
    const struct form_field *name = form_find(f->object, STR("name"));

    *(struct place *)member(object, f->object->place_at) = place_of(r, node);
    read_text(r, name, node, member(object, name->at));
}

static void read_objects(struct definition_reader *r, const struct form_field *f,
                         const struct yaml_node *node, void *object)
{
    if (node->kind != YAML_LIST) {
        wrong_type(r, f, node);
        return;
    }

    char *objects = arena_alloc(r->d->arena, node->n + 1, f->object->size);

    for (size_t i = 0; i < node->n; i++) {
        const struct yaml_node *item = node->items[i];
        void *one = objects + i * f->object->size;

        if (f->type == FORM_COLUMNS && item->kind == YAML_SCALAR)
            read_column_name(r, f, item, one);
        else
            definition_read_object(r, f->object, item, one);
    }
    *(void **)member(object, f->at) = objects;
    *(size_t *)member(object, f->count_at) = node->n;
    if (f->type == FORM_COLUMNS)
        *(bool *)member(object, f->given_at) = false;
}

static void read_field(struct definition_reader *r, const struct form_field *f,
                       const struct yaml_node *node, void *object)
{
    const bool is_text = f->type == FORM_TEXT || f->type == FORM_TEXTS;

    if (node->unfilled && !is_text)
        return; /* a variable is missing, which was reported */
    switch (f->type) {
    case FORM_TEXT: read_preset_text(r, f, node, member(object, f->at)); break;
    case FORM_TEXTS:
        *(size_t *)member(object, f->count_at) = read_texts(r, f, node, member(object, f->at));
        break;
    case FORM_TEXT_LISTS: read_text_lists(r, f, node, object); break;
    case FORM_BOOL: read_bool(r, f, node, object); break;
    case FORM_COUNT: read_count(r, f, node, object); break;
    case FORM_DURATION: read_duration(r, f, node, object); break;
    case FORM_CHOICE: read_choice(r, f, node, object); break;
    case FORM_JSON:
    case FORM_JSON_MAP: read_json(r, f, node, object); break;
    case FORM_OBJECT: definition_read_object(r, f->object, node, member(object, f->at)); break;
    case FORM_OBJECTS:
    case FORM_COLUMNS: read_objects(r, f, node, object); break;
    case FORM_JSON_OBJECTS: read_json_objects(r, f, node, object); break;
    }
    if (f->given_at != 0 && f->type != FORM_COLUMNS)
        *(bool *)member(object, f->given_at) = true;
}

static void unknown_field(struct definition_reader *r, const struct form *form,
                          const struct yaml_node *name)
{
    struct nearest near = nearest_to(name->text);

    for (size_t i = 0; i < form->n_fields; i++)
        nearest_offer(&near, str_from(form->fields[i].name));
    REPORT(r, name, "`%s` has no field `%" STR_FMT "`%s%" STR_FMT "%s", form->noun,
           STR_ARG(name->text), near.best.len > 0 ? "; did you mean `" : "", STR_ARG(near.best),
           near.best.len > 0 ? "`?" : "");
}

/* Set what absent fields mean. */
static void presume(const struct form *form, void *object)
{
    for (size_t i = 0; i < form->n_fields; i++) {
        const struct form_field *f = &form->fields[i];

        if (f->type == FORM_COLUMNS)
            *(bool *)member(object, f->given_at) = true;
        if (f->type == FORM_BOOL)
            *(bool *)member(object, f->at) =
                f->preset != NULL && strcmp(f->preset, "true") == 0;
    }
}

void definition_read_object(struct definition_reader *r, const struct form *form,
                            const struct yaml_node *node, void *object)
{
    uint64_t seen = 0;

    if (node->kind != YAML_MAP) {
        REPORT(r, node, "a `%s` is a map of fields, this is %s", form->noun,
               yaml_kind_name(node));
        return;
    }
    if (form->place_at != FORM_NONE)
        *(struct place *)member(object, form->place_at) = place_of(r, node);
    presume(form, object);
    for (size_t i = 0; i < node->n; i++) {
        const struct form_field *f = form_find(form, node->names[i]->text);

        if (f == NULL && !form->open)
            unknown_field(r, form, node->names[i]);
        if (f == NULL)
            continue;
        seen |= UINT64_C(1) << (f - form->fields);
        read_field(r, f, node->items[i], object);
    }
    for (size_t i = 0; i < form->n_fields; i++)
        if (is_flag(&form->fields[i], FORM_REQUIRED) && (seen & UINT64_C(1) << i) == 0)
            REPORT(r, node, "`%s` needs `%s`", form->noun, form->fields[i].name);
    if (form->settle != NULL)
        form->settle(object);
}
