#include "config.h"

#include "src/cli/view/screen.h"

#include "src/base/buf.h"
#include "src/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint32_t code_point(const char *p, size_t n)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)p[0] & first_bits[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

static bool between(uint32_t c, uint32_t low, uint32_t high)
{
    return c >= low && c <= high;
}

static size_t point_width(uint32_t c)
{
    if (between(c, 0x300, 0x36f) || between(c, 0x200b, 0x200f) || between(c, 0x20d0, 0x20ff) ||
        between(c, 0xfe00, 0xfe0f))
        return 0;
    return between(c, 0x1100, 0x115f) || between(c, 0x2e80, 0xa4cf) ||
                   between(c, 0xac00, 0xd7a3) || between(c, 0xf900, 0xfaff) ||
                   between(c, 0xfe30, 0xfe6f) || between(c, 0xff00, 0xff60) ||
                   between(c, 0xffe0, 0xffe6) || between(c, 0x1f300, 0x1faff) ||
                   between(c, 0x20000, 0x3fffd)
               ? 2
               : 1;
}

size_t screen_width(struct str text)
{
    size_t width = 0;

    while (text.len > 0) {
        size_t n = utf8_char_len(text);

        if (text.ptr[0] == '\033') {
            const char *end = memchr(text.ptr, 'm', text.len);

            n = end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
        } else {
            width += n > 0 ? point_width(code_point(text.ptr, n)) : 1;
            n += n == 0;
        }
        text = (struct str){text.ptr + n, text.len - n};
    }
    return width;
}

void screen_safe(struct buf *out, struct str text)
{
    while (text.len > 0) {
        size_t n = utf8_char_len(text), skip = n > 0 ? n : utf8_bad_len(text);
        uint32_t c = n > 0 ? code_point(text.ptr, n) : 0xfffd;

        if (c == '\n' || c == '\t')
            buf_append_char(out, ' ');
        else if (c < 0x20 || between(c, 0x7f, 0x9f) || between(c, 0x202a, 0x202e) ||
                 between(c, 0x2066, 0x2069))
            buf_printf(out, "<U+%04X>", c);
        else if (n == 0)
            buf_append(out, STR(UTF8_REPLACEMENT));
        else
            buf_append(out, (struct str){text.ptr, n});
        text = (struct str){text.ptr + skip, text.len - skip};
    }
}
