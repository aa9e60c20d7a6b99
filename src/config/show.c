#include "config.h"

#include "src/config/configuration.h"

#include "src/base/buf.h"
#include "src/config/values.h"
#include "src/format/json.h"

#include <string.h>

static void append_shown(struct buf *out, const struct setting *s,
                         const struct setting_texts *v)
{
    if (v->n > 1)
        buf_append_char(out, '[');
    for (size_t k = 0; k < v->n; k++) {
        if (k > 0)
            buf_append(out, STR(", "));
        buf_append_json(out, s->secret ? STR("***") : str_from(v->items[k]));
    }
    if (v->n > 1)
        buf_append_char(out, ']');
    if (v->n == 0)
        buf_append(out, STR("null"));
}

/* Settings of one section stand below one "section:" line. */
void configuration_append_yaml(const struct configuration *c, bool origin, struct buf *out)
{
    struct str section = {"", 0};

    for (size_t i = 0; i < n_settings; i++) {
        const char *name = settings[i].name, *dot = strchr(name, '.');
        const struct str mine = {name, dot == NULL ? 0 : (size_t)(dot - name)};

        if (mine.len > 0 && !str_equal(mine, section))
            buf_printf(out, "%" STR_FMT ":\n", STR_ARG(mine));
        section = mine;
        buf_printf(out, "%s%s: ", mine.len > 0 ? "  " : "", mine.len > 0 ? dot + 1 : name);
        append_shown(out, &settings[i], value_texts(&c->values[i]));
        if (origin)
            buf_printf(out, "  # %s", value_origin(&c->values[i]));
        buf_append_char(out, '\n');
    }
}

void configuration_append_json(const struct configuration *c, struct buf *out)
{
    struct json_writer w = {.out = out};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/config/1");
    json_write_key(&w, STR("items"));
    json_open_array(&w);
    for (size_t i = 0; i < n_settings; i++) {
        struct buf shown = {0};

        append_shown(&shown, &settings[i], value_texts(&c->values[i]));
        json_open_object(&w);
        json_put_cstr(&w, STR("name"), settings[i].name);
        json_put_raw(&w, STR("value"), buf_str(&shown));
        json_put_cstr(&w, STR("origin"), value_origin(&c->values[i]));
        json_close_object(&w);
        buf_free(&shown);
    }
    json_close_array(&w);
    json_close_object(&w);
}
