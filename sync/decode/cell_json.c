#include "config.h"

#include "sync/decode/cell_json.h"

#include "src/base/bytes.h"
#include "src/base/number.h"
#include "src/base/utf8.h"
#include "sync/value/decimal.h"
#include "sync/value/jsonb.h"
#include "sync/value/temporal.h"
#include "sync/value/value_json.h"

#include <math.h>

void cell_writer_init(struct cell_writer *w)
{
    *w = (struct cell_writer){.arena = arena_new()};
    cell_reader_init(&w->cells);
}

void cell_writer_fini(struct cell_writer *w)
{
    cell_reader_fini(&w->cells);
    arena_free(w->arena);
}

/* Continue after what the buffer holds. */
static void resume(struct cell_writer *w)
{
    w->to = w->out->ptr + w->out->len;
    w->limit = w->out->ptr + w->out->cap;
}

/* Add what was written to the buffer. */
static void settle(struct cell_writer *w)
{
    w->out->len = (size_t)(w->to - w->out->ptr);
}

void cell_writer_grow(struct cell_writer *w, size_t n)
{
    settle(w);
    buf_reserve(w->out, n);
    resume(w);
}

void cell_writer_begin(struct cell_writer *w, struct buf *out)
{
    w->out = out;
    buf_reserve(out, 0);
    resume(w);
}

void cell_writer_end(struct cell_writer *w)
{
    cell_writer_need(w, 1);
    settle(w);
    *w->to = '\0';
}

struct str cell_json_piece(struct arena *a, struct str s)
{
    char *p = arena_bytes(a, s.len + CELL_JSON_SPARE);

    memcpy(p, s.ptr, s.len);
    memset(p + s.len, 0, CELL_JSON_SPARE);
    return (struct str){p, s.len};
}

/* Short cells */

static size_t put_i8(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_i64(out, (int8_t)*p);
}

static size_t put_u8(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_u64(out, *p);
}

static size_t put_i16(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_i64(out, (int16_t)load_le16(p));
}

static size_t put_u16(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_u64(out, load_le16(p));
}

static size_t put_i24(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_i64(out, (int32_t)(load_le24(p) << 8) >> 8);
}

static size_t put_u24(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_u64(out, load_le24(p));
}

static size_t put_i32(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_i64(out, (int32_t)load_le32(p));
}

static size_t put_u32(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_u64(out, load_le32(p));
}

static size_t put_i64(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_i64(out, (int64_t)load_le64(p));
}

static size_t put_u64(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_u64(out, load_le64(p));
}

static size_t put_null(char *out)
{
    memcpy(out, "null", 4);
    return 4;
}

static size_t put_float(const struct cell_json *c, const uint8_t *p, char *out)
{
    const float f = load_float_le(p);

    (void)c;
    return isfinite(f) ? number_float(out, f) : put_null(out);
}

static size_t put_double(const struct cell_json *c, const uint8_t *p, char *out)
{
    const double d = load_double_le(p);

    (void)c;
    return isfinite(d) ? number_double(out, d) : put_null(out);
}

static size_t put_year(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return number_u64(out, *p == 0 ? 0 : 1900u + *p);
}

static size_t put_bit(const struct cell_json *c, const uint8_t *p, char *out)
{
    return number_u64(out, load_be(p, c->plan->size));
}

static size_t put_decimal(const struct cell_json *c, const uint8_t *p, char *out)
{
    return decimal_text(out, p, c->plan->precision, c->plan->scale);
}

/* Quote the n bytes at out + 1.  Returns 0 if n is 0. */
static size_t quote(char *out, size_t n)
{
    out[0] = '"';
    out[n + 1] = '"';
    return n > 0 ? n + 2 : 0;
}

static size_t put_date(const struct cell_json *c, const uint8_t *p, char *out)
{
    (void)c;
    return quote(out, temporal_date(out + 1, p));
}

static size_t put_datetime(const struct cell_json *c, const uint8_t *p, char *out)
{
    return quote(out, temporal_datetime2(out + 1, p, c->plan->fsp));
}

static size_t put_timestamp(const struct cell_json *c, const uint8_t *p, char *out)
{
    const size_t n = temporal_timestamp2(out + 1, p, c->plan->fsp);

    out[n + 1] = 'Z';
    return n > 0 ? quote(out, n + 1) : 0;
}

static size_t put_time(const struct cell_json *c, const uint8_t *p, char *out)
{
    return quote(out, temporal_time2(out + 1, p, c->plan->fsp));
}

static size_t put_enum(const struct cell_json *c, const uint8_t *p, char *out)
{
    const uint64_t index = load_le(p, c->plan->size);

    if (index > c->plan->n_labels)
        return number_u64(out, index);

    return cell_json_put_piece(out, c->labels[index]);
}

/* Long cells */

