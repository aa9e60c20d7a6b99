#include "config.h"

#include "sync/decode/wire.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/value/charset.h"
#include "sync/value/decimal.h"

#include <inttypes.h>
#include <stdio.h>

/* What each type's metadata and cells look like. */
enum shape {
    SHAPE_UNKNOWN = 0,
    SHAPE_FIXED,   /* no metadata */
    SHAPE_LENGTH,  /* one byte: bytes of the number, or of the length prefix */
    SHAPE_FSP,     /* one byte: fraction digits */
    SHAPE_DECIMAL, /* precision, scale */
    SHAPE_VARCHAR, /* the most bytes, 16 bits */
    SHAPE_STRING,  /* type and length, folded into each other */
    SHAPE_BIT,     /* bits, bytes */
};

static const struct {
    const char *name;
    enum shape shape;
    bool numeric;
    bool text;         /* has a character set for both vendors */
    bool mysql_text;   /* for MySQL alone */
    bool mariadb_text; /* for MariaDB alone */
    enum column_type column;
} types[256] = {
    [WIRE_TINY] = {"TINY", SHAPE_FIXED, true, .column = COLUMN_TINYINT},
    [WIRE_SHORT] = {"SHORT", SHAPE_FIXED, true, .column = COLUMN_SMALLINT},
    [WIRE_LONG] = {"LONG", SHAPE_FIXED, true, .column = COLUMN_INT},
    [WIRE_FLOAT] = {"FLOAT", SHAPE_LENGTH, true, .column = COLUMN_FLOAT},
    [WIRE_DOUBLE] = {"DOUBLE", SHAPE_LENGTH, true, .column = COLUMN_DOUBLE},
    [WIRE_TIMESTAMP] = {"TIMESTAMP", SHAPE_FIXED, .column = COLUMN_TIMESTAMP},
    [WIRE_LONGLONG] = {"LONGLONG", SHAPE_FIXED, true, .column = COLUMN_BIGINT},
    [WIRE_INT24] = {"INT24", SHAPE_FIXED, true, .column = COLUMN_MEDIUMINT},
    [WIRE_DATE] = {"DATE", SHAPE_FIXED, .column = COLUMN_DATE},
    [WIRE_TIME] = {"TIME", SHAPE_FIXED, .column = COLUMN_TIME},
    [WIRE_DATETIME] = {"DATETIME", SHAPE_FIXED, .column = COLUMN_DATETIME},
    [WIRE_YEAR] = {"YEAR", SHAPE_FIXED, true, .column = COLUMN_YEAR},
    [WIRE_NEWDATE] = {"NEWDATE", SHAPE_FIXED, .column = COLUMN_DATE},
    [WIRE_VARCHAR] = {"VARCHAR", SHAPE_VARCHAR, .text = true, .column = COLUMN_VARCHAR},
    [WIRE_BIT] = {"BIT", SHAPE_BIT, .column = COLUMN_BIT},
    [WIRE_TIMESTAMP2] = {"TIMESTAMP2", SHAPE_FSP, .column = COLUMN_TIMESTAMP},
    [WIRE_DATETIME2] = {"DATETIME2", SHAPE_FSP, .column = COLUMN_DATETIME},
    [WIRE_TIME2] = {"TIME2", SHAPE_FSP, .column = COLUMN_TIME},
    [WIRE_BLOB_COMPRESSED] = {"BLOB_COMPRESSED", SHAPE_LENGTH, .text = true,
                              .column = COLUMN_TEXT},
    [WIRE_VARCHAR_COMPRESSED] = {"VARCHAR_COMPRESSED", SHAPE_VARCHAR, .text = true,
                                 .column = COLUMN_VARCHAR},
    [WIRE_VECTOR] = {"VECTOR", SHAPE_LENGTH, .mysql_text = true, .column = COLUMN_VECTOR},
    [WIRE_JSON] = {"JSON", SHAPE_LENGTH, .column = COLUMN_JSON},
    [WIRE_NEWDECIMAL] = {"NEWDECIMAL", SHAPE_DECIMAL, true, .column = COLUMN_DECIMAL},
    [WIRE_ENUM] = {"ENUM", SHAPE_STRING, .column = COLUMN_ENUM},
    [WIRE_SET] = {"SET", SHAPE_STRING, .column = COLUMN_SET},
    [WIRE_TINY_BLOB] = {"TINY_BLOB", SHAPE_LENGTH, .text = true, .column = COLUMN_TEXT},
    [WIRE_MEDIUM_BLOB] = {"MEDIUM_BLOB", SHAPE_LENGTH, .text = true, .column = COLUMN_TEXT},
    [WIRE_LONG_BLOB] = {"LONG_BLOB", SHAPE_LENGTH, .text = true, .column = COLUMN_TEXT},
    [WIRE_BLOB] = {"BLOB", SHAPE_LENGTH, .text = true, .column = COLUMN_TEXT},
    [WIRE_VAR_STRING] = {"VAR_STRING", SHAPE_VARCHAR, .text = true, .column = COLUMN_VARCHAR},
    [WIRE_STRING] = {"STRING", SHAPE_STRING, .text = true, .column = COLUMN_CHAR},
    [WIRE_GEOMETRY] = {"GEOMETRY", SHAPE_LENGTH, .mariadb_text = true,
                       .column = COLUMN_GEOMETRY},
    [WIRE_TYPED_ARRAY] = {.name = "TYPED_ARRAY", .shape = SHAPE_UNKNOWN},
    [WIRE_DECIMAL] = {.name = "DECIMAL", .shape = SHAPE_UNKNOWN},
};

