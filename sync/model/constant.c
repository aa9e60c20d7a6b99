#include "config.h"

#include "sync/model/constant.h"

#include "src/json.h"
#include "sync/model/field_type.h"

#include <string.h>

/* The first element of an array, or the value itself. */
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
