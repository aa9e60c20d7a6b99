#include "config.h"

#include "src/config/configuration.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/config/values.h"
#include "src/format/json.h"

#include <string.h>

/* All run-time settings are in this section; users may leave it out of names. */
#define SECTION "delivery."

static const char *short_name(size_t i)
{
    return settings[i].name + strlen(SECTION);
}

/* The first setting from i on that changes at run time; n_settings if no more do. */
static size_t next(size_t i)
{
    while (i < n_settings && settings[i].changes != CHANGES_AT_RUN_TIME)
        i++;
    return i;
}

/* Find a setting that changes at run time; n_settings if there is none of this name. */
static size_t find(struct str name)
{
    size_t i = next(0);

    while (i < n_settings && !str_equal(name, str_from(settings[i].name)) &&
           !str_equal(name, str_from(short_name(i))))
        i = next(i + 1);
    return i;
}

static void choose(struct configuration *c, size_t i, struct setting_texts texts)
{
    c->values[i].chosen = texts;
    configuration_changed(c, i);
}

static struct setting_texts copy_texts(struct arena *a, const struct setting_texts *texts)
{
    const char **items = arena_alloc(a, texts->n + 1, sizeof(*items));

    for (size_t k = 0; k < texts->n; k++)
        items[k] = arena_copy(a, str_from(texts->items[k])).ptr;
    return (struct setting_texts){items, texts->n};
}

static void configure_as(struct configuration *c, size_t i, const struct configuration *from)
{
    c->values[i].configured = copy_texts(c->arena, &from->values[i].configured);
    c->values[i].origin = arena_copy(c->arena, str_from(from->values[i].origin)).ptr;
    configuration_changed(c, i);
}

struct configuration *configuration_copy(const struct configuration *from)
{
    struct configuration *c = configuration_new();

    for (size_t i = 0; i < n_settings; i++) {
        configure_as(c, i, from);
        choose(c, i, copy_texts(c->arena, &from->values[i].chosen));
    }
    return c;
}

void configuration_take_configured(struct configuration *c, const struct configuration *from)
{
    for (size_t i = next(0); i < n_settings; i = next(i + 1))
        configure_as(c, i, from);
}

void configuration_reset(struct configuration *c)
{
    for (size_t i = next(0); i < n_settings; i = next(i + 1))
        choose(c, i, (struct setting_texts){0});
}

static bool refuse_unknown(struct str name, struct err *err)
{
    struct buf full = {0};
    struct str near;

    if (memchr(name.ptr, '.', name.len) == NULL)
        buf_append(&full, STR(SECTION));
    buf_append(&full, name);
    near = setting_nearest(buf_str(&full));
    buf_free(&full);
    if (find(near) < n_settings)
        return err_set(err, ERR_REJECT,
                       "unknown delivery setting `%" STR_FMT "`; fix: did you mean "
                       "`%s`?",
                       STR_ARG(name), short_name(find(near)));
    return err_set(err, ERR_REJECT,
                   "unknown delivery setting `%" STR_FMT "`; fix: `millrace config delivery "
                   "get` lists them",
                   STR_ARG(name));
}

bool configuration_choose(struct configuration *c, struct str name, struct str text,
                          struct err *err)
{
    const size_t i = find(name);

    if (i == n_settings)
        return refuse_unknown(name, err);
    if (text.ptr != NULL && !setting_check(&settings[i], text, err))
        return false;

    const char *item = text.ptr == NULL ? NULL : arena_copy(c->arena, text).ptr;

    choose(c, i, copy_texts(c->arena, &(struct setting_texts){&item, item != NULL}));
    return true;
}

/* ---- texts ---- */

static const char *text_of(const struct configuration *c, size_t i)
{
    return value_texts(&c->values[i])->items[0];
}

/* The same value from another origin is a change too. */
static bool differs(const struct configuration *c, const struct configuration *before, size_t i)
{
    return !configuration_is_same(c, before, i) ||
           c->values[i].chosen.n != before->values[i].chosen.n;
}

void configuration_log_changes(const struct configuration *c,
                               const struct configuration *before)
{
    for (size_t i = next(0); i < n_settings; i = next(i + 1))
        if (differs(c, before, i))
            log_info("a delivery setting changed", KV("setting", short_name(i)),
                     KV("previous", text_of(before, i)), KV("value", text_of(c, i)),
                     KV("origin", value_origin(&c->values[i])));
}

void configuration_append_run_time(const struct configuration *c,
                                   const struct configuration *before, struct str name,
                                   struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_array(&w);
    for (size_t i = next(0); i < n_settings; i = next(i + 1)) {
        if ((name.len > 0 && find(name) != i) || (before != NULL && !differs(c, before, i)))
            continue;
        json_open_object(&w);
        json_put_cstr(&w, STR("name"), short_name(i));
        if (before != NULL)
            json_put_cstr(&w, STR("previous"), text_of(before, i));
        json_put_cstr(&w, STR("value"), text_of(c, i));
        json_put_cstr(&w, STR("origin"), value_origin(&c->values[i]));
        json_put_cstr(&w, STR("configured"), c->values[i].configured.items[0]);
        json_close_object(&w);
    }
    json_close_array(&w);
}

void configuration_append_chosen(const struct configuration *c, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    for (size_t i = next(0); i < n_settings; i = next(i + 1))
        if (c->values[i].chosen.n > 0)
            json_put_cstr(&w, str_from(short_name(i)), text_of(c, i));
    json_close_object(&w);
}

bool configuration_load_chosen(struct configuration *c, struct str json, struct err *err)
{
    struct json_reader r;
    struct str name, text;
    bool ok = true;

    json_reader_init(&r, json);
    if (json_enter_object(&r))
        while (ok && json_next_member(&r, &name) && json_read_string(&r, &text))
            ok = configuration_choose(c, name, text, err);
    return ok && json_reader_finish(&r, err);
}
