#include "config.h"

#include "sync/definition/constant.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "sync/definition/field_type.h"

#include <stdlib.h>
#include <string.h>

/* Look at the first element of an array, or the value itself. */
static enum json_type look(struct str json, struct str *value)
{
    struct json_reader r;
    enum json_type type;

    json_reader_init(&r, json);
    type = json_peek(&r);
    if (type == JSON_ARRAY && (!json_enter_array(&r) || !json_next_element(&r)))
        return JSON_NONE;
    if (type == JSON_ARRAY)
        type = json_peek(&r);
    return json_read_raw(&r, value) ? type : JSON_NONE;
}

static bool is_integer(struct str number)
{
    return memchr(number.ptr, '.', number.len) == NULL &&
           memchr(number.ptr, 'e', number.len) == NULL &&
           memchr(number.ptr, 'E', number.len) == NULL;
}

bool constant_column(struct str json, struct str name, struct column *out)
{
    struct str value = {0};
    const enum json_type type = look(json, &value);

    *out = (struct column){.name = name, .type_text = STR("a constant")};
    switch (type) {
    case JSON_BOOL: out->type = COLUMN_TINYINT; return true;
    case JSON_NUMBER:
        out->type = is_integer(value) ? COLUMN_BIGINT : COLUMN_DOUBLE;
        return true;
    case JSON_STRING:
        out->type = COLUMN_VARCHAR;
        out->charset = STR("utf8mb4");
        out->length = (uint32_t)value.len;
        return true;
    case JSON_OBJECT: out->type = COLUMN_JSON; return true;
    case JSON_NONE:
    case JSON_NULL:
    case JSON_ARRAY: break;
    }
    return false;
}

/* The largest values of integer fields. */
static const struct {
    const char *type;
    double max;
} whole[] = {{"byte", 127},
             {"short", 32767},
             {"integer", 2147483647.0},
             {"long", 9223372036854775807.0},
             {"unsigned_long", 18446744073709551615.0}};

static bool is_number_field(struct str type)
{
    static const char *const others[] = {"float", "half_float", "double", "scaled_float"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_equal(type, str_from(others[i])))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        if (str_equal(type, str_from(whole[i].type)))
            return true;
    return false;
}

static bool number_fits(struct str text, struct str type)
{
    char *end, copy[64];
    double n;

    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    n = strtod(copy, &end);
    if (end != copy + text.len)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        if (str_equal(type, str_from(whole[i].type)))
            return n <= whole[i].max &&
                   n >= (i + 1 == ARRAY_LEN(whole) ? 0 : -whole[i].max - 1);
    return true;
}

/* A date of the default format begins with a year, or is milliseconds. */
static bool begins_like_date(struct str text)
{
    size_t n = 0;

    while (n < text.len && text.ptr[n] >= '0' && text.ptr[n] <= '9')
        n++;
    return n > 0 && (n == text.len || (n == 4 && text.ptr[n] == '-'));
}

bool constant_is_readable(struct str json, struct str type, bool any_date)
{
    struct str value = {0};
    struct buf text = {0};
    const enum json_type kind = look(json, &value);
    bool fits = true;

    if (kind == JSON_STRING)
        json_unescape(&text, (struct str){value.ptr + 1, value.len - 2});
    else if (kind == JSON_NUMBER)
        buf_append(&text, value);
    else
        return true;
    if (is_number_field(type))
        fits = number_fits(buf_str(&text), type);
    else if (!any_date && (str_equal(type, STR("date")) || str_equal(type, STR("date_nanos"))))
        fits = begins_like_date(buf_str(&text));
    buf_free(&text);
    return fits;
}

bool constant_fits(struct str json, struct str type)
{
    static const struct str objects[] = {STR("flat_object"), STR("flattened"), STR("object"),
                                         STR("nested")};
    struct column c;
    bool takes_objects = false;

    if (!constant_column(json, STR(""), &c) ||
        constant_is_bool(json) != str_equal(type, STR("boolean")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        takes_objects = takes_objects || str_equal(type, objects[i]);
    return c.type == COLUMN_JSON ? takes_objects : field_type_fits(&c, type.ptr);
}

bool constant_is_bool(struct str json)
{
    struct str value;

    return look(json, &value) == JSON_BOOL;
}
