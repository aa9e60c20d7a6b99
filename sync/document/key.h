/*
 * A key: the exact values of some columns of a row.
 *
 * Encoded as length (32 bits, little-endian) and text of each part.  Equal keys of the same
 * columns have equal bytes.  The text equals that in `_id`, except that bytes are raw here and
 * hexadecimal there, and TIMESTAMP has its Z only there.
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
#include <stdint.h>

/* The longest _id that the search engine accepts, in bytes. */
#define KEY_ID_MAX 512

struct buf;
struct column;
struct value;

/* How a column's values compare, and so what it can join. */
enum key_class {
    KEY_NONE = 0, /* usable neither as key nor in joins: JSON, GEOMETRY, VECTOR */
    KEY_NUMBER,   /* integers, DECIMAL, BIT */
    KEY_REAL,     /* FLOAT, DOUBLE */
    KEY_YEAR,
    KEY_TEXT, /* also ENUM and SET, by their labels */
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

/* Append one part.  ERR_REJECT if v is NULL, absent, or not of the column's class. */
bool key_append(struct buf *key, const struct column *c, const struct value *v,
                struct err *err) MUST_CHECK;

/* Append one part obtained from key_next(). */
void key_append_part(struct buf *key, struct str part);

/* Remove the first part.  Returns false at the end, and if the bytes are no key. */
bool key_next(struct str *key, struct str *part);

/*
 * Append the text of `_id`.  ERR_REJECT if it is empty or longer than KEY_ID_MAX, or key does
 * not have n parts.
 */
bool key_append_id(struct buf *id, const struct column *const *columns, size_t n,
                   struct str key, struct err *err) MUST_CHECK;

/* Convert an `_id` from a user or the store to a key.  ERR_REJECT if it is malformed. */
bool key_parse_id(struct buf *key, const struct column *const *columns, size_t n, struct str id,
                  struct err *err) MUST_CHECK;

/*
 * Tell whether bytes from the store can be a part of column c: a number where it is one, else
 * text.
 */
bool key_part_fits(const struct column *c, struct str part);

/* Append a part of column c as an SQL literal. */
void key_append_literal(struct buf *sql, const struct column *c, struct str part);

/*
 * ENUM and SET sort by number but compare as text.  For cursors: the number of a part's label,
 * 0 if the column lacks it.
 */
bool key_sorts_by_number(const struct column *c);
uint64_t key_sort_number(const struct column *c, struct str part);

/*
 * Servers find a number of an ENUM in an index, and each of a list, but no range.  Returns the
 * column's largest number, or 0 if there are too many for a list, or it is a SET: MySQL finds
 * no number of these.
 */
#define KEY_LISTED_MAX 127
uint64_t key_listed_max(const struct column *c);

#endif
