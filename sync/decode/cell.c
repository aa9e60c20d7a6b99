#include "config.h"

#include "sync/decode/cell.h"

#include "src/base/bytes.h"
#include "src/base/hex.h"
#include "src/base/utf8.h"
#include "src/format/json.h"
#include "sync/decode/unpack.h"
#include "sync/value/charset.h"
#include "sync/value/decimal.h"
#include "sync/value/jsonb.h"
#include "sync/value/temporal.h"

#include <arpa/inet.h>

void cell_reader_init(struct cell_reader *r)
{
    *r = (struct cell_reader){
        .converter = charset_converter_new(),
        .unpacker = unpacker_new(),
    };
}

void cell_reader_fini(struct cell_reader *r)
{
    charset_converter_free(r->converter);
    unpacker_free(r->unpacker);
    buf_free(&r->scratch);
}

/* What every cell_read_fn takes. */
#define READER(name)                                                                    \
    static const uint8_t *name(struct cell_reader *r UNUSED,                            \
                               const struct column_plan *plan UNUSED, const uint8_t *p, \
                               const uint8_t *end UNUSED, struct value *out)

/* Cells of fixed size */

#define INTEGER(name, value_kind, member, width, value) \
    READER(name)                                        \
    {                                                   \
        out->kind = value_kind;                         \
        out->member = value;                            \
        return p + (width);                             \
    }

INTEGER(read_i8, VALUE_INT, i, 1, (int8_t)*p)
INTEGER(read_u8, VALUE_UINT, u, 1, *p)
INTEGER(read_i16, VALUE_INT, i, 2, (int16_t)load_le16(p))
INTEGER(read_u16, VALUE_UINT, u, 2, load_le16(p))
INTEGER(read_i24, VALUE_INT, i, 3, (int32_t)(load_le24(p) << 8) >> 8)
INTEGER(read_u24, VALUE_UINT, u, 3, load_le24(p))
INTEGER(read_i32, VALUE_INT, i, 4, (int32_t)load_le32(p))
INTEGER(read_u32, VALUE_UINT, u, 4, load_le32(p))
INTEGER(read_i64, VALUE_INT, i, 8, (int64_t)load_le64(p))
INTEGER(read_u64, VALUE_UINT, u, 8, load_le64(p))

READER(read_float)
{
    out->kind = VALUE_FLOAT;
    out->d = (double)load_float_le(p);
    return p + 4;
}

READER(read_double)
{
    out->kind = VALUE_DOUBLE;
    out->d = load_double_le(p);
    return p + 8;
}

READER(read_year)
{
    out->kind = VALUE_YEAR;
    out->u = *p == 0 ? 0 : 1900u + *p;
    return p + 1;
}

READER(read_bit)
{
    out->kind = VALUE_BIT;
    out->u = load_be(p, plan->size);
    return p + plan->size;
}

READER(read_enum)
{
    const uint64_t index = load_le(p, plan->size);

    out->kind = VALUE_ENUM;
    out->u = index;
    out->s = (struct str){NULL, 0};
    if (index == 0)
        out->s = STR(""); /* what the server makes of an invalid value */
    else if (index <= plan->n_labels)
        out->s = plan->labels[index - 1];
    return p + plan->size;
}

/* Join the labels of the members.  Returns the length. */
static size_t join_labels(char *out, const struct column_plan *plan, uint64_t members)
{
    char *to = out;

    for (size_t i = 0; i < plan->n_labels; i++) {
        if ((members >> i & 1) == 0)
            continue;
        if (to != out)
            *to++ = ',';
        if (plan->labels[i].len > 0)
            memcpy(to, plan->labels[i].ptr, plan->labels[i].len);
        to += plan->labels[i].len;
    }
    return (size_t)(to - out);
}

READER(read_set)
{
    const uint64_t members = load_le(p, plan->size);
    const size_t n = plan->n_labels;

    out->kind = VALUE_SET;
    out->u = members;
    out->s = (struct str){NULL, 0};
    if (n != 0 && (n >= 64 || members >> n == 0))
        out->s = (struct str){r->text, join_labels(r->text, plan, members)};
    r->text += plan->text_max;
    return p + plan->size;
}

/*
 * Keep the n bytes at r->text; 0 for a damaged cell.  Takes the room of the longest text, so
 * that the place of a text does not wait for the lengths of those before it.
 */
static inline bool take_text(struct cell_reader *r, const struct column_plan *plan, size_t n,
                             enum value_kind kind, struct value *out)
{
    out->kind = kind;
    out->s = (struct str){r->text, n};
    r->text += plan->text_max;
    return n > 0;
}

