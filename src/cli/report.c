#include "config.h"

#include "src/cli/report.h"

#include "src/base/buf.h"
#include "src/format/json.h"

#include <stdio.h>
#include <string.h>

static bool is_json;
static struct buf kept; /* a JSON list; empty: none */

static const char *value_of_output(const char *word, const char *next)
{
    if (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0)
        return next;
    if (strncmp(word, "-o", 2) == 0)
        return word + 2;
    return strncmp(word, "--output=", 9) == 0 ? word + 9 : NULL;
}

void report_choose_form(int argc, const char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *form = value_of_output(argv[i], i + 1 < argc ? argv[i + 1] : NULL);

        if (form != NULL)
            is_json = strcmp(form, "json") == 0;
    }
}

bool report_is_json(void)
{
    return is_json;
}

void report_keep(struct str problems)
{
    buf_clear(&kept);
    buf_append(&kept, problems);
}

static void append_json(const struct report *r, struct buf *out)
{
    struct json_writer w = {.out = out};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/error/1");
    json_put_cstr(&w, STR("kind"), err_kind_name(r->kind));
    json_put_i64(&w, STR("exit"), r->exit);
    json_put_string(&w, STR("message"), r->message);
    if (r->fix.len > 0)
        json_put_string(&w, STR("fix"), r->fix);
    if (kept.len > 0)
        json_put_raw(&w, STR("errors"), buf_str(&kept));
    json_close_object(&w);
    buf_append_char(out, '\n');
}

static void append_text(const struct report *r, struct buf *out)
{
    buf_printf(out, "millrace: %" STR_FMT "\n", STR_ARG(r->message));
    if (r->fix.len > 0)
        buf_printf(out, "  fix: %" STR_FMT "\n", STR_ARG(r->fix));
}

int report_error(const struct report *r)
{
    struct buf out = {0};

    if (is_json)
        append_json(r, &out);
    else
        append_text(r, &out);
    fwrite(out.ptr, 1, out.len, stderr);
    buf_free(&out);
    buf_free(&kept);
    return r->exit;
}
