#include "config.h"

#include "src/base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Writes the 24 bits of v as four characters. */
static void put_group(char *out, unsigned v)
{
    out[0] = digits[v >> 18];
    out[1] = digits[v >> 12 & 63];
    out[2] = digits[v >> 6 & 63];
    out[3] = digits[v & 63];
}

void base64_append(struct buf *b, struct str bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    size_t left = bytes.len;

    buf_reserve(b, (bytes.len + 2) / 3 * 4);

    char *out = b->ptr + b->len;

    for (; left >= 3; left -= 3, p += 3, out += 4)
        put_group(out, (unsigned)p[0] << 16 | (unsigned)p[1] << 8 | p[2]);
    if (left > 0) {
        put_group(out, (unsigned)p[0] << 16 | (left > 1 ? (unsigned)p[1] << 8 : 0));
        out[3] = '=';
        if (left == 1)
            out[2] = '=';
        out += 4;
    }
    b->len = (size_t)(out - b->ptr);
    b->ptr[b->len] = '\0';
}
