/*
 * struct buf: an owned, growable byte buffer.
 *
 * Zero-initialise it (struct buf b = {0}) and release it with buf_free(). A NUL, which len does
 * not count, always follows the bytes, so you can pass b.ptr to C string functions once you
 * have appended anything.
 */
#ifndef SRC_BASE_BUF_H
#define SRC_BASE_BUF_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
};

/* The slow path of buf_reserve(). */
void buf_grow(struct buf *b, size_t n) COLD;

/* Makes room for n more bytes and the NUL. Does not change len. */
static inline void buf_reserve(struct buf *b, size_t n)
{
    if (UNLIKELY(b->cap - b->len <= n))
        buf_grow(b, n);
}

static inline void buf_append(struct buf *b, struct str s)
{
    buf_reserve(b, s.len);
    if (s.len > 0)
        memcpy(b->ptr + b->len, s.ptr, s.len);
    b->len += s.len;
    b->ptr[b->len] = '\0';
}

static inline void buf_append_char(struct buf *b, char c)
{
    buf_reserve(b, 1);
    b->ptr[b->len++] = c;
    b->ptr[b->len] = '\0';
}

/* Appends v in decimal. */
void buf_append_u64(struct buf *b, uint64_t v);
void buf_append_i64(struct buf *b, int64_t v);

void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

/*
 * Appends s as a quoted JSON string. Accepts any bytes: replaces invalid UTF-8 by U+FFFD and
 * escapes control characters, including line feeds, so the result never breaks a line.
 */
void buf_append_json(struct buf *b, struct str s);

/* Appends s as one word of a shell command, in single quotes where needed. */
void buf_append_word(struct buf *b, struct str s);

/* Appends bytes as lower-case hexadecimal. */
void buf_append_hex(struct buf *b, struct str bytes);
/* Append the bytes that such digits stand for. Returns false if they are none. */
bool buf_append_unhex(struct buf *b, struct str hex) MUST_CHECK;

/* Drops the first n bytes and moves the rest to the front. */
void buf_drop(struct buf *b, size_t n);

/* Drops the contents, keeps the memory. */
void buf_clear(struct buf *b);

/* Releases the memory and returns b to the zero state. */
void buf_free(struct buf *b);

/* Returns the current contents, valid until the next call that changes b. */
static inline struct str buf_str(const struct buf *b)
{
    return (struct str){b->ptr, b->len};
}

#endif
