#include "config.h"

#include "sync/decode/cell_plan.h"

#include "sync/decode/wire.h"
#include "sync/value/charset.h"
#include "sync/value/decimal.h"
#include "sync/value/schema.h"
#include "sync/value/temporal.h"

#include <arpa/inet.h>

static bool plan_integer(const struct wire_column *wire, const struct column *column,
                         struct column_plan *out)
{
    static const struct {
        uint8_t wire, code, size;
    } integers[] = {
        {WIRE_TINY, CELL_I8, 1},  {WIRE_SHORT, CELL_I16, 2},    {WIRE_INT24, CELL_I24, 3},
        {WIRE_LONG, CELL_I32, 4}, {WIRE_LONGLONG, CELL_I64, 8},
    };

    for (size_t i = 0; i < ARRAY_LEN(integers); i++)
        if (integers[i].wire == wire->type) {
            out->code = (uint8_t)(integers[i].code + column->is_unsigned);
            out->size = integers[i].size;
            return true;
        }
    return false;
}

/* The old types have no metadata: only the schema knows MariaDB's fraction digits. */
static bool plan_old_temporal(const struct wire_column *wire, const struct column *column,
                              struct column_plan *out)
{
    static const struct {
        uint8_t wire, code, hires_code, size;
        size_t (*hires_size)(unsigned fsp);
    } temporals[] = {
        {WIRE_TIMESTAMP, CELL_OLD_TIMESTAMP, CELL_HIRES_TIMESTAMP, 4,
         temporal_hires_timestamp_size},
        {WIRE_DATETIME, CELL_OLD_DATETIME, CELL_HIRES_DATETIME, 8,
         temporal_hires_datetime_size},
        {WIRE_TIME, CELL_OLD_TIME, CELL_HIRES_TIME, 3, temporal_hires_time_size},
    };

    for (size_t i = 0; i < ARRAY_LEN(temporals); i++) {
        if (temporals[i].wire != wire->type)
            continue;
        out->fsp = column->fsp <= 6 ? column->fsp : 0;
        out->code = out->fsp > 0 ? temporals[i].hires_code : temporals[i].code;
        out->size =
            out->fsp > 0 ? (uint8_t)temporals[i].hires_size(out->fsp) : temporals[i].size;
        return true;
    }
    return false;
}

static bool plan_temporal(const struct wire_column *wire, struct column_plan *out)
{
    const size_t fraction = temporal_fraction_size(wire->fsp);

    if (wire->fsp > 6)
        return false;
    out->fsp = wire->fsp;
    out->code = wire->type == WIRE_TIMESTAMP2  ? CELL_TIMESTAMP2
                : wire->type == WIRE_DATETIME2 ? CELL_DATETIME2
                                               : CELL_TIME2;
    out->size = (uint8_t)(fraction + (wire->type == WIRE_TIMESTAMP2  ? 4
                                      : wire->type == WIRE_DATETIME2 ? 5
                                                                     : 3));
    return true;
}

static bool plan_decimal(const struct wire_column *wire, struct column_plan *out)
{
    if (wire->precision == 0 || wire->precision > DECIMAL_PRECISION_MAX ||
        wire->scale > wire->precision || wire->scale > DECIMAL_SCALE_MAX)
        return false;
    out->code = CELL_DECIMAL;
    out->precision = wire->precision;
    out->scale = wire->scale;
    out->size = (uint8_t)decimal_size(wire->precision, wire->scale);
    return true;
}

/* Plan for bytes in a character set. */
static void plan_text(const struct column *column, struct column_plan *out)
{
    const struct charset *cs = charset_find(column->charset);

    if (cs == NULL) {
        out->code = CELL_GUESS;
    } else if (charset_is_binary(cs)) {
        out->code = CELL_BYTES;
    } else if (charset_is_utf8_based(cs)) {
        out->code = CELL_UTF8;
    } else {
        out->code = CELL_TEXT;
        out->charset = cs;
    }
}

static bool plan_string(const struct wire_column *wire, const struct column *column,
                        struct column_plan *out)
{
    static const uint8_t codes[] = {
        [COLUMN_BINARY] = CELL_BINARY,  [COLUMN_VARBINARY] = CELL_BYTES,
        [COLUMN_BLOB] = CELL_BYTES,     [COLUMN_JSON] = CELL_JSON_TEXT,
        [COLUMN_UUID] = CELL_UUID,      [COLUMN_INET4] = CELL_INET4,
        [COLUMN_INET6] = CELL_INET6,    [COLUMN_VECTOR] = CELL_VECTOR,
        [COLUMN_POINT] = CELL_GEOMETRY, [COLUMN_GEOMETRY] = CELL_GEOMETRY,
    };

