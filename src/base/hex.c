#include "config.h"

#include "src/base/hex.h"

char *hex_put(char *out, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";

    out[0] = digits[byte >> 4];
    out[1] = digits[byte & 15];
    return out + 2;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int hex_byte(struct str text, size_t at)
{
    if (text.len < 2 || at > text.len - 2)
        return -1;

    const int high = digit(text.ptr[at]), low = digit(text.ptr[at + 1]);

    return high < 0 || low < 0 ? -1 : high << 4 | low;
}
