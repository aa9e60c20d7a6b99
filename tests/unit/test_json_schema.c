/*
 * docs/millrace.schema.json and docs/definition.schema.json follow from the tables that the
 * program reads by.  With UPDATE_DOCS=1 (make update-docs) they are written, else compared.
 * tests/lint/schema.sh checks files with them.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/config/setting.h"
#include "sync/definition/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "\\\\$\\\\{[A-Za-z_]"
#define TEXT     "\"type\":[\"string\",\"number\",\"boolean\"]"
#define ANY(what, pattern) \
    "\"anyOf\":[{" what "},{\"type\":\"string\",\"pattern\":\"" pattern "|" VARIABLE "\"}]"

static void assert_generated(const char *name, const struct buf *text)
{
    const char *top = getenv("top_srcdir");
    struct buf path = {0}, old = {0};
    char part[4096];

    buf_printf(&path, "%s/docs/%s", top == NULL ? "." : top, name);

    FILE *f = fopen(path.ptr, getenv("UPDATE_DOCS") != NULL ? "w+b" : "rb");

    if (f == NULL)
        fail_msg("%s cannot be opened", path.ptr);
    if (getenv("UPDATE_DOCS") != NULL)
        assert_int_equal(fwrite(text->ptr, 1, text->len, f), text->len);
    rewind(f);
    for (size_t n; (n = fread(part, 1, sizeof(part), f)) > 0;)
        buf_append(&old, (struct str){part, n});
    fclose(f);
    if (!str_equal(buf_str(&old), buf_str(text)))
        fail_msg("docs/%s is stale: make update-docs", name);
    buf_free(&path);
    buf_free(&old);
}

static void append_head(struct buf *b, const char *title)
{
    buf_printf(b,
               "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\n"
               "\"title\":\"%s\",\n\"type\":\"object\",\"additionalProperties\":false,\n"
               "\"properties\":{",
               title);
}

static void append_described(struct buf *b, const char *name, const char *help)
{
    buf_append_json(b, str_from(name));
    buf_append(b, STR(":{\"description\":"));
    buf_append_json(b, str_from(help));
    buf_append_char(b, ',');
}

/* ---- configuration ---- */

static void append_choices(struct buf *b, const char *choices)
{
    buf_append(b, STR("\"anyOf\":[{\"enum\":["));
    for (const char *at = choices; *at != '\0';) {
        const size_t n = strcspn(at, " ");

        if (at != choices)
            buf_append_char(b, ',');
        buf_append_json(b, (struct str){at, n});
        at += n + (at[n] == ' ');
    }
    buf_append(b, STR("]},{\"type\":\"string\",\"pattern\":\"" VARIABLE "\"}]"));
}

static void append_number(struct buf *b, const struct setting *s, const char *pattern)
{
    buf_append(b, STR("\"anyOf\":[{\"type\":\"integer\""));
    if (s->max != 0)
        buf_printf(b, ",\"minimum\":%lld,\"maximum\":%lld", (long long)s->min,
                   (long long)s->max);
    buf_printf(b, "},{\"type\":\"string\",\"pattern\":\"%s|" VARIABLE "\"}]", pattern);
}

static void append_kind(struct buf *b, const struct setting *s)
{
    static const char *const patterns[] = {
        [SETTING_TEXT] = TEXT,
        [SETTING_PATH] = TEXT,
        [SETTING_LIST] =
            "\"anyOf\":[{" TEXT "},{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,"
            "\"items\":{" TEXT "}}]",
        [SETTING_BOOL] = ANY("\"type\":\"boolean\"", "^(true|false)$"),
        [SETTING_DURATION] =
            "\"type\":\"string\",\"pattern\":\"^[0-9]+(ms|s|m|h)$|" VARIABLE "\"",
        [SETTING_DURATION_OR_NEVER] =
            "\"type\":\"string\",\"pattern\":\"^(never|[0-9]+(ms|s|m|h))$|" VARIABLE "\"",
    };

    if (s->kind == SETTING_CHOICE)
        append_choices(b, s->choices);
    else if (s->kind == SETTING_COUNT)
        append_number(b, s, "^[0-9]+$");
    else if (s->kind == SETTING_COUNT_OR_AUTO)
        append_number(b, s, "^(auto|[0-9]+)$");
    else if (s->kind == SETTING_SIZE)
        append_number(b, s, "^[0-9]+(B|KiB|MiB|GiB)?$");
    else
        buf_append(b, str_from(patterns[s->kind]));
}

static bool is_first_of_section(size_t i, size_t len)
{
    for (size_t k = 0; k < i; k++)
        if (strncmp(settings[k].name, settings[i].name, len + 1) == 0)
            return false;
    return true;
}

static void append_setting(struct buf *b, const struct setting *s, const char *name)
{
    append_described(b, name, s->help);
    append_kind(b, s);
    buf_append_char(b, '}');
}

/* The settings of a section follow one another in the schema, not always in the table. */
static void append_section(struct buf *b, size_t i, size_t len)
{
    bool first = true;

    buf_append_json(b, (struct str){settings[i].name, len});
    buf_append(b, STR(":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"));
    for (size_t k = i; k < n_settings; k++)
        if (strncmp(settings[k].name, settings[i].name, len + 1) == 0) {
            buf_append(b, first ? STR("\n  ") : STR(",\n  "));
            append_setting(b, &settings[k], settings[k].name + len + 1);
            first = false;
        }
    buf_append(b, STR("}}"));
}