const char *wire_type_name(uint8_t type)
{
    return types[type].name != NULL ? types[type].name : "unknown";
}

bool wire_is_numeric(const struct wire_column *w)
{
    return types[w->type].numeric && !w->array;
}

bool wire_has_charset(const struct wire_column *w, bool mariadb)
{
    return !w->array && (types[w->type].text ||
                         (mariadb ? types[w->type].mariadb_text : types[w->type].mysql_text));
}

/* CHAR, BINARY, ENUM or SET: lengths above 255 borrow two bits of the type. */
static void parse_string(struct cursor *c, struct wire_column *out)
{
    const uint8_t high = cursor_u8(c), low = cursor_u8(c);

    out->type = high | 0x30;
    out->length = low;
    if ((high & 0x30) != 0x30)
        out->length |= (uint32_t)((high & 0x30) ^ 0x30) << 4;
    if (out->type == WIRE_STRING)
        out->prefix = out->length < 256 ? 1 : 2;
}

bool wire_column_parse(uint8_t type, struct cursor *c, struct wire_column *out)
{
    *out = (struct wire_column){.type = type};
    if (type == WIRE_TYPED_ARRAY) {
        type = cursor_u8(c);
        out->type = type;
        out->array = true;
    }
    switch (types[type].shape) {
    case SHAPE_UNKNOWN: return false;
    case SHAPE_FIXED: break;
    case SHAPE_LENGTH:
        out->prefix = cursor_u8(c);
        out->length = UINT32_MAX;
        break;
    case SHAPE_FSP: out->fsp = cursor_u8(c); break;
    case SHAPE_DECIMAL:
        out->precision = cursor_u8(c);
        out->scale = cursor_u8(c);
        break;
    case SHAPE_VARCHAR:
        out->length = (uint32_t)cursor_le(c, out->array ? 3 : 2);
        out->prefix = out->length < 256 ? 1 : 2;
        break;
    case SHAPE_STRING: parse_string(c, out); break;
    case SHAPE_BIT:
        out->bits = cursor_u8(c);
        out->length = cursor_u8(c) + (out->bits > 0);
        break;
    }
    return true;
}

static uint32_t char_size(const struct charset *cs)
{
    static const struct {
        struct str name;
        uint32_t size;
    } sizes[] = {
        {STR("utf8mb4"), 4}, {STR("utf8mb3"), 3}, {STR("utf16"), 4},   {STR("utf16le"), 4},
        {STR("utf32"), 4},   {STR("ucs2"), 2},    {STR("gb18030"), 4}, {STR("gbk"), 2},
        {STR("big5"), 2},    {STR("gb2312"), 2},  {STR("euckr"), 2},   {STR("sjis"), 2},
        {STR("cp932"), 2},   {STR("ujis"), 3},    {STR("eucjpms"), 3},
    };

    for (size_t i = 0; cs != NULL && i < ARRAY_LEN(sizes); i++)
        if (str_equal(charset_name(cs), sizes[i].name))
            return sizes[i].size;
    return 1;
}

static enum column_type binary_twin(enum column_type type)
{
    return type == COLUMN_CHAR      ? COLUMN_BINARY
           : type == COLUMN_VARCHAR ? COLUMN_VARBINARY
           : type == COLUMN_TEXT    ? COLUMN_BLOB
                                    : type;
}

