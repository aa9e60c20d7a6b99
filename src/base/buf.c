#include "config.h"

#include "src/base/buf.h"

#include "src/base/hex.h"
#include "src/base/mem.h"
#include "src/base/number.h"
#include "src/base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_MIN_CAP 64

void buf_grow(struct buf *b, size_t n)
{
    assert(n < SIZE_MAX / 4 - b->len);

    size_t need = b->len + n + 1;
    size_t cap = b->cap < BUF_MIN_CAP ? BUF_MIN_CAP : b->cap;

    while (cap < need)
        cap *= 2;
    b->ptr = mem_resize(b->ptr, cap, 1);
    b->cap = cap;
}

void buf_append_u64(struct buf *b, uint64_t v)
{
    buf_reserve(b, NUMBER_MAX);
    b->len += number_u64(b->ptr + b->len, v);
    b->ptr[b->len] = '\0';
}

void buf_append_i64(struct buf *b, int64_t v)
{
    buf_reserve(b, NUMBER_MAX);
    b->len += number_i64(b->ptr + b->len, v);
    b->ptr[b->len] = '\0';
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);

    int n = vsnprintf(NULL, 0, fmt, ap);

    assert(n >= 0);
    buf_reserve(b, (size_t)n);
    vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, again);
    va_end(again);
    b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

static void append_escape(struct buf *b, unsigned char c)
{
    static const char short_escape[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
    };
    char letter = c < 0x20 ? short_escape[c] : (char)c;
    char unit[] = {'\\', 'u', '0', '0', '0', '0'};

    if (letter != '\0') {
        buf_append(b, (struct str){(char[]){'\\', letter}, 2});
        return;
    }
    hex_put(unit + 4, c);
    buf_append(b, (struct str){unit, sizeof(unit)});
}

static void append_json_part(struct buf *b, struct str s)
{
    while (s.len > 0) {
        buf_reserve(b, s.len + UTF8_COPY_SPARE);

        size_t n = utf8_copy_literal(b->ptr + b->len, s);

        b->len += n;
        b->ptr[b->len] = '\0';
        if (n == s.len)
            return;
        s = (struct str){s.ptr + n, s.len - n};
        if ((unsigned char)s.ptr[0] < 0x80) {
            append_escape(b, (unsigned char)s.ptr[0]);
            n = 1;
        } else {
            buf_append(b, STR(UTF8_REPLACEMENT));
            n = utf8_bad_len(s);
        }
        s = (struct str){s.ptr + n, s.len - n};
    }
}

void buf_append_json(struct buf *b, struct str s)
{
    buf_reserve(b, s.len + 2 + UTF8_COPY_SPARE);
    buf_append_char(b, '"');
    append_json_part(b, s);
    buf_append_char(b, '"');
}

void buf_append_word(struct buf *b, struct str s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-.,:/@%+=";
    bool quoted = s.len == 0;

    for (size_t i = 0; i < s.len && !quoted; i++)
        quoted = memchr(plain, s.ptr[i], sizeof(plain) - 1) == NULL;
    if (!quoted) {
        buf_append(b, s);
        return;
    }
    buf_append_char(b, '\'');
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '\'')
            buf_append(b, STR("'\\''"));
        else
            buf_append_char(b, s.ptr[i]);
    buf_append_char(b, '\'');
}

void buf_append_hex(struct buf *b, struct str bytes)
{
    buf_reserve(b, bytes.len * 2);

    char *end = b->ptr + b->len;

    for (size_t i = 0; i < bytes.len; i++)
        end = hex_put(end, (unsigned char)bytes.ptr[i]);
    *end = '\0';
    b->len += bytes.len * 2;
}

bool buf_append_unhex(struct buf *b, struct str hex)
{
    for (size_t i = 0; i < hex.len; i += 2) {
        const int byte = i + 1 < hex.len ? hex_byte(hex, i) : -1;

        if (byte < 0)
            return false;
        buf_append_char(b, (char)byte);
    }
    return true;
}

void buf_drop(struct buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0)
        return;
    memmove(b->ptr, b->ptr + n, b->len - n + 1);
    b->len -= n;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->ptr != NULL)
        b->ptr[0] = '\0';
}

void buf_free(struct buf *b)
{
    free(b->ptr);
    *b = (struct buf){0};
}
