#include "config.h"

#include "sync/position/gtid_text.h"

#include "src/base/buf.h"
#include "src/base/hex.h"

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

bool gtid_text_uuid(struct gtid_text *t, uint8_t uuid[16])
{
    gtid_text_skip_space(t);
    for (size_t i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && t->p < t->end && *t->p == '-')
            t->p++;

        const int byte = hex_byte((struct str){t->p, (size_t)(t->end - t->p)}, 0);

        if (byte < 0)
            return false;
        uuid[i] = (uint8_t)byte;
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
    char text[36], *end = text;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *end++ = '-';
        end = hex_put(end, uuid[i]);
    }
    buf_append(b, (struct str){text, sizeof(text)});
}