    if (wire->prefix < 1 || wire->prefix > 4)
        return false;
    out->size = wire->prefix;
    out->length = wire->length;
    out->compressed =
        wire->type == WIRE_BLOB_COMPRESSED || wire->type == WIRE_VARCHAR_COMPRESSED;
    if (wire->type == WIRE_JSON)
        out->code = CELL_JSONB;
    else if (column->type == COLUMN_BINARY && wire->type != WIRE_STRING)
        out->code = CELL_BYTES;
    else if ((size_t)column->type < ARRAY_LEN(codes) && codes[column->type] != CELL_UNKNOWN)
        out->code = codes[column->type];
    else
        plan_text(column, out);
    return out->code < CELL_UUID || wire->type == WIRE_STRING;
}

/* ENUM, SET and BIT: integers of a given size. */
static bool plan_bits(const struct wire_column *wire, const struct column *column,
                      struct column_plan *out)
{
    const uint32_t max = wire->type == WIRE_ENUM ? 2 : 8;

    if (wire->length < 1 || wire->length > max)
        return false;
    out->code = wire->type == WIRE_ENUM  ? CELL_ENUM
                : wire->type == WIRE_SET ? CELL_SET
                                         : CELL_BIT;
    out->size = (uint8_t)wire->length;
    if (wire->type == WIRE_SET && column->n_labels > 64)
        return true; /* damaged; numbers will do */
    out->labels = column->labels;
    out->n_labels = column->labels != NULL ? column->n_labels : 0;
    return true;
}

static bool plan_fixed(uint8_t code, uint8_t size, struct column_plan *out)
{
    out->code = code;
    out->size = size;
    return true;
}

static bool plan_type(const struct wire_column *wire, const struct column *column,
                      struct column_plan *out)
{
    if (wire->array)
        return false;
    switch (wire->type) {
    case WIRE_FLOAT: return plan_fixed(CELL_FLOAT, 4, out) && wire->prefix == 4;
    case WIRE_DOUBLE: return plan_fixed(CELL_DOUBLE, 8, out) && wire->prefix == 8;
    case WIRE_YEAR: return plan_fixed(CELL_YEAR, 1, out);
    case WIRE_DATE:
    case WIRE_NEWDATE: return plan_fixed(CELL_DATE, 3, out);
    case WIRE_TIMESTAMP:
    case WIRE_DATETIME:
    case WIRE_TIME: return plan_old_temporal(wire, column, out);
    case WIRE_TIMESTAMP2:
    case WIRE_DATETIME2:
    case WIRE_TIME2: return plan_temporal(wire, out);
    case WIRE_NEWDECIMAL: return plan_decimal(wire, out);
    case WIRE_ENUM:
    case WIRE_SET:
    case WIRE_BIT: return plan_bits(wire, column, out);
    default: return plan_integer(wire, column, out) || plan_string(wire, column, out);
    }
}

/* The room that a cell may need for its text, not counting what it allocates from the arena. */
static size_t text_max_of(const struct column_plan *plan)
{
    size_t len = 0;

    switch (plan->code) {
    case CELL_DECIMAL: return DECIMAL_MAX;
    case CELL_DATE:
    case CELL_DATETIME2:
    case CELL_TIMESTAMP2:
    case CELL_TIME2:
    case CELL_OLD_DATETIME:
    case CELL_OLD_TIMESTAMP:
    case CELL_OLD_TIME:
    case CELL_HIRES_DATETIME:
    case CELL_HIRES_TIMESTAMP:
    case CELL_HIRES_TIME: return TEMPORAL_MAX;
    case CELL_UUID: return 36;
    case CELL_INET4:
    case CELL_INET6: return INET6_ADDRSTRLEN;
    case CELL_SET:
        for (size_t i = 0; i < plan->n_labels; i++)
            len += plan->labels[i].len + 1;
        return len;
    default: return 0;
    }
}

bool cell_plan_type(const struct wire_column *wire, const struct column *column,
                    struct column_plan *out)
{
    *out = (struct column_plan){0};
    if (!plan_type(wire, column, out))
        return false;
    out->text_max = text_max_of(out);
    return true;
}
