#include "config.h"

#include "sync/definition/export.h"

#include "src/base/buf.h"
#include "src/format/variable.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"
#include "src/store/store.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const void *member(const void *object, size_t at)
{
    return (const char *)object + at;
}

static size_t count_of(const struct form_field *f, const void *object)
{
    return *(const size_t *)member(object, f->count_at);
}

static struct yaml_node *text_tree(struct arena *a, const struct form_field *f, struct str text,
                                   enum secrets secrets)
{
    if (text.len == 0)
        return NULL;
    if ((f->flags & FORM_SECRET) != 0 && secrets == SECRETS_HIDDEN)
        text = STR(DEFINITION_HIDDEN);
    return yaml_new_text(a, text);
}

static struct yaml_node *texts_tree(struct arena *a, const struct form_field *f,
                                    const struct str *texts, size_t n)
{
    struct yaml_node *list;

    if (n == 0)
        return NULL;
    if (n == 1 && (f->flags & FORM_LIST) == 0)
        return yaml_new_text(a, texts[0]);
    list = yaml_new(a, YAML_LIST);
    for (size_t i = 0; i < n; i++)
        yaml_push(a, list, yaml_new_text(a, texts[i]));
    return list;
}

static struct yaml_node *text_lists_tree(struct arena *a, const struct form_field *f,
                                         const void *object)
{
    struct str **lists = *(struct str ***)(uintptr_t)member(object, f->at);
    struct yaml_node *outer = yaml_new(a, YAML_LIST);

    for (size_t i = 0; i < count_of(f, object); i++) {
        struct yaml_node *inner = yaml_new(a, YAML_LIST);

        for (size_t k = 0; lists[i][k].len > 0; k++)
            yaml_push(a, inner, yaml_new_text(a, lists[i][k]));
        yaml_push(a, outer, inner);
    }
    return outer->n == 0 ? NULL : outer;
}

static struct yaml_node *number_tree(struct arena *a, uint32_t n, const char *unit)
{
    char text[24];

    if (n == 0)
        return NULL;
    snprintf(text, sizeof(text), "%u%s", n, unit);
    return yaml_new_plain(a, str_from(text));
}

static struct yaml_node *bool_tree(struct arena *a, const struct form_field *f,
                                   const void *object)
{
    const char *text = *(const bool *)member(object, f->at) ? "true" : "false";

    return strcmp(text, f->preset) == 0 ? NULL : yaml_new_plain(a, str_from(text));
}

static struct yaml_node *choice_tree(struct arena *a, const struct form_field *f,
                                     const void *object)
{
    const char *choice = f->choices[*(const int *)member(object, f->at)];

    return strcmp(choice, f->preset) == 0 ? NULL : yaml_new_text(a, str_from(choice));
}

static struct yaml_node *json_tree(struct arena *a, struct str json)
{
    struct problems *problems = problems_new();
    struct yaml_node *tree = json.len == 0 ? NULL : yaml_read(a, "json", json, problems);

    /* definition_read made this text from a tree. */
    assert(json.len == 0 || tree != NULL);
    problems_free(problems);
    return tree;
}

/* A column with only a name exports as the bare name. */
static bool is_bare_name(const struct yaml_node *column)
{
    return column->n == 1 && str_equal(column->names[0]->text, STR("name"));
}

static struct yaml_node *objects_tree(struct arena *a, const struct form_field *f,
                                      const void *object, enum secrets secrets)
{
    const char *objects = *(const char *const *)member(object, f->at);
    struct yaml_node *list = yaml_new(a, YAML_LIST);

    if (f->type == FORM_COLUMNS && *(const bool *)member(object, f->given_at))
        return NULL;
    for (size_t i = 0; i < count_of(f, object); i++) {
        struct yaml_node *one =
            definition_tree(a, f->object, objects + i * f->object->size, secrets);

        yaml_push(a, list, f->type == FORM_COLUMNS && is_bare_name(one) ? one->items[0] : one);
    }
    return list->n == 0 && f->type != FORM_COLUMNS ? NULL : list;
}

/* Returns NULL if not given or equal to the default. */
static struct yaml_node *field_tree(struct arena *a, const struct form_field *f,
                                    const void *object, enum secrets secrets)
{
    const void *at = member(object, f->at);

    switch (f->type) {
    case FORM_TEXT: return text_tree(a, f, *(const struct str *)at, secrets);
    case FORM_TEXTS: return texts_tree(a, f, *(struct str *const *)at, count_of(f, object));
    case FORM_TEXT_LISTS: return text_lists_tree(a, f, object);
    case FORM_BOOL: return bool_tree(a, f, object);
    case FORM_COUNT: return number_tree(a, *(const uint32_t *)at, "");
    case FORM_DURATION: return number_tree(a, *(const uint32_t *)at, "s");
    case FORM_CHOICE: return choice_tree(a, f, object);
    case FORM_JSON:
    case FORM_JSON_MAP:
    case FORM_JSON_OBJECTS: return json_tree(a, *(const struct str *)at);
    case FORM_OBJECT:
        return *(const bool *)member(object, f->given_at)
                   ? definition_tree(a, f->object, at, secrets)
                   : NULL;
    case FORM_OBJECTS:
    case FORM_COLUMNS: return objects_tree(a, f, object, secrets);
    }
    return NULL;
}

