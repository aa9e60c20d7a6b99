#include "config.h"

#include "sync/value/jsonb.h"

#include "src/base/base64.h"
#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "src/base/number.h"
#include "sync/value/decimal.h"
#include "sync/value/temporal.h"

#include <math.h>

/* The first byte of a value. */
enum jsonb_type {
    JSONB_SMALL_OBJECT = 0,
    JSONB_LARGE_OBJECT,
    JSONB_SMALL_ARRAY,
    JSONB_LARGE_ARRAY,
    JSONB_LITERAL,
    JSONB_INT16,
    JSONB_UINT16,
    JSONB_INT32,
    JSONB_UINT32,
    JSONB_INT64,
    JSONB_UINT64,
    JSONB_DOUBLE,
    JSONB_STRING,
    JSONB_OPAQUE = 15,
};

/* Server types that print as text when stored as opaque values. */
enum {
    OPAQUE_TIMESTAMP = 7,
    OPAQUE_DATE = 10,
    OPAQUE_TIME = 11,
    OPAQUE_DATETIME = 12,
    OPAQUE_DECIMAL = 246
};

/* The server's bound is 100. */
#define DEPTH_MAX 128

/*
 * Limits growth: a valid value at most turns each control character into six.  Damaged offsets
 * could name one part again and again.
 */
#define GROWTH_MAX 8u

struct jsonb_reader {
    struct buf *out;
    const uint8_t *end; /* the end of the whole document: inner sizes may be too large */
    size_t out_max;
    bool bad;
};

static void append_value(struct jsonb_reader *r, uint8_t type, const uint8_t *p,
                         unsigned depth);

static bool has(struct jsonb_reader *r, const uint8_t *p, uint64_t n)
{
    if (r->bad || p > r->end || n > (size_t)(r->end - p) || r->out->len > r->out_max)
        r->bad = true;
    return !r->bad;
}

static void append_i64(struct jsonb_reader *r, int64_t v)
{
    buf_append_i64(r->out, v);
}

/* As the server prints it: a fraction or an exponent always tells it from an integer. */
static void append_double(struct jsonb_reader *r, double v)
{
    enum { POINT_MIN = -14, POINT_MAX = 15 };

    if (!isfinite(v)) {
        r->bad = true;
        return;
    }
    buf_reserve(r->out, NUMBER_MAX);

    char *text = r->out->ptr + r->out->len;
    const size_t n = number_double_plain(text, v, POINT_MIN, POINT_MAX);

    r->out->len += n;
    if (memchr(text, '.', n) == NULL && memchr(text, 'e', n) == NULL)
        buf_append(r->out, STR(".0"));
}

static void append_literal(struct jsonb_reader *r, uint8_t v)
{
    static const struct str texts[] = {STR("null"), STR("true"), STR("false")};

    if (v < ARRAY_LEN(texts))
        buf_append(r->out, texts[v]);
    else
        r->bad = true;
}

/* Read a length: seven bits a byte, lowest first, at most 32 bits.  Moves *p past it. */
static uint32_t take_length(struct jsonb_reader *r, const uint8_t **p)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < 5 && has(r, *p, 1); i++) {
        const uint8_t byte = *(*p)++;

        n |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0 && n <= UINT32_MAX)
            return (uint32_t)n;
    }
    r->bad = true;
    return 0;
}

static void append_string(struct jsonb_reader *r, const uint8_t *p)
{
    const uint32_t n = take_length(r, &p);

    if (has(r, p, n))
        buf_append_json(r->out, (struct str){(const char *)p, n});
}

static void append_base64(struct jsonb_reader *r, uint8_t type, struct str data)
{
    buf_append(r->out, STR("\"base64:type"));
    buf_append_u64(r->out, type);
    buf_append_char(r->out, ':');
    base64_append(r->out, data);
    buf_append_char(r->out, '"');
}

/* Stored as precision, scale and digits.  Append a number, not a string. */
static void append_decimal(struct jsonb_reader *r, struct str data)
{
    struct cursor c = cursor_of(data);
    const uint8_t precision = cursor_u8(&c), scale = cursor_u8(&c);

    r->bad = r->bad || precision == 0 || precision > DECIMAL_PRECISION_MAX ||
             scale > precision || c.failed || cursor_left(&c) < decimal_size(precision, scale);
    if (r->bad)
        return;
    buf_reserve(r->out, DECIMAL_MAX);

    const size_t n = decimal_text(r->out->ptr + r->out->len, c.p, precision, scale);

    r->out->len += n;
    r->bad = n == 0;
}

static void append_temporal(struct jsonb_reader *r, uint8_t type, struct str data)
{
    char text[TEMPORAL_MAX];
    size_t n = 0;

    if (data.len >= 8) {
        const int64_t packed = (int64_t)load_le64(data.ptr);

        n = type == OPAQUE_DATE   ? temporal_packed_date(text, packed)
            : type == OPAQUE_TIME ? temporal_packed_time(text, packed)
                                  : temporal_packed_datetime(text, packed);
    }
    r->bad = r->bad || n == 0;
    buf_append_char(r->out, '"');
    buf_append(r->out, (struct str){text, n});
    buf_append_char(r->out, '"');
}

static void append_opaque(struct jsonb_reader *r, const uint8_t *p)
{
    if (!has(r, p, 1))
        return;

    const uint8_t type = *p++;
    const uint32_t n = take_length(r, &p);

    if (!has(r, p, n))
        return;

    const struct str data = {(const char *)p, n};

    if (type == OPAQUE_DECIMAL)
        append_decimal(r, data);
    else if (type == OPAQUE_DATE || type == OPAQUE_TIME || type == OPAQUE_DATETIME ||
             type == OPAQUE_TIMESTAMP)
        append_temporal(r, type, data);
    else
        append_base64(r, type, data);
}

