/*
 * struct value: one column value from any origin.
 *
 * A binlog cell and the text of a SELECT give the same struct value, so a document built from a
 * row image equals a re-read one byte for byte.  Text is UTF-8.  The maker of a value says
 * which arena or packet its borrowed bytes live in.
 */
#ifndef SYNC_VALUE_VALUE_H
#define SYNC_VALUE_VALUE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum value_kind {
    VALUE_ABSENT = 0, /* this (partial) row image lacks the column */
    VALUE_NULL,
    VALUE_INT,       /* i */
    VALUE_UINT,      /* u */
    VALUE_FLOAT,     /* d, exactly representable as float */
    VALUE_DOUBLE,    /* d */
    VALUE_DECIMAL,   /* s: exact decimal text, as the server prints it */
    VALUE_TEXT,      /* s: UTF-8; UUID, INET4 and INET6 in their usual text form */
    VALUE_BYTES,     /* s: raw bytes */
    VALUE_DATE,      /* s: YYYY-MM-DD; may be zero or partial */
    VALUE_DATETIME,  /* s: YYYY-MM-DDTHH:MM:SS[.f]; may be zero or partial */
    VALUE_TIMESTAMP, /* s: the same, in UTC without the Z */
    VALUE_TIME,      /* s: [-]HH:MM:SS[.f] */
    VALUE_YEAR,      /* u: 0 or 1901 to 2155 */
    VALUE_BIT,       /* u */
    VALUE_ENUM,      /* u: index from 1, 0 for the error value; s: label, ptr NULL if unknown */
    VALUE_SET,       /* u: members as bits; s: labels joined by ',', ptr NULL if unknown */
    VALUE_JSON,      /* s: JSON text */
    VALUE_GEOMETRY,  /* s: SRID as 4 bytes little-endian, then WKB */
    VALUE_VECTOR,    /* s: little-endian 32-bit floats */
};

struct value {
    enum value_kind kind;
    union {
        int64_t i;
        uint64_t u;
        double d;
    };
    struct str s;
};

/* Tell whether both are equal, to the last bit of a float. */
bool value_same(const struct value *a, const struct value *b);

#endif
