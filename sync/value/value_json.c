#include "config.h"

#include "sync/value/value_json.h"

#include "src/base/base64.h"
#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/number.h"
#include "src/base/utf8.h"
#include "src/format/json.h"
#include "sync/value/geometry.h"

#include <assert.h>
#include <math.h>

void value_append_int(struct buf *b, int64_t i)
{
    buf_append_i64(b, i);
}

void value_append_uint(struct buf *b, uint64_t u)
{
    buf_append_u64(b, u);
}

void value_append_float(struct buf *b, float f)
{
    if (!isfinite(f)) {
        buf_append(b, STR("null"));
        return;
    }
    buf_reserve(b, NUMBER_MAX);
    b->len += number_float(b->ptr + b->len, f);
    b->ptr[b->len] = '\0';
}

void value_append_double(struct buf *b, double d)
{
    if (!isfinite(d)) {
        buf_append(b, STR("null"));
        return;
    }
    buf_reserve(b, NUMBER_MAX);
    b->len += number_double(b->ptr + b->len, d);
    b->ptr[b->len] = '\0';
}

void value_append_base64(struct buf *b, struct str bytes)
{
    buf_append_char(b, '"');
    base64_append(b, bytes);
    buf_append_char(b, '"');
}

void value_append_labels(struct buf *b, struct str joined)
{
    const char *p = joined.ptr;
    const char *const end = p + joined.len;

    buf_append_char(b, '[');
    while (p < end) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma != NULL ? comma : end;

        if (p != joined.ptr)
            buf_append_char(b, ',');
        buf_append_json(b, (struct str){p, (size_t)(stop - p)});
        p = stop + 1;
    }
    buf_append_char(b, ']');
}

void value_append_vector(struct buf *b, struct str floats)
{
    buf_append_char(b, '[');
    for (size_t i = 0; i + 4 <= floats.len; i += 4) {
        if (i > 0)
            buf_append_char(b, ',');
        value_append_float(b, load_float_le(floats.ptr + i));
    }
    buf_append_char(b, ']');
}

bool value_append_geojson(struct buf *b, struct str srid_wkb)
{
    return geometry_append_geojson(b, srid_wkb);
}

bool value_append_compact_json(struct buf *b, struct str json)
{
    return json_compact(b, json);
}

void value_append_bytes(struct buf *b, struct str s)
{
    if (utf8_valid(s)) {
        buf_append_json(b, s);
        return;
    }
    buf_append(b, STR("{\"base64\":"));
    value_append_base64(b, s);
    buf_append_char(b, '}');
}

/* Append text that needs no escapes. */
static void append_plain(struct buf *b, struct str s, struct str suffix)
{
    buf_reserve(b, s.len + 3);
    buf_append_char(b, '"');
    buf_append(b, s);
    buf_append(b, suffix);
    buf_append_char(b, '"');
}

void value_append_json(struct buf *b, const struct value *v)
{
    switch (v->kind) {
    case VALUE_ABSENT: assert(!"an absent value has no text"); break;
    case VALUE_NULL: buf_append(b, STR("null")); break;
    case VALUE_INT: buf_append_i64(b, v->i); break;
    case VALUE_UINT:
    case VALUE_YEAR:
    case VALUE_BIT: buf_append_u64(b, v->u); break;
    case VALUE_FLOAT: value_append_float(b, (float)v->d); break;
    case VALUE_DOUBLE: value_append_double(b, v->d); break;
    case VALUE_DECIMAL:
    case VALUE_JSON: buf_append(b, v->s); break;
    case VALUE_TEXT: buf_append_json(b, v->s); break;
    case VALUE_BYTES: value_append_bytes(b, v->s); break;
    case VALUE_DATE:
    case VALUE_DATETIME:
    case VALUE_TIME: append_plain(b, v->s, STR("")); break;
    case VALUE_TIMESTAMP: append_plain(b, v->s, STR("Z")); break;
    case VALUE_ENUM:
        if (v->s.ptr != NULL)
            buf_append_json(b, v->s);
        else
            buf_append_u64(b, v->u);
        break;
    case VALUE_SET:
        if (v->s.ptr != NULL)
            value_append_labels(b, v->s);
        else
            buf_append_u64(b, v->u);
        break;
    case VALUE_GEOMETRY:
        if (!geometry_append_geojson(b, v->s))
            value_append_bytes(b, v->s);
        break;
    case VALUE_VECTOR: value_append_vector(b, v->s); break;
    }
}
