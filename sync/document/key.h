/*
 * A key: the values of some columns of a row, kept exactly.
 *
 * Encoded as each part's length (32 bits, little-endian) and its text.  Equal keys of the same
 * columns have equal bytes.  The text is the one that `_id` shows, but for bytes, which are raw
 * here and hexadecimal there, and TIMESTAMP, which has its Z only there.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_KEY_H
#define SYNC_DOCUMENT_KEY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* What the search engine takes as an _id, in bytes. */
#define KEY_ID_MAX 512

struct buf;
struct column;
struct value;

/* How a column's values are compared, and so what it can be joined to. */
enum key_class {
    KEY_NONE = 0, /* neither key nor join column: JSON, GEOMETRY, VECTOR */
    KEY_NUMBER,   /* integers, DECIMAL, BIT */
    KEY_REAL,     /* FLOAT, DOUBLE */
    KEY_YEAR,
    KEY_TEXT, /* also ENUM and SET: by their labels */
    KEY_BYTES,
    KEY_DATE,
    KEY_DATETIME, /* also TIMESTAMP */
    KEY_TIME,
    KEY_UUID,
    KEY_INET4,
    KEY_INET6,
};

enum key_class key_class_of(const struct column *c);

/* TINYINT to BIGINT: equal texts are equal values, whatever the width and sign. */
bool key_is_integer(const struct column *c);

/* Append one part.  ERR_REJECT: NULL, absent, or not a value of this column's class. */
bool key_append(struct buf *key, const struct column *c, const struct value *v,
                struct err *err) MUST_CHECK;

/* Append one part as key_next() gave it. */
void key_append_part(struct buf *key, struct str part);

/* Take the first part off.  False at the end, and when the bytes are no key. */
bool key_next(struct str *key, struct str *part);

/* The text of `_id`.  ERR_REJECT: empty, above KEY_ID_MAX, or key has not n parts. */
bool key_append_id(struct buf *id, const struct column *const *columns, size_t n,
                   struct str key, struct err *err) MUST_CHECK;

/* The key of an `_id` that a person or the store names.  ERR_REJECT: it is not one. */
bool key_parse_id(struct buf *key, const struct column *const *columns, size_t n, struct str id,
                  struct err *err) MUST_CHECK;

/* A part of column c as a literal in SQL. */
void key_append_literal(struct buf *sql, const struct column *c, struct str part);

/*
 * ENUM and SET sort by number but compare as text: the number behind a part, for a cursor.
 * A label that the column does not have: 0.
 */
bool key_sorts_by_number(const struct column *c);
void key_append_sort_number(struct buf *sql, const struct column *c, struct str part);

#endif