/* The bytes after the length; ptr NULL if they run past end. */
static inline struct str bytes_of(const struct cell_json *c, const uint8_t *p,
                                  const uint8_t *end)
{
    const size_t prefix = c->plan->size;
    const uint64_t len = load_le(p, (unsigned)prefix);

    p += prefix;
    if (len > (size_t)(end - p))
        return (struct str){NULL, 0};
    return (struct str){(const char *)p, len};
}

static const uint8_t *behind(struct str s)
{
    return (const uint8_t *)s.ptr + s.len;
}

/* Write bytes as a string if they are UTF-8: mostly text that needs no escapes. */
static const uint8_t *put_bytes(struct str s, struct cell_writer *w)
{
    cell_writer_need(w, s.len + CELL_JSON_ROOM);
    if (utf8_copy_literal(w->to + 1, s) == s.len) {
        w->to[0] = w->to[s.len + 1] = '"';
        w->to += s.len + 2;
        return behind(s);
    }
    settle(w);
    value_append_bytes(w->out, s);
    resume(w);
    return behind(s);
}

static const uint8_t *put_text(const struct cell_json *c, const uint8_t *p, const uint8_t *end,
                               struct cell_writer *w)
{
    const struct str s = bytes_of(c, p, end);

    return s.ptr != NULL ? put_bytes(s, w) : NULL;
}

static const uint8_t *put_value(const struct cell_json *c, const uint8_t *p, const uint8_t *end,
                                struct cell_writer *w)
{
    struct value v;

    arena_reset(w->arena);
    cell_reader_use(&w->cells, w->arena, arena_bytes(w->arena, c->plan->text_max));
    p = cell_read(&w->cells, c->plan, p, end, &v);
    if (p == NULL)
        return NULL;
    settle(w);
    value_append_json(w->out, &v);
    resume(w);
    return p;
}

/* BINARY(n): padding is rare. */
static const uint8_t *put_binary(const struct cell_json *c, const uint8_t *p,
                                 const uint8_t *end, struct cell_writer *w)
{
    const struct str s = bytes_of(c, p, end);

    if (s.ptr == NULL || s.len != c->plan->length)
        return put_value(c, p, end, w);
    return put_bytes(s, w);
}

static const uint8_t *put_jsonb(const struct cell_json *c, const uint8_t *p, const uint8_t *end,
                                struct cell_writer *w)
{
    const struct str s = bytes_of(c, p, end);

    if (s.ptr == NULL)
        return NULL;
    settle(w);

    const bool ok = jsonb_append(w->out, s);

    resume(w);
    return ok ? behind(s) : NULL;
}

/* Choosing the function for a column */

static const cell_short_fn short_fns[] = {
    [CELL_I8] = put_i8,           [CELL_U8] = put_u8,
    [CELL_I16] = put_i16,         [CELL_U16] = put_u16,
    [CELL_I24] = put_i24,         [CELL_U24] = put_u24,
    [CELL_I32] = put_i32,         [CELL_U32] = put_u32,
    [CELL_I64] = put_i64,         [CELL_U64] = put_u64,
    [CELL_FLOAT] = put_float,     [CELL_DOUBLE] = put_double,
    [CELL_DECIMAL] = put_decimal, [CELL_YEAR] = put_year,
    [CELL_DATE] = put_date,       [CELL_DATETIME2] = put_datetime,
    [CELL_TIME2] = put_time,      [CELL_TIMESTAMP2] = put_timestamp,
    [CELL_BIT] = put_bit,         [CELL_ENUM] = put_enum,
    [CELL_INET6] = NULL,
};

static const cell_long_fn long_fns[] = {
    [CELL_UTF8] = put_text,     [CELL_BYTES] = put_text,  [CELL_GUESS] = put_text,
    [CELL_BINARY] = put_binary, [CELL_JSONB] = put_jsonb, [CELL_INET6] = NULL,
};

/*
 * Quote the labels of an ENUM, starting with the one for 0.  Returns NULL if one is too long.
 */
static const struct str *quote_labels(const struct column_plan *plan, struct arena *a)
{
    struct str *labels = arena_alloc(a, plan->n_labels + 1, sizeof(*labels));
    struct buf text = {0};
    bool fit = true;

    labels[0] = cell_json_piece(a, STR("\"\""));
    for (size_t i = 0; i < plan->n_labels; i++) {
        buf_clear(&text);
        buf_append_json(&text, plan->labels[i]);
        labels[i + 1] = cell_json_piece(a, buf_str(&text));
        fit = fit && text.len <= CELL_JSON_ROOM;
    }
    buf_free(&text);
    return fit ? labels : NULL;
}

void cell_json_init(struct cell_json *c, const struct column_plan *plan, struct arena *a)
{
    *c = (struct cell_json){.plan = plan, .size = plan->size, .write_long = put_value};
    if (plan->code == CELL_ENUM)
        c->labels = quote_labels(plan, a);
    if (short_fns[plan->code] != NULL && (plan->code != CELL_ENUM || c->labels != NULL))
        c->write_short = short_fns[plan->code];
    else if (long_fns[plan->code] != NULL && !plan->compressed)
        c->write_long = long_fns[plan->code];
}
