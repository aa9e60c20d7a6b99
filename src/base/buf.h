/*
 * struct buf: an owned, growable byte buffer.
 *
 * Zero-initialise it (struct buf b = {0}) and release it with buf_free().  The
 * bytes are always followed by a NUL that len does not count, so b.ptr can be
 * handed to C string functions once anything has been appended.
 */
#ifndef SRC_BASE_BUF_H
#define SRC_BASE_BUF_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
};

/* What buf_reserve() does when there is no room. */
void buf_grow(struct buf *b, size_t n) COLD;

/* Make room for n more bytes (and the NUL) without changing len. */
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

/* Append in decimal. */
void buf_append_u64(struct buf *b, uint64_t v);
void buf_append_i64(struct buf *b, int64_t v);

void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

/*
 * Append s as a quoted JSON string.  Any bytes will do: what is not UTF-8 becomes U+FFFD, and
 * control characters (a line feed, too) are escaped, so that the result never breaks a line.
 */
void buf_append_json(struct buf *b, struct str s);

/* Append s as one word of a shell's command line: in single quotes where it needs some. */
void buf_append_word(struct buf *b, struct str s);

/* Append as lower-case hexadecimal. */
void buf_append_hex(struct buf *b, struct str bytes);

/* Drop n bytes at the front; the rest moves there. */
void buf_drop(struct buf *b, size_t n);

/* Forget the contents, keep the memory. */
void buf_clear(struct buf *b);

/* Release the memory and return to the zero state. */
void buf_free(struct buf *b);

/* The current contents; valid until the next call that changes b. */
static inline struct str buf_str(const struct buf *b)
{
    return (struct str){b->ptr, b->len};
}

#endif