READER(read_decimal)
{
    const size_t n = decimal_text(r->text, p, plan->precision, plan->scale);

    return take_text(r, plan, n, VALUE_DECIMAL, out) ? p + plan->size : NULL;
}

READER(read_date)
{
    const size_t n = temporal_date(r->text, p);

    return take_text(r, plan, n, VALUE_DATE, out) ? p + plan->size : NULL;
}

READER(read_datetime2)
{
    const size_t n = temporal_datetime2(r->text, p, plan->fsp);

    return take_text(r, plan, n, VALUE_DATETIME, out) ? p + plan->size : NULL;
}

READER(read_timestamp2)
{
    const size_t n = temporal_timestamp2(r->text, p, plan->fsp);

    return take_text(r, plan, n, VALUE_TIMESTAMP, out) ? p + plan->size : NULL;
}

READER(read_time2)
{
    const size_t n = temporal_time2(r->text, p, plan->fsp);

    return take_text(r, plan, n, VALUE_TIME, out) ? p + plan->size : NULL;
}

READER(read_old_datetime)
{
    const size_t n = plan->code == CELL_OLD_DATETIME
                         ? temporal_old_datetime(r->text, p)
                         : temporal_hires_datetime(r->text, p, plan->fsp);

    return take_text(r, plan, n, VALUE_DATETIME, out) ? p + plan->size : NULL;
}

READER(read_old_timestamp)
{
    const size_t n = plan->code == CELL_OLD_TIMESTAMP
                         ? temporal_old_timestamp(r->text, p)
                         : temporal_hires_timestamp(r->text, p, plan->fsp);

    return take_text(r, plan, n, VALUE_TIMESTAMP, out) ? p + plan->size : NULL;
}

READER(read_old_time)
{
    const size_t n = plan->code == CELL_OLD_TIME ? temporal_old_time(r->text, p)
                                                 : temporal_hires_time(r->text, p, plan->fsp);

    return take_text(r, plan, n, VALUE_TIME, out) ? p + plan->size : NULL;
}

/* Cells with a length */

/* The bytes after the length; ptr NULL if they run past end. */
static inline struct str bytes_of(const struct column_plan *plan, const uint8_t *p,
                                  const uint8_t *end)
{
    const uint64_t len = plan->size == 1 ? *p : load_le(p, plan->size);

    p += plan->size;
    return len > (size_t)(end - p) ? (struct str){NULL, 0} : (struct str){(const char *)p, len};
}

static inline const uint8_t *behind(struct str s)
{
    return (const uint8_t *)s.ptr + s.len;
}

static inline bool set_bytes(struct value *out, enum value_kind kind, struct str s)
{
    out->kind = kind;
    out->s = s;
    return true;
}

READER(read_bytes)
{
    const struct str s = bytes_of(plan, p, end);

    set_bytes(out, VALUE_BYTES, s);
    return s.ptr != NULL ? behind(s) : NULL;
}

READER(read_utf8)
{
    const struct str s = bytes_of(plan, p, end);

    if (s.ptr == NULL)
        return NULL;
    set_bytes(out, utf8_valid(s) ? VALUE_TEXT : VALUE_BYTES, s);
    return behind(s);
}

/*
 * Restore the zeros that the server cut off.  Returns ptr NULL if s is longer than the column.
 */
static struct str padded(struct cell_reader *r, const struct column_plan *plan, struct str s)
{
    if (s.len == plan->length)
        return s;
    if (s.len > plan->length)
        return (struct str){NULL, 0};

    char *p = arena_bytes(r->arena, plan->length);

    if (s.len > 0)
        memcpy(p, s.ptr, s.len);
    memset(p + s.len, 0, plan->length - s.len);
    return (struct str){p, plan->length};
}

static bool read_uuid(struct cell_reader *r, struct str s, struct value *out)
{
    char *end = r->text;

    if (s.len != 16)
        return false;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *end++ = '-';
        end = hex_put(end, (unsigned char)s.ptr[i]);
    }
    return set_bytes(out, VALUE_TEXT, (struct str){r->text, (size_t)(end - r->text)});
}

static bool read_inet(struct cell_reader *r, int family, struct str s, struct value *out)
{
    char *text = r->text;

    if (s.len != (family == AF_INET ? 4u : 16u) ||
        inet_ntop(family, s.ptr, text, INET6_ADDRSTRLEN) == NULL)
        return false;
    return set_bytes(out, VALUE_TEXT, str_from(text));
}

/* Move r->scratch to the arena. */
static bool keep_scratch(struct cell_reader *r, enum value_kind kind, struct value *out)
{
    return set_bytes(out, kind, arena_copy(r->arena, buf_str(&r->scratch)));
}

