#include "config.h"

#include "sync/document/cell.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/mysql/mysql.h"
#include "sync/value/schema.h"

#include <stdlib.h>

void cell_append_select(struct buf *sql, struct str alias, const struct column *c)
{
    mysql_quote_name(sql, alias);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, c->name);
    if (c->type == COLUMN_FLOAT || c->type == COLUMN_DOUBLE)
        buf_append(sql, STR("+0e0"));
}

/* Parse digits, also those of ZEROFILL columns. */
static uint64_t parse_digits(struct str text)
{
    uint64_t u = 0;

    for (size_t i = 0; i < text.len; i++)
        u = u * 10 + (uint64_t)(text.ptr[i] - '0');
    return u;
}

static struct value integer(const struct column *c, struct str cell)
{
    if (c->is_unsigned)
        return (struct value){.kind = VALUE_UINT, .u = parse_digits(cell)};
    bool minus = cell.len > 0 && cell.ptr[0] == '-';
    uint64_t u = parse_digits((struct str){cell.ptr + minus, cell.len - minus});

    return (struct value){.kind = VALUE_INT, .i = (int64_t)(minus ? 0 - u : u)};
}

/* Strip the leading zeros of ZEROFILL, which the row image lacks. */
static struct str without_zeros(struct str text)
{
    while (text.len > 1 && text.ptr[0] == '0' && text.ptr[1] != '.') {
        text.ptr++;
        text.len--;
    }
    return text;
}

static struct value real(const struct column *c, struct str cell)
{
    char text[512];
    size_t len = cell.len < sizeof(text) - 1 ? cell.len : sizeof(text) - 1;

    memcpy(text, cell.ptr, len);
    text[len] = '\0';
    double d = strtod(text, NULL);

    if (c->type == COLUMN_FLOAT)
        return (struct value){.kind = VALUE_FLOAT, .d = (double)(float)d};
    return (struct value){.kind = VALUE_DOUBLE, .d = d};
}

static struct value year(struct str cell)
{
    uint64_t u = parse_digits(cell);

    if (cell.len == 2)
        u += u < 70 ? 2000 : 1900;
    return (struct value){.kind = VALUE_YEAR, .u = u};
}

static struct value bits(struct str cell)
{
    size_t len = cell.len < 8 ? cell.len : 8;

    return (struct value){.kind = VALUE_BIT, .u = load_be(cell.ptr, (unsigned)len)};
}

static struct value text(enum value_kind kind, struct str cell)
{
    return (struct value){.kind = kind, .s = cell};
}

struct value cell_value(const struct column *c, struct str cell)
{
    if (cell.ptr == NULL)
        return (struct value){.kind = VALUE_NULL};
    switch (c->type) {
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT: return integer(c, cell);
    case COLUMN_DECIMAL: return text(VALUE_DECIMAL, without_zeros(cell));
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE: return real(c, cell);
    case COLUMN_BIT: return bits(cell);
    case COLUMN_YEAR: return year(cell);
    case COLUMN_DATE: return text(VALUE_DATE, cell);
    case COLUMN_TIME: return text(VALUE_TIME, cell);
    case COLUMN_DATETIME: return text(VALUE_DATETIME, cell);
    case COLUMN_TIMESTAMP: return text(VALUE_TIMESTAMP, cell);
    case COLUMN_CHAR:
    case COLUMN_VARCHAR:
    case COLUMN_TEXT:
    case COLUMN_UUID:
    case COLUMN_INET4:
    case COLUMN_INET6: return text(VALUE_TEXT, cell);
    case COLUMN_ENUM: return text(VALUE_ENUM, cell);
    case COLUMN_SET: return text(VALUE_SET, cell);
    case COLUMN_JSON: return text(VALUE_JSON, cell);
    case COLUMN_POINT:
    case COLUMN_GEOMETRY: return text(VALUE_GEOMETRY, cell);
    case COLUMN_VECTOR: return text(VALUE_VECTOR, cell);
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_BLOB:
    case COLUMN_UNKNOWN: return text(VALUE_BYTES, cell);
    }
    return text(VALUE_BYTES, cell);
}
