/*
 * JSON without a tree: a writer that minds the commas, and a reader that pulls values out of a
 * text.
 *
 * Numbers stay text in both directions, so that integers above 2^53 and decimals are exact. The
 * reader copies nothing: what it hands out points into the text.  It checks everything that it
 * passes (RFC 8259, with valid UTF-8 and bounded depth), also what it skips; the first fault
 * ends all reading and is kept with its byte offset.
 */
#ifndef SRC_JSON_H
#define SRC_JSON_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 128

/*
 * The writer.  Begin with {.out = &buf}; the caller opens and closes in the right order and
 * gives every member of an object a key.
 */
struct json_writer {
    struct buf *out;
    bool comma; /* one is due before the next key or element */
};

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);
void json_write_key(struct json_writer *w, struct str key);

void json_write_string(struct json_writer *w, struct str v);
void json_write_raw(struct json_writer *w,
                    struct str v); /* valid JSON already, a number for one */
void json_write_u64(struct json_writer *w, uint64_t v);
void json_write_i64(struct json_writer *w, int64_t v);
void json_write_double(struct json_writer *w,
                       double v); /* shortest; null if there is no such number */
void json_write_bool(struct json_writer *w, bool v);
void json_write_null(struct json_writer *w);

/* A key and its value. */
void json_put_string(struct json_writer *w, struct str key, struct str v);
void json_put_cstr(struct json_writer *w, struct str key, const char *v); /* NULL: null */
void json_put_raw(struct json_writer *w, struct str key, struct str v);
void json_put_u64(struct json_writer *w, struct str key, uint64_t v);
void json_put_i64(struct json_writer *w, struct str key, int64_t v);
void json_put_double(struct json_writer *w, struct str key, double v);
void json_put_bool(struct json_writer *w, struct str key, bool v);
void json_put_null(struct json_writer *w, struct str key);

enum json_type {
    JSON_NONE = 0, /* no value here: a fault, or the end */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/*
 * The reader.
 *
 *     json_reader_init(&r, text);
 *     if (json_enter_object(&r))
 *         while (json_next_member(&r, &key))
 *             if (json_string_equal(key, STR("took")))
 *                 json_read_u64(&r, &took);
 *     return json_reader_finish(&r, err);
 *
 * A value that was not read is skipped by the next step.  A value of another type than asked
 * for is a fault; where several types are allowed, json_peek() tells.  Strings and keys are
 * handed out raw, as they stand between the quotes, with their escapes.
 */
struct json_reader {
    struct str text;
    size_t pos;
    const char *fault; /* NULL: none */
    size_t fault_pos;
    uint64_t is_object[JSON_DEPTH_MAX / 64]; /* a bit per open level */
    unsigned depth;
    bool first;   /* nothing of the innermost level was passed yet */
    bool pending; /* a value stands here that was announced and not read */
};

void json_reader_init(struct json_reader *r, struct str text);

/* True when all was well: no fault, and nothing but white space follows.  Else ERR_REJECT. */
bool json_reader_finish(struct json_reader *r, struct err *err) MUST_CHECK;
/* No fault so far. */
bool json_reader_ok(const struct json_reader *r);
/* Make a fault of the caller's own at the value that comes next; reason is a literal. */
void json_reader_fail(struct json_reader *r, const char *reason);

enum json_type json_peek(struct json_reader *r);

bool json_enter_object(struct json_reader *r);
/* The next member's key; at the end of the object false, and the reader stands behind it. */
bool json_next_member(struct json_reader *r, struct str *raw_key);
bool json_enter_array(struct json_reader *r);
/* There is a further element; at the end of the array false, and the reader stands behind it.
 */
bool json_next_element(struct json_reader *r);
/* Skip what is left of the innermost object or array. */
bool json_leave(struct json_reader *r);

bool json_skip(struct json_reader *r);
/* The whole value as text, whatever its type. */
bool json_read_raw(struct json_reader *r, struct str *raw);
bool json_read_string(struct json_reader *r, struct str *raw);
bool json_read_number(struct json_reader *r, struct str *text);
bool json_read_u64(struct json_reader *r, uint64_t *v); /* an integer in range, else a fault */
bool json_read_bool(struct json_reader *r, bool *v);
bool json_read_null(struct json_reader *r);
/* A string's text, appended. */
bool json_read_text(struct json_reader *r, struct buf *out);

/* Append what a raw string means.  A lone surrogate becomes U+FFFD. */
void json_unescape(struct buf *out, struct str raw);
/* Does the raw string mean plain? */
bool json_string_equal(struct str raw, struct str plain);

bool json_valid(struct str text, struct err *err) MUST_CHECK;
/* Of an array, up to a fault; 0: of none. */
size_t json_count_elements(struct str text);
/* Append text without the white space between its parts.  False: not valid, nothing appended. */
bool json_compact(struct buf *out, struct str text) MUST_CHECK;

/*
 * Find a value by its JSON pointer (RFC 6901: "/version/number", "/items/0"; "" is the whole
 * text). False: it is not there, or the text is broken before it.  A string is handed out with
 * its quotes.
 */
bool json_find(struct str text, const char *pointer, struct str *raw);
bool json_find_text(struct str text, const char *pointer, struct buf *out);
bool json_find_u64(struct str text, const char *pointer, uint64_t *v);
bool json_find_bool(struct str text, const char *pointer, bool *v);

#endif