/* An object or array: its counts, its table of keys, its table of values. */
struct container {
    const uint8_t *base; /* the base of offsets */
    bool large;
    unsigned width; /* bytes of a count or offset */
    uint32_t n;
    const uint8_t *keys;
    const uint8_t *values;
};

static uint32_t load_offset(const struct container *c, const uint8_t *p)
{
    return c->large ? load_le32(p) : load_le16(p);
}

static bool open_container(struct jsonb_reader *r, struct container *c, const uint8_t *p,
                           bool object, bool large)
{
    *c = (struct container){.base = p, .large = large, .width = large ? 4 : 2};
    if (!has(r, p, 2 * c->width))
        return false;
    c->n = load_offset(c, p); /* skip the size in bytes, which comes next */
    c->keys = p + 2 * c->width;

    const uint64_t keys_size = object ? (uint64_t)c->n * (c->width + 2) : 0;

    if (!has(r, c->keys, keys_size + (uint64_t)c->n * (c->width + 1)))
        return false;
    c->values = c->keys + keys_size;
    return true;
}

/* Tell whether the table itself holds values of this type. */
static bool is_inlined(uint8_t type, bool large)
{
    return type == JSONB_LITERAL || type == JSONB_INT16 || type == JSONB_UINT16 ||
           (large && (type == JSONB_INT32 || type == JSONB_UINT32));
}

static void append_key(struct jsonb_reader *r, const struct container *c, uint32_t i)
{
    const uint8_t *entry = c->keys + (size_t)i * (c->width + 2);
    const uint32_t offset = load_offset(c, entry);
    const uint16_t len = load_le16(entry + c->width);

    if (offset > (size_t)(r->end - c->base) || !has(r, c->base + offset, len)) {
        r->bad = true;
        return;
    }
    buf_append_json(r->out, (struct str){(const char *)c->base + offset, len});
    buf_append_char(r->out, ':');
}

static void append_element(struct jsonb_reader *r, const struct container *c, uint32_t i,
                           unsigned depth)
{
    const uint8_t *entry = c->values + (size_t)i * (c->width + 1);
    const uint8_t type = *entry++;

    if (is_inlined(type, c->large)) {
        append_value(r, type, entry, depth);
        return;
    }

    const uint32_t offset = load_offset(c, entry);

    /* Follow offsets only forward, past the tables: no part may contain itself. */
    if (offset > (size_t)(r->end - c->base) ||
        c->base + offset < c->values + (size_t)c->n * (c->width + 1)) {
        r->bad = true;
        return;
    }
    append_value(r, type, c->base + offset, depth);
}

static void append_container(struct jsonb_reader *r, uint8_t type, const uint8_t *p,
                             unsigned depth)
{
    const bool object = type <= JSONB_LARGE_OBJECT;
    const bool large = type == JSONB_LARGE_OBJECT || type == JSONB_LARGE_ARRAY;
    struct container c;

    if (depth > DEPTH_MAX) {
        r->bad = true;
        return;
    }
    if (!open_container(r, &c, p, object, large))
        return;
    buf_append_char(r->out, object ? '{' : '[');
    for (uint32_t i = 0; i < c.n && !r->bad; i++) {
        if (i > 0)
            buf_append_char(r->out, ',');
        if (object)
            append_key(r, &c, i);
        if (!r->bad)
            append_element(r, &c, i, depth + 1);
    }
    buf_append_char(r->out, object ? '}' : ']');
}

static void append_value(struct jsonb_reader *r, uint8_t type, const uint8_t *p, unsigned depth)
{
    static const uint8_t sizes[] = {
        [JSONB_LITERAL] = 1, [JSONB_INT16] = 2, [JSONB_UINT16] = 2, [JSONB_INT32] = 4,
        [JSONB_UINT32] = 4,  [JSONB_INT64] = 8, [JSONB_UINT64] = 8, [JSONB_DOUBLE] = 8,
    };

    if (!has(r, p, type < ARRAY_LEN(sizes) ? sizes[type] : 0))
        return;
    switch (type) {
    case JSONB_SMALL_OBJECT:
    case JSONB_LARGE_OBJECT:
    case JSONB_SMALL_ARRAY:
    case JSONB_LARGE_ARRAY: append_container(r, type, p, depth); break;
    case JSONB_LITERAL: append_literal(r, *p); break;
    case JSONB_INT16: append_i64(r, (int16_t)load_le16(p)); break;
    case JSONB_UINT16: append_i64(r, load_le16(p)); break;
    case JSONB_INT32: append_i64(r, (int32_t)load_le32(p)); break;
    case JSONB_UINT32: append_i64(r, load_le32(p)); break;
    case JSONB_INT64: append_i64(r, (int64_t)load_le64(p)); break;
    case JSONB_UINT64: buf_append_u64(r->out, load_le64(p)); break;
    case JSONB_DOUBLE: append_double(r, load_double_le(p)); break;
    case JSONB_STRING: append_string(r, p); break;
    case JSONB_OPAQUE: append_opaque(r, p); break;
    default: r->bad = true;
    }
}

bool jsonb_append(struct buf *b, struct str binary)
{
    const size_t before = b->len;
    const uint8_t *p = (const uint8_t *)binary.ptr;

    if (binary.len == 0) {
        buf_append(b, STR("null"));
        return true;
    }

    struct jsonb_reader r = {
        .out = b, .end = p + binary.len, .out_max = before + binary.len * GROWTH_MAX + 64};

    append_value(&r, p[0], p + 1, 0);
    if (r.bad)
        b->len = before;
    buf_reserve(b, 0);
    b->ptr[b->len] = '\0';
    return !r.bad;
}