struct yaml_node *definition_tree(struct arena *a, const struct form *form, const void *object,
                                  enum secrets secrets)
{
    struct yaml_node *map = yaml_new(a, YAML_MAP);

    for (size_t i = 0; i < form->n_fields; i++) {
        struct yaml_node *value = field_tree(a, &form->fields[i], object, secrets);

        if (value != NULL)
            yaml_push_pair(a, map, yaml_new_text(a, str_from(form->fields[i].name)), value);
    }
    return map;
}

static void append_json(const struct form *form, const void *object, enum secrets secrets,
                        struct buf *json)
{
    struct arena *a = arena_new();

    yaml_append_json(json, definition_tree(a, form, object, secrets), false);
    arena_free(a);
}

void server_hide_files(struct server_definition *server)
{
    server->password_file = server->password_env = STR("");
    server->server_public_key_file = STR("");
    server->tls.ca_file = server->tls.cert_file = server->tls.key_file = STR("");
}

void definitions_hide_files(struct definitions *out, const struct definitions *d,
                            struct arena *a)
{
    *out = *d;
    out->topics = arena_alloc(a, d->n_topics + 1, sizeof(*out->topics));
    out->databases = arena_alloc(a, d->n_databases + 1, sizeof(*out->databases));
    for (size_t i = 0; i < d->n_topics; i++) {
        out->topics[i] = d->topics[i];
        server_hide_files(&out->topics[i].server);
    }
    for (size_t i = 0; i < d->n_databases; i++) {
        out->databases[i] = d->databases[i];
        server_hide_files(&out->databases[i].server);
    }
}

void topic_append_json(const struct topic_definition *t, struct buf *json)
{
    append_json(&form_topic, t, SECRETS_HIDDEN, json);
}

void database_append_json(const struct database_definition *db, struct buf *json)
{
    append_json(&form_database, db, SECRETS_HIDDEN, json);
}

void table_append_json(const struct table_definition *t, struct buf *json)
{
    append_json(&form_table, t, SECRETS_HIDDEN, json);
}

void definition_append_stored(const struct form *form, const void *object, struct buf *json)
{
    append_json(form, object, SECRETS_SHOWN, json);
}

static struct stored_definition to_store(struct arena *a, const struct form *form,
                                         struct str name, const void *object)
{
    struct buf json = {0};
    struct stored_definition s = {.kind = str_from(form->noun), .name = arena_copy(a, name)};

    append_json(form, object, SECRETS_SHOWN, &json);
    s.body = arena_copy(a, buf_str(&json));
    buf_free(&json);
    return s;
}

void definitions_to_store(const struct definitions *d, struct arena *a,
                          struct stored_definition **out, size_t *n)
{
    size_t k = 0;
    struct stored_definition *all =
        arena_alloc(a, d->n_topics + d->n_databases + d->n_tables + 1, sizeof(*all));

    for (size_t i = 0; i < d->n_topics; i++)
        all[k++] = to_store(a, &form_topic, d->topics[i].name, &d->topics[i]);
    for (size_t i = 0; i < d->n_databases; i++)
        all[k++] = to_store(a, &form_database, d->databases[i].name, &d->databases[i]);
    for (size_t i = 0; i < d->n_tables; i++)
        all[k++] = to_store(a, &form_table, table_name(&d->tables[i]), &d->tables[i]);
    *out = all;
    *n = k;
}

static void push_section(struct arena *a, struct yaml_node *file, const char *name,
                         struct yaml_node *list)
{
    if (list->n > 0)
        yaml_push_pair(a, file, yaml_new_text(a, str_from(name)), list);
}

void definitions_append_yaml(const struct definitions *d, struct buf *yaml)
{
    struct arena *a = arena_new();
    struct yaml_node *file = yaml_new(a, YAML_MAP);
    struct yaml_node *topics = yaml_new(a, YAML_LIST), *databases = yaml_new(a, YAML_LIST);
    struct yaml_node *tables = yaml_new(a, YAML_LIST);

    for (size_t i = 0; i < d->n_topics; i++)
        yaml_push(a, topics, definition_tree(a, &form_topic, &d->topics[i], SECRETS_HIDDEN));
    for (size_t i = 0; i < d->n_databases; i++)
        yaml_push(a, databases,
                  definition_tree(a, &form_database, &d->databases[i], SECRETS_HIDDEN));
    for (size_t i = 0; i < d->n_tables; i++)
        yaml_push(a, tables, definition_tree(a, &form_table, &d->tables[i], SECRETS_HIDDEN));
    push_section(a, file, "topics", topics);
    push_section(a, file, "databases", databases);
    push_section(a, file, "tables", tables);
    variables_escape(a, file);
    yaml_append_yaml(yaml, file);
    arena_free(a);
}