static void print_type(const struct column *c, struct buf *b)
{
    static const char *const names[] = {
        [COLUMN_UNKNOWN] = "",
        [COLUMN_TINYINT] = "tinyint",
        [COLUMN_SMALLINT] = "smallint",
        [COLUMN_MEDIUMINT] = "mediumint",
        [COLUMN_INT] = "int",
        [COLUMN_BIGINT] = "bigint",
        [COLUMN_DECIMAL] = "decimal",
        [COLUMN_FLOAT] = "float",
        [COLUMN_DOUBLE] = "double",
        [COLUMN_BIT] = "bit",
        [COLUMN_YEAR] = "year",
        [COLUMN_DATE] = "date",
        [COLUMN_TIME] = "time",
        [COLUMN_DATETIME] = "datetime",
        [COLUMN_TIMESTAMP] = "timestamp",
        [COLUMN_CHAR] = "char",
        [COLUMN_VARCHAR] = "varchar",
        [COLUMN_BINARY] = "binary",
        [COLUMN_VARBINARY] = "varbinary",
        [COLUMN_TEXT] = "text",
        [COLUMN_BLOB] = "blob",
        [COLUMN_ENUM] = "enum",
        [COLUMN_SET] = "set",
        [COLUMN_JSON] = "json",
        [COLUMN_POINT] = "point",
        [COLUMN_GEOMETRY] = "geometry",
        [COLUMN_UUID] = "uuid",
        [COLUMN_INET4] = "inet4",
        [COLUMN_INET6] = "inet6",
        [COLUMN_VECTOR] = "vector",
    };

    buf_append(b, str_from(names[c->type]));
    if (c->type == COLUMN_DECIMAL)
        buf_printf(b, "(%u,%u)", c->precision, c->scale);
    else if (c->fsp > 0)
        buf_printf(b, "(%u)", c->fsp);
    else if (c->type == COLUMN_CHAR || c->type == COLUMN_VARCHAR || c->type == COLUMN_BINARY ||
             c->type == COLUMN_VARBINARY || c->type == COLUMN_BIT)
        buf_printf(b, "(%" PRIu32 ")", c->length);
}

void wire_column_guess(const struct wire_column *w, uint32_t collation, struct arena *a,
                       struct column *out)
{
    const struct charset *cs = charset_of_collation(collation);
    struct buf text = {0};

    *out = (struct column){.type = w->array ? COLUMN_UNKNOWN : types[w->type].column};
    out->compressed = w->type == WIRE_BLOB_COMPRESSED || w->type == WIRE_VARCHAR_COMPRESSED;
    out->fsp = w->fsp;
    out->precision = w->precision;
    out->scale = w->scale;
    if (cs != NULL && charset_is_binary(cs))
        out->type = binary_twin(out->type);
    if (out->type == COLUMN_BIT)
        out->length = w->bits > 0 ? (w->length - 1) * 8 + w->bits : w->length * 8;
    else if (w->length != UINT32_MAX)
        out->length = w->length / char_size(cs);
    if (cs != NULL && types[w->type].text)
        out->charset = charset_name(cs);
    print_type(out, &text);
    out->type_text = arena_copy(a, buf_str(&text));
    buf_free(&text);
}

/* The wire types that a column's type can have. */
static bool type_fits(uint8_t wire, enum column_type type)
{
    const enum column_type usual = types[wire].column;

    if (usual == type || binary_twin(usual) == type)
        return true;
    switch (type) {
    case COLUMN_CHAR:
    case COLUMN_BINARY:
    case COLUMN_VARCHAR:
    case COLUMN_VARBINARY: return wire == WIRE_STRING || usual == COLUMN_VARCHAR;
    case COLUMN_JSON: return usual == COLUMN_TEXT;
    case COLUMN_POINT: return wire == WIRE_GEOMETRY;
    case COLUMN_UUID:
    case COLUMN_INET4:
    case COLUMN_INET6: return wire == WIRE_STRING;
    case COLUMN_VECTOR: return wire == WIRE_VARCHAR;
    case COLUMN_UNKNOWN:
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT:
    case COLUMN_DECIMAL:
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE:
    case COLUMN_BIT:
    case COLUMN_YEAR:
    case COLUMN_DATE:
    case COLUMN_TIME:
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP:
    case COLUMN_TEXT:
    case COLUMN_BLOB:
    case COLUMN_ENUM:
    case COLUMN_SET:
    case COLUMN_GEOMETRY: return false;
    }
    return false;
}

bool wire_column_fits(const struct wire_column *w, const struct column *column)
{
    struct wire_column enumeration = {.length = column->n_labels < 256 ? 1 : 2};

    if (w->array || !type_fits(w->type, column->type))
        return false;
    switch (types[w->type].shape) {
    case SHAPE_FSP: return w->fsp == column->fsp;
    case SHAPE_DECIMAL: return w->precision == column->precision && w->scale == column->scale;
    case SHAPE_BIT: return w->length == (column->length + 7) / 8;
    case SHAPE_STRING:
        if (w->type == WIRE_ENUM)
            return column->n_labels == 0 || w->length == enumeration.length;
        if (w->type == WIRE_SET) {
            const size_t bytes = (column->n_labels + 7) / 8;

            return column->n_labels == 0 || w->length == (bytes > 4 ? 8 : bytes);
        }
        if (column->type == COLUMN_UUID || column->type == COLUMN_INET6)
            return w->length == 16;
        return column->type != COLUMN_INET4 || w->length == 4;
    case SHAPE_UNKNOWN:
    case SHAPE_FIXED:
    case SHAPE_LENGTH:
    case SHAPE_VARCHAR: return true;
    }
    return true;
}
