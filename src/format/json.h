/*
 * JSON without a tree: a writer that places the commas, and a reader that pulls values out of a
 * text.
 *
 * Numbers stay text in both directions, so integers above 2^53 and decimals are exact. The
 * reader copies nothing: its results point into the text. It validates everything that it
 * passes (RFC 8259, with valid UTF-8 and bounded depth), including what it skips. The first
 * fault ends all reading and is kept with its byte offset.
 */
#ifndef SRC_FORMAT_JSON_H
#define SRC_FORMAT_JSON_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 128

/*
 * The writer. Begin with {.out = &buf}. The caller opens and closes in the right order and
 * gives every member of an object a key.
 */
struct json_writer {
    struct buf *out;
    bool comma; /* a comma is due before the next key or element */
};

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);
void json_write_key(struct json_writer *w, struct str key);

void json_write_string(struct json_writer *w, struct str v);
void json_write_raw(struct json_writer *w,
                    struct str v); /* v is valid JSON, such as a number */
void json_write_u64(struct json_writer *w, uint64_t v);
void json_write_i64(struct json_writer *w, int64_t v);
/* The shortest form; null if v is not finite. */
void json_write_double(struct json_writer *w, double v);
void json_write_null(struct json_writer *w);

/* These write a key and its value. */
void json_put_string(struct json_writer *w, struct str key, struct str v);
void json_put_cstr(struct json_writer *w, struct str key, const char *v); /* NULL: null */
void json_put_raw(struct json_writer *w, struct str key, struct str v);
void json_put_u64(struct json_writer *w, struct str key, uint64_t v);
void json_put_u64_text(struct json_writer *w, struct str key, uint64_t v); /* "7" */
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
 * The next step skips a value that was not read. Reading a value of another type is a fault;
 * where several types are allowed, ask json_peek(). Strings and keys are returned raw, as they
 * stand between the quotes, with their escapes.
 */
struct json_reader {
    struct str text;
    size_t pos;
    const char *fault; /* NULL if none */
    size_t fault_pos;
    uint64_t is_object[JSON_DEPTH_MAX / 64]; /* a bit per open level */
    unsigned depth;
    bool first;      /* nothing of the innermost level has been passed yet */
    bool pending;    /* a value was announced here and not yet read */
    bool has_escape; /* the string or key that was passed last holds an escape */
};

void json_reader_init(struct json_reader *r, struct str text);

/* Returns true if no fault occurred and only white space follows. Otherwise ERR_REJECT. */
bool json_reader_finish(struct json_reader *r, struct err *err) MUST_CHECK;
/* Returns true while no fault has occurred. */
bool json_reader_ok(const struct json_reader *r);
/* Reports a fault of the caller's own at the next value; reason is a literal. */
void json_reader_fail(struct json_reader *r, const char *reason);

enum json_type json_peek(struct json_reader *r);

bool json_enter_object(struct json_reader *r);
/* Reads the next member's key. At the end of the object, steps behind it and returns false. */
bool json_next_member(struct json_reader *r, struct str *raw_key);
bool json_enter_array(struct json_reader *r);
/* Returns true if another element follows. At the end of the array, steps behind it and returns
 * false. */
bool json_next_element(struct json_reader *r);
/* Skips the rest of the innermost object or array. */
bool json_leave(struct json_reader *r);

bool json_skip(struct json_reader *r);
/* Returns the whole value as text, whatever its type. */
bool json_read_raw(struct json_reader *r, struct str *raw);
bool json_read_string(struct json_reader *r, struct str *raw);
bool json_read_number(struct json_reader *r, struct str *text);
bool json_read_u64(struct json_reader *r,
                   uint64_t *v); /* a fault unless it is an integer in range */
bool json_read_bool(struct json_reader *r, bool *v);
bool json_read_null(struct json_reader *r);
/* Appends the unescaped text of a string. */
bool json_read_text(struct json_reader *r, struct buf *out);

/* Appends the unescaped text of a raw string. A lone surrogate becomes U+FFFD. */
void json_unescape(struct buf *out, struct str raw);
/* Compares the unescaped raw string with plain. */
bool json_string_equal(struct str raw, struct str plain);

bool json_valid(struct str text, struct err *err) MUST_CHECK;
/* Counts the elements of an array, up to a fault. Returns 0 if text is not an array. */
size_t json_count_elements(struct str text);
/* Appends text without insignificant white space. Returns false and appends nothing if text is
 * not valid. */
bool json_compact(struct buf *out, struct str text) MUST_CHECK;

/*
 * Finds a value by its JSON pointer (RFC 6901: "/version/number", "/items/0"; "" is the whole
 * text). Returns false if the value is absent or the text is broken before it. json_find()
 * returns a string with its quotes.
 */
bool json_find(struct str text, const char *pointer, struct str *raw);
bool json_find_text(struct str text, const char *pointer, struct buf *out);
bool json_find_u64(struct str text, const char *pointer, uint64_t *v);
bool json_find_bool(struct str text, const char *pointer, bool *v);

#endif