static void the_schema_of_the_configuration_is_in_docs(void **state)
{
    struct buf b = {0};
    bool first = true;

    (void)state;
    append_head(&b, "The configuration of Millrace");
    for (size_t i = 0; i < n_settings; i++) {
        const char *dot = strchr(settings[i].name, '.');
        const size_t len = dot == NULL ? 0 : (size_t)(dot - settings[i].name);

        if (dot != NULL && !is_first_of_section(i, len))
            continue;
        buf_append(&b, first ? STR("\n") : STR(",\n"));
        first = false;
        if (dot == NULL)
            append_setting(&b, &settings[i], settings[i].name);
        else
            append_section(&b, i, len);
    }
    buf_append(&b, STR("}}\n"));
    assert_generated("millrace.schema.json", &b);
    buf_free(&b);
}

/* ---- definitions ---- */

static void append_object(struct buf *b, const struct form_field *f)
{
    buf_printf(b, "\"$ref\":\"#/$defs/%s\"", f->object->noun);
}

static void append_list(struct buf *b, const struct form_field *f)
{
    buf_append(b, STR("\"type\":\"array\",\"items\":{"));
    if (f->type == FORM_COLUMNS)
        buf_append(b, STR("\"anyOf\":[{" TEXT "},{"));
    append_object(b, f);
    buf_append(b, f->type == FORM_COLUMNS ? STR("}]}") : STR("}"));
}

/* `zero_date: null` is a choice, which YAML reads as nothing. */
static void append_form_choices(struct buf *b, const struct form_field *f)
{
    struct buf words = {0};

    for (size_t i = 0; f->choices[i] != NULL; i++)
        buf_printf(&words, "%s%s", i > 0 ? " " : "", f->choices[i]);
    if (strcmp(f->choices[0], "null") == 0)
        buf_append(b, STR("\"anyOf\":[{\"type\":\"null\"},{"));
    append_choices(b, words.ptr);
    if (strcmp(f->choices[0], "null") == 0)
        buf_append(b, STR("}]"));
    buf_free(&words);
}

static void append_type(struct buf *b, const struct form_field *f)
{
#define TEXTS "\"anyOf\":[{" TEXT "},{\"type\":\"array\",\"items\":{" TEXT "}}]"
    switch (f->type) {
    case FORM_TEXT: buf_append(b, STR(TEXT)); break;
    case FORM_TEXTS: buf_append(b, STR(TEXTS)); break;
    case FORM_TEXT_LISTS: buf_append(b, STR("\"type\":\"array\",\"items\":{" TEXTS "}")); break;
    case FORM_BOOL: buf_append(b, STR(ANY("\"type\":\"boolean\"", "^" VARIABLE))); break;
    case FORM_COUNT:
        buf_append(b, STR(ANY("\"type\":\"integer\",\"minimum\":1,\"maximum\":4294967295",
                              "^" VARIABLE)));
        break;
    case FORM_DURATION:
        buf_append(b, STR("\"type\":\"string\",\"pattern\":\"^[0-9]+[smhd]$|" VARIABLE "\""));
        break;
    case FORM_CHOICE: append_form_choices(b, f); break;
    case FORM_JSON:
        buf_append(b, STR("\"type\":[\"string\",\"number\",\"boolean\",\"null\","
                          "\"array\",\"object\"]"));
        break;
    case FORM_JSON_MAP: buf_append(b, STR("\"type\":\"object\"")); break;
    case FORM_OBJECT: append_object(b, f); break;
    case FORM_OBJECTS:
    case FORM_COLUMNS:
    case FORM_JSON_OBJECTS: append_list(b, f); break;
    }
}

static void append_required(struct buf *b, const struct form *form)
{
    bool any = false;

    for (size_t i = 0; i < form->n_fields; i++)
        if ((form->fields[i].flags & FORM_REQUIRED) != 0) {
            buf_printf(b, "%s\"%s\"", any ? "," : ",\n  \"required\":[", form->fields[i].name);
            any = true;
        }
    buf_append(b, any ? STR("]") : STR(""));
}

static void append_form(struct buf *b, const struct form *form)
{
    buf_printf(b, "\"%s\":{\"type\":\"object\",\"additionalProperties\":%s,\"properties\":{",
               form->noun, form->open ? "true" : "false");
    for (size_t i = 0; i < form->n_fields; i++) {
        buf_append(b, i > 0 ? STR(",\n  ") : STR("\n  "));
        append_described(b, form->fields[i].name, form->fields[i].help);
        append_type(b, &form->fields[i]);
        buf_append_char(b, '}');
    }
    buf_append_char(b, '}');
    append_required(b, form);
    buf_append_char(b, '}');
}

static void the_schema_of_definitions_is_in_docs(void **state)
{
    static const char *const nouns[] = {"topic", "database", "table"};
    struct buf b = {0};

    (void)state;
    append_head(&b, "A definition file of Millrace");
    for (size_t i = 0; i < ARRAY_LEN(nouns); i++)
        buf_printf(&b,
                   "%s\n\"%ss\":{\"type\":[\"array\",\"null\"],"
                   "\"items\":{\"$ref\":\"#/$defs/%s\"}}",
                   i > 0 ? "," : "", nouns[i], nouns[i]);
    buf_append(&b, STR("},\n\"$defs\":{\n"));
    for (size_t i = 0; i < n_forms; i++) {
        buf_append(&b, i > 0 ? STR(",\n") : STR(""));
        append_form(&b, forms[i]);
    }
    buf_append(&b, STR("}}\n"));
    assert_generated("definition.schema.json", &b);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_of_the_configuration_is_in_docs),
        cmocka_unit_test(the_schema_of_definitions_is_in_docs),
    };
    return cmocka_run_group_tests_name("json_schema", tests, NULL, NULL);
}