#define SCRATCH_KEEP ((size_t)1 << 20)

static void clear_scratch(struct cell_reader *r)
{
    if (r->scratch.cap > SCRATCH_KEEP)
        buf_free(&r->scratch);
    buf_clear(&r->scratch);
}

static bool read_jsonb(struct cell_reader *r, struct str s, struct value *out)
{
    clear_scratch(r);
    return jsonb_append(&r->scratch, s) && keep_scratch(r, VALUE_JSON, out);
}

/* MariaDB stores JSON as text, usually but not always checked. */
static bool read_json_text(struct cell_reader *r, struct str s, struct value *out)
{
    clear_scratch(r);
    if (json_compact(&r->scratch, s))
        return keep_scratch(r, VALUE_JSON, out);
    return set_bytes(out, utf8_valid(s) ? VALUE_TEXT : VALUE_BYTES, s);
}

static bool read_text(struct cell_reader *r, const struct charset *cs, struct str s,
                      struct value *out)
{
    struct str text;

    if (charset_to_utf8(r->converter, cs, s, r->arena, &text))
        return set_bytes(out, VALUE_TEXT, text);
    return set_bytes(out, VALUE_BYTES, s);
}

static bool read_rare(struct cell_reader *r, const struct column_plan *plan, struct str s,
                      struct value *out)
{
    if (plan->compressed && !unpack_column(r->unpacker, s, UINT32_MAX, r->arena, &s))
        return false;
    if (plan->code == CELL_BINARY || plan->code >= CELL_UUID) {
        s = padded(r, plan, s);
        if (s.ptr == NULL)
            return false;
    }
    switch (plan->code) {
    case CELL_UTF8:
    case CELL_GUESS: return set_bytes(out, utf8_valid(s) ? VALUE_TEXT : VALUE_BYTES, s);
    case CELL_TEXT: return read_text(r, plan->charset, s, out);
    case CELL_BYTES:
    case CELL_BINARY: return set_bytes(out, VALUE_BYTES, s);
    case CELL_JSON_TEXT: return read_json_text(r, s, out);
    case CELL_JSONB: return read_jsonb(r, s, out);
    case CELL_GEOMETRY: return set_bytes(out, VALUE_GEOMETRY, s);
    case CELL_VECTOR: return set_bytes(out, VALUE_VECTOR, s) && s.len % 4 == 0;
    case CELL_UUID: return read_uuid(r, s, out);
    case CELL_INET4: return read_inet(r, AF_INET, s, out);
    case CELL_INET6: return read_inet(r, AF_INET6, s, out);
    default: return false;
    }
}

READER(read_string)
{
    const struct str s = bytes_of(plan, p, end);

    if (s.ptr == NULL || !read_rare(r, plan, s, out))
        return NULL;
    r->text += plan->text_max;
    return behind(s);
}

/* Choosing the function for a column */

static const cell_read_fn readers[] = {
    [CELL_I8] = read_i8,
    [CELL_U8] = read_u8,
    [CELL_I16] = read_i16,
    [CELL_U16] = read_u16,
    [CELL_I24] = read_i24,
    [CELL_U24] = read_u24,
    [CELL_I32] = read_i32,
    [CELL_U32] = read_u32,
    [CELL_I64] = read_i64,
    [CELL_U64] = read_u64,
    [CELL_FLOAT] = read_float,
    [CELL_DOUBLE] = read_double,
    [CELL_DECIMAL] = read_decimal,
    [CELL_YEAR] = read_year,
    [CELL_DATE] = read_date,
    [CELL_DATETIME2] = read_datetime2,
    [CELL_TIMESTAMP2] = read_timestamp2,
    [CELL_TIME2] = read_time2,
    [CELL_OLD_DATETIME] = read_old_datetime,
    [CELL_OLD_TIMESTAMP] = read_old_timestamp,
    [CELL_OLD_TIME] = read_old_time,
    [CELL_HIRES_DATETIME] = read_old_datetime,
    [CELL_HIRES_TIMESTAMP] = read_old_timestamp,
    [CELL_HIRES_TIME] = read_old_time,
    [CELL_BIT] = read_bit,
    [CELL_ENUM] = read_enum,
    [CELL_SET] = read_set,
    [CELL_UTF8] = read_utf8,
    [CELL_GUESS] = read_utf8,
    [CELL_BYTES] = read_bytes,
    [CELL_INET6] = NULL,
};

bool cell_plan(const struct wire_column *wire, const struct column *column,
               struct column_plan *out)
{
    if (!cell_plan_type(wire, column, out))
        return false;
    out->read =
        readers[out->code] != NULL && !out->compressed ? readers[out->code] : read_string;
    return true;
}
