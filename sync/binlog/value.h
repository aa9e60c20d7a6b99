/*
 * struct value: one column value, wherever it came from.
 *
 * A binlog cell and a text from SELECT become the same struct value, so that a document built
 * from a row image and one built by re-reading are equal byte for byte.  Text is UTF-8.
 * Borrowed bytes live as long as the arena or packet named by whoever made the value.
 */
#ifndef SYNC_BINLOG_VALUE_H
#define SYNC_BINLOG_VALUE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum value_kind {
    VALUE_ABSENT = 0, /* the column is not in this (partial) row image */
    VALUE_NULL,
    VALUE_INT,      /* i */
    VALUE_UINT,     /* u */
    VALUE_FLOAT,    /* d, exactly a float */
    VALUE_DOUBLE,   /* d */
    VALUE_DECIMAL,  /* s: exact decimal text, as the server prints it */
    VALUE_TEXT,     /* s: UTF-8; UUID, INET4 and INET6 are their usual text */
    VALUE_BYTES,    /* s: raw bytes */
    VALUE_DATE,     /* s: YYYY-MM-DD, may be zero or partial */
    VALUE_DATETIME, /* s: YYYY-MM-DDTHH:MM:SS[.f], may be zero or partial */
    VALUE_TIMESTAMP,/* s: the same, in UTC and without the Z */
    VALUE_TIME,     /* s: [-]HH:MM:SS[.f] */
    VALUE_YEAR,     /* u: 0 or 1901 to 2155 */
    VALUE_BIT,      /* u */
    VALUE_ENUM,     /* u: index from 1, 0 the error value; s: label, ptr NULL when not known */
    VALUE_SET,      /* u: members as bits; s: labels joined by ',', ptr NULL when not known */
    VALUE_JSON,     /* s: JSON text */
    VALUE_GEOMETRY, /* s: SRID as 4 bytes little-endian, then WKB */
    VALUE_VECTOR,   /* s: little-endian 32-bit floats */
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

/* Whether both say the same, to the last bit of a float. */
bool value_same(const struct value *a, const struct value *b);

#endif
