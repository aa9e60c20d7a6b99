#include "config.h"

#include "sync/mapping/usual.h"

#include "src/base/buf.h"
#include "src/format/json.h"

#include <string.h>

#define FIELDS_MAX 1000 /* an engine's limit for an index that does not set it */

/*
 * Of each engine, or of each version for which we choose them (src/search/engine.h).  A field
 * without a type is an object.
 */
static const char *const types[] = {
    "",          "binary", "boolean",    "byte",         "date",  "double", "flat_object",
    "flattened", "float",  "half_float", "integer",      "ip",    "join",   "keyword",
    "long",      "nested", "object",     "scaled_float", "short", "text",   "unsigned_long",
};

static bool is_usual_type(struct str field)
{
    struct buf type = {0};
    bool is = false;

    buf_append(&type, STR(""));
    (void)json_find_text(field, "/type", &type);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        is = is || strcmp(type.ptr, types[i]) == 0;
    buf_free(&type);
    return is;
}

/* Count the fields of {"NAME": FIELD, ...}.  Returns false at an unusual one. */
static bool count_usual(struct str fields, size_t *n)
{
    struct json_reader r;
    struct str name, field, below;
    bool usual = true;

    json_reader_init(&r, fields);
    if (!json_enter_object(&r))
        return false;
    while (usual && json_next_member(&r, &name) && json_read_raw(&r, &field)) {
        usual = is_usual_type(field);
        if (usual && json_find(field, "/properties", &below))
            usual = count_usual(below, n);
        if (usual && json_find(field, "/fields", &below))
            usual = count_usual(below, n);
        ++*n;
    }
    return usual;
}

bool mapping_is_usual(struct str body)
{
    static const struct str limit = STR("total_fields");
    struct str settings, fields;
    size_t n = 0;

    if (json_find(body, "/settings", &settings) &&
        memmem(settings.ptr, settings.len, limit.ptr, limit.len) != NULL)
        return false;
    return !json_find(body, "/mappings/properties", &fields) ||
           (count_usual(fields, &n) && n <= FIELDS_MAX);
}
