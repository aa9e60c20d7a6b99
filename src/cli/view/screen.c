#include "config.h"

#include "src/cli/view/screen.h"

#include "src/base/buf.h"
#include "src/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INDENT 4 /* of what follows a break */

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

/* The length of the first character, or colour code, of a text that is not empty. */
static size_t step(struct str text, size_t *width)
{
    const size_t n = utf8_char_len(text);

    *width = 0;
    if (text.ptr[0] == '\033') {
        const char *end = memchr(text.ptr, 'm', text.len);

        return end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
    }
    *width = n > 0 ? point_width(code_point(text.ptr, n)) : 1;
    return n > 0 ? n : 1;
}

static struct str after(struct str text, size_t n)
{
    return (struct str){text.ptr + n, text.len - n};
}

size_t screen_width(struct str text)
{
    size_t sum = 0, width;

    while (text.len > 0) {
        text = after(text, step(text, &width));
        sum += width;
    }
    return sum;
}

/* The bytes of the longest start of text that takes at most so many columns. */
static size_t start_within(struct str text, size_t columns)
{
    size_t n = 0, sum = 0, width;

    while (n < text.len) {
        const size_t len = step(after(text, n), &width);

        sum += width;
        if (sum > columns)
            break;
        n += len;
    }
    return n;
}

void screen_cut(struct buf *out, struct str text, size_t columns, bool marks)
{
    const size_t all = screen_width(text), head = columns / 2;
    const size_t tail = columns > head ? columns - head - 1 : 0;
    size_t width;

    if (all <= columns) {
        buf_append(out, text);
        return;
    }
    buf_append(out, (struct str){text.ptr, start_within(text, head)});
    if (columns > 0)
        buf_append(out, marks ? STR("…") : STR("~"));
    for (size_t left = all; left > tail; left -= width)
        text = after(text, step(text, &width));
    buf_append(out, text);
}

/* Where to break a line that is too wide: after a space if it has one, never at its start. */
static size_t break_at(struct str line, size_t columns)
{
    const size_t most = start_within(line, columns);
    size_t n = most, width;

    while (n > 0 && line.ptr[n - 1] != ' ')
        n--;
    for (size_t i = 0; i < n; i++)
        if (line.ptr[i] != ' ')
            return n;
    return most > 0 ? most : step(line, &width);
}

static void wrap_line(struct buf *out, struct str line, size_t columns)
{
    const size_t rest = columns > 2 * INDENT ? columns - INDENT : columns;
    size_t room = columns;

    while (screen_width(line) > room) {
        const size_t n = break_at(line, room);

        if (n == line.len)
            break;
        buf_append(out, (struct str){line.ptr, n});
        while (out->len > 0 && out->ptr[out->len - 1] == ' ')
            out->len--;
        buf_append_char(out, '\n');
        buf_append(out, (struct str){"    ", columns - rest});
        line = after(line, n);
        room = rest;
    }
    buf_append(out, line);
}

void screen_wrap(struct buf *out, struct str text, size_t columns)
{
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        const size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;

        wrap_line(out, (struct str){text.ptr, len}, columns);
        if (end != NULL)
            buf_append_char(out, '\n');
        text = after(text, len + (end != NULL));
    }
}

bool screen_size(int fd, size_t *columns, size_t *rows)
{
    struct winsize size;

    if (isatty(fd) != 1 || ioctl(fd, TIOCGWINSZ, &size) == -1 || size.ws_col == 0)
        return false;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return true;
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
