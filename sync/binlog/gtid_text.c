#include "config.h"

#include "sync/binlog/gtid_text.h"

#include "src/base/buf.h"

#include <ctype.h>

struct gtid_text gtid_text_of(struct str s)
{
    return (struct gtid_text){s.ptr, s.ptr + s.len};
}

void gtid_text_skip_space(struct gtid_text *t)
{
    while (t->p < t->end && isspace((unsigned char)*t->p))
        t->p++;
}

bool gtid_text_skip_char(struct gtid_text *t, char c)
{
    gtid_text_skip_space(t);
    if (t->p == t->end || *t->p != c)
        return false;
    t->p++;
    return true;
}

bool gtid_text_number(struct gtid_text *t, uint64_t max, uint64_t *out)
{
    uint64_t n = 0;

    gtid_text_skip_space(t);

    const char *start = t->p;

    for (; t->p < t->end && isdigit((unsigned char)*t->p); t->p++) {
        const unsigned digit = (unsigned)(*t->p - '0');

        if (n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return t->p > start;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool gtid_text_uuid(struct gtid_text *t, uint8_t uuid[16])
{
    gtid_text_skip_space(t);
    for (size_t i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && t->p < t->end && *t->p == '-')
            t->p++;
        if (t->end - t->p < 2)
            return false;

        const int high = hex_digit(t->p[0]), low = hex_digit(t->p[1]);

        if (high < 0 || low < 0)
            return false;
        uuid[i] = (uint8_t)(high << 4 | low);
        t->p += 2;
    }
    return true;
}

static bool is_tag_char(char c, bool first)
{
    return c == '_' || isalpha((unsigned char)c) || (!first && isdigit((unsigned char)c));
}

bool gtid_text_is_at_tag(struct gtid_text *t)
{
    gtid_text_skip_space(t);
    return t->p < t->end && is_tag_char(*t->p, true);
}

bool gtid_text_tag(struct gtid_text *t, char tag[GTID_TAG_MAX + 1])
{
    size_t n = 0;

    gtid_text_skip_space(t);
    for (; t->p < t->end && is_tag_char(*t->p, n == 0); t->p++) {
        if (n == GTID_TAG_MAX)
            return false;
        tag[n++] = (char)tolower((unsigned char)*t->p);
    }
    tag[n] = '\0';
    return n > 0;
}

void gtid_text_append_uuid(struct buf *b, const uint8_t uuid[16])
{
    static const char hex[] = "0123456789abcdef";
    char text[36];
    size_t n = 0;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[n++] = '-';
        text[n++] = hex[uuid[i] >> 4];
        text[n++] = hex[uuid[i] & 15];
    }
    buf_append(b, (struct str){text, n});
}
