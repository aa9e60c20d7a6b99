#include "config.h"

#include "web/operation/schema.h"

#include "src/access/role.h"
#include "src/base/base.h"
#include "src/config/setting.h"
#include "src/format/json.h"
#include "web/operation/operation.h"

#include <string.h>

#define DELIVERY   "delivery."
#define ANY_SCALAR "[\"string\",\"number\",\"boolean\",\"null\"]"

static void write_words(struct json_writer *w, const char *text)
{
    json_open_array(w);
    while (*text != '\0') {
        const size_t n = strcspn(text, " ");

        json_write_string(w, (struct str){text, n});
        text += n + (text[n] == ' ');
    }
    json_close_array(w);
}

static void put_number(struct json_writer *w, uint64_t min, uint64_t max)
{
    json_put_cstr(w, STR("type"), "integer");
    json_put_u64(w, STR("minimum"), min);
    json_put_u64(w, STR("maximum"), max);
}

static void put_list(struct json_writer *w, const struct input *in)
{
    json_put_cstr(w, STR("type"), "array");
    json_put_u64(w, STR("minItems"), 1);
    json_put_u64(w, STR("maxItems"), in->max);
    json_write_key(w, STR("items"));
    if (in->type == INPUT_OBJECTS) {
        schema_write_members(w, in->item);
        return;
    }
    json_open_object(w);
    if (in->type == INPUT_NUMBERS) {
        put_number(w, 1, INPUT_COUNT_MAX);
    } else {
        json_put_cstr(w, STR("type"), "string");
        json_put_u64(w, STR("minLength"), 1);
    }
    json_close_object(w);
}

void schema_write_input(struct json_writer *w, const struct input *in)
{
    json_open_object(w);
    switch (in->type) {
    case INPUT_TEXT:
        json_put_cstr(w, STR("type"), "string");
        if (in->min > 0)
            json_put_u64(w, STR("minLength"), in->min);
        break;
    case INPUT_COUNT: put_number(w, in->min, in->max > 0 ? in->max : INPUT_COUNT_MAX); break;
    case INPUT_FLAG: json_put_cstr(w, STR("type"), "boolean"); break;
    case INPUT_CHOICE:
        json_put_cstr(w, STR("type"), "string");
        json_write_key(w, STR("enum"));
        write_words(w, in->choices);
        break;
    case INPUT_DAY:
        json_put_cstr(w, STR("type"), "string");
        json_put_cstr(w, STR("format"), "date");
        break;
    case INPUT_TEXTS:
    case INPUT_NUMBERS:
    case INPUT_OBJECTS: put_list(w, in); break;
    case INPUT_MAP:
        json_put_cstr(w, STR("type"), "object");
        json_put_raw(w, STR("additionalProperties"), STR("{\"type\":\"string\"}"));
        break;
    }
    json_put_cstr(w, STR("description"), in->help);
    if (in->is_for_admins)
        json_put_cstr(w, STR("x-millrace-role"), role_name(ROLE_ADMIN));
    json_close_object(w);
}

static void put_required(struct json_writer *w, const struct input *list)
{
    bool any = false;

    for (const struct input *in = list; in->name != NULL; in++)
        any = any || in->required;
    if (!any)
        return;
    json_write_key(w, STR("required"));
    json_open_array(w);
    for (const struct input *in = list; in->name != NULL; in++)
        if (in->required)
            json_write_string(w, str_from(in->name));
    json_close_array(w);
}

void schema_write_members(struct json_writer *w, const struct input *list)
{
    json_open_object(w);
    json_put_cstr(w, STR("type"), "object");
    json_put_bool(w, STR("additionalProperties"), false);
    put_required(w, list);
    json_write_key(w, STR("properties"));
    json_open_object(w);
    for (const struct input *in = list; in->name != NULL; in++) {
        json_write_key(w, str_from(in->name));
        schema_write_input(w, in);
    }
    json_close_object(w);
    json_close_object(w);
}

/* A setting's name as the API writes it, or NULL if it does not change at run time. */
static const char *name_of(const struct setting *s)
{
    const size_t n = strlen(DELIVERY);

    if (s->changes != CHANGES_AT_RUN_TIME || strncmp(s->name, DELIVERY, n) != 0)
        return NULL;
    return s->name + n;
}

void schema_write_settings(struct json_writer *w)
{
    json_open_object(w);
    json_put_cstr(w, STR("type"), "object");
    json_put_bool(w, STR("additionalProperties"), false);
    json_put_u64(w, STR("minProperties"), 1);
    json_write_key(w, STR("properties"));
    json_open_object(w);
    for (size_t i = 0; i < n_settings; i++) {
        const char *name = name_of(&settings[i]);

        if (name == NULL)
            continue;
        json_write_key(w, str_from(name));
        json_open_object(w);
        json_put_raw(w, STR("type"), STR(ANY_SCALAR));
        json_put_cstr(w, STR("description"), settings[i].help);
        json_close_object(w);
    }
    json_close_object(w);
    json_close_object(w);
}
