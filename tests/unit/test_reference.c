/*
 * The reference parts of docs/definitions.md and docs/configuration.md follow from the tables
 * that the program reads by.  With UPDATE_DOCS=1 (make update-docs) they are written, else
 * compared.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/config/configuration.h"
#include "src/config/setting.h"
#include "sync/definition/expression_functions.h"
#include "sync/definition/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MARK "<!-- generated: make update-docs -->\n"
#define END_MARK   "<!-- end -->\n"

static void read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    char part[4096];

    if (f == NULL)
        fail_msg("%s cannot be read", path);
    for (size_t n; (n = fread(part, 1, sizeof(part), f)) > 0;)
        buf_append(out, (struct str){part, n});
    fclose(f);
}

static void write_file(const char *path, const struct buf *text)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text->ptr, 1, text->len, f), text->len);
    assert_int_equal(fclose(f), 0);
}

/* The generated part of docs/NAME is text; or becomes it. */
static void assert_generated(const char *name, const struct buf *text)
{
    const char *top = getenv("top_srcdir");
    struct buf path = {0}, old = {0}, new = {0};

    buf_printf(&path, "%s/docs/%s", top == NULL ? "." : top, name);
    read_file(path.ptr, &old);

    const char *begin = strstr(old.ptr, BEGIN_MARK), *end = strstr(old.ptr, END_MARK);

    if (begin == NULL || end == NULL)
        fail_msg("%s has no generated part", name);
    begin += strlen(BEGIN_MARK);
    buf_append(&new, (struct str){old.ptr, (size_t)(begin - old.ptr)});
    buf_append(&new, buf_str(text));
    buf_append(&new, str_from(end));
    if (getenv("UPDATE_DOCS") != NULL)
        write_file(path.ptr, &new);
    else if (strcmp(old.ptr, new.ptr) != 0)
        fail_msg("docs/%s is stale: make update-docs", name);
    buf_free(&path);
    buf_free(&old);
    buf_free(&new);
}

/* ---- definitions ---- */

static void append_marks(struct buf *b, const struct form_field *f)
{
    if ((f->flags & FORM_REQUIRED) != 0)
        buf_append(b, STR("*required* "));
    if ((f->flags & (FORM_REBUILD | FORM_REQUIRED | FORM_SETTINGS)) == 0)
        buf_append(b, STR("*at once* "));
    if (f->preset != NULL)
        buf_printf(b, "default `%s`. ", f->preset);
}

static void append_type(struct buf *b, const struct form_field *f)
{
    if (f->type == FORM_CHOICE) {
        for (size_t i = 0; f->choices[i] != NULL; i++)
            buf_printf(b, "%s`%s`", i > 0 ? ", " : "", f->choices[i]);
        return;
    }
    buf_append(b, str_from(form_type_name(f)));
    if (f->object != NULL)
        buf_printf(b, ": [%s](#%s)", f->object->noun, f->object->noun);
}

static void append_form(struct buf *b, const struct form *form)
{
    buf_printf(b, "\n### %s\n\n| field | | |\n|---|---|---|\n", form->noun);
    for (size_t i = 0; i < form->n_fields; i++) {
        const struct form_field *f = &form->fields[i];

        buf_printf(b, "| `%s` | ", f->name);
        append_type(b, f);
        buf_append(b, STR(" | "));
        append_marks(b, f);
        buf_printf(b, "%s |\n", f->help);
    }
}

static void append_functions(struct buf *b)
{
    buf_append(b, STR("\n### Functions of expressions\n\n| of | functions |\n|---|---|\n"));
    for (size_t i = 0; i < n_expression_functions; i++)
        buf_printf(b, "| %s | %s |\n", expression_functions[i].of,
                   expression_functions[i].names);
}

static void every_field_of_a_definition_is_in_its_reference(void **state)
{
    struct buf b = {0};

    (void)state;
    for (size_t i = 0; i < n_forms; i++)
        append_form(&b, forms[i]);
    append_functions(&b);
    buf_append_char(&b, '\n');
    assert_generated("definitions.md", &b);
    buf_free(&b);
}

/* ---- configuration ---- */

static void append_setting(struct buf *b, const struct setting *s)
{
    static const char *const types[] = {
        [SETTING_TEXT] = "text",
        [SETTING_PATH] = "path",
        [SETTING_LIST] = "text or list of texts",
        [SETTING_BOOL] = "true or false",
        [SETTING_COUNT] = "number",
        [SETTING_COUNT_OR_AUTO] = "number or auto",
        [SETTING_SIZE] = "size",
        [SETTING_DURATION] = "time",
        [SETTING_DURATION_OR_NEVER] = "time or never",
        [SETTING_CHOICE] = "one of",
    };

    buf_printf(b, "| `%s` | %s%s%s | ", s->name, types[s->kind], s->choices != NULL ? " " : "",
               s->choices != NULL ? s->choices : "");
    if (s->preset != NULL)
        buf_printf(b, "`%s`", s->preset);
    buf_printf(b, " | %s |\n", s->help);
}

static void every_setting_is_in_its_reference(void **state)
{
    struct buf b = {0};

    (void)state;
    buf_append(&b, STR("\n| setting | | default | |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < n_settings; i++)
        append_setting(&b, &settings[i]);
    buf_append_char(&b, '\n');
    assert_generated("configuration.md", &b);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_a_definition_is_in_its_reference),
        cmocka_unit_test(every_setting_is_in_its_reference),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
