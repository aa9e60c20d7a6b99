/*
 * Columns as TABLE_MAP events encode them: a type number and a few bytes of metadata.
 */
#ifndef SYNC_DECODE_WIRE_H
#define SYNC_DECODE_WIRE_H

#include "src/base/base.h"
#include "src/base/cursor.h"
#include "src/base/str.h"
#include "sync/value/schema.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* The column types of TABLE_MAP. */
enum wire_type {
    WIRE_DECIMAL = 0,
    WIRE_TINY = 1,
    WIRE_SHORT = 2,
    WIRE_LONG = 3,
    WIRE_FLOAT = 4,
    WIRE_DOUBLE = 5,
    WIRE_NULL = 6,
    WIRE_TIMESTAMP = 7,
    WIRE_LONGLONG = 8,
    WIRE_INT24 = 9,
    WIRE_DATE = 10,
    WIRE_TIME = 11,
    WIRE_DATETIME = 12,
    WIRE_YEAR = 13,
    WIRE_NEWDATE = 14,
    WIRE_VARCHAR = 15,
    WIRE_BIT = 16,
    WIRE_TIMESTAMP2 = 17,
    WIRE_DATETIME2 = 18,
    WIRE_TIME2 = 19,
    WIRE_TYPED_ARRAY = 20,
    WIRE_BLOB_COMPRESSED = 140,    /* MariaDB */
    WIRE_VARCHAR_COMPRESSED = 141, /* MariaDB */
    WIRE_VECTOR = 242,             /* MySQL */
    WIRE_JSON = 245,
    WIRE_NEWDECIMAL = 246,
    WIRE_ENUM = 247,
    WIRE_SET = 248,
    WIRE_TINY_BLOB = 249,
    WIRE_MEDIUM_BLOB = 250,
    WIRE_LONG_BLOB = 251,
    WIRE_BLOB = 252,
    WIRE_VAR_STRING = 253,
    WIRE_STRING = 254,
    WIRE_GEOMETRY = 255,
};

/* One column without its optional metadata. */
struct wire_column {
    uint8_t type;      /* enum wire_type; ENUM and SET already told apart from STRING */
    uint8_t prefix;    /* bytes of the length before a cell's bytes; 0 if none */
    uint32_t length;   /* bytes: maximum for strings, exact for ENUM, SET and BIT */
    uint8_t bits;      /* BIT: bits used of the first byte, if not all */
    uint8_t precision; /* NEWDECIMAL */
    uint8_t scale;
    uint8_t fsp;
    bool array; /* a hidden column of a multi-valued index */
};

/* Read a column's metadata from c.  Returns false if the type is unknown. */
bool wire_column_parse(uint8_t type, struct cursor *c, struct wire_column *out) MUST_CHECK;

/* Tell whether SIGNEDNESS has a bit for the column. */
bool wire_is_numeric(const struct wire_column *w);
/* Tell whether the character set fields count the column; the vendors differ. */
bool wire_has_charset(const struct wire_column *w, bool mariadb);

/*
 * Describe the column without a schema. collation applies to its bytes, 0 if unknown; a holds
 * type_text.
 */
void wire_column_guess(const struct wire_column *w, uint32_t collation, struct arena *a,
                       struct column *out);

/* Tell whether a table with this column can have written such cells. */
bool wire_column_fits(const struct wire_column *w, const struct column *column);

/* "VARCHAR", "NEWDECIMAL" ... for messages. */
const char *wire_type_name(uint8_t type);

#endif
