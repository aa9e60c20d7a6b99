#include "config.h"

#include "sync/checkpoint/fingerprint.h"

#include "src/base/buf.h"
#include "src/base/hex.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void fingerprint_format(struct buf *b, const char *identity, const struct commit_position *last)
{
    buf_printf(b, "server=%s;gtid_start=%" PRIu64 ";gtid_event=", identity, last->gtid_start);
    for (size_t i = 0; last->gtid_start != 0 && i < COMMIT_GTID_BYTES; i++)
        buf_printf(b, "%02x", last->gtid_event[i]);
}

/* Returns the value after name= up to the next semicolon. */
static struct str part(struct str text, const char *name)
{
    const size_t n = strlen(name);

    for (size_t i = 0; i + n <= text.len;) {
        const char *end = memchr(text.ptr + i, ';', text.len - i);
        const size_t stop = end == NULL ? text.len : (size_t)(end - text.ptr);

        if (memcmp(text.ptr + i, name, n) == 0)
            return (struct str){text.ptr + i + n, stop - i - n};
        i = stop + 1;
    }
    return (struct str){"", 0};
}

static bool parse_hex(struct str hex, uint8_t *out, size_t n)
{
    if (hex.len != n * 2)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int byte = hex_byte(hex, 2 * i);

        if (byte < 0)
            return false;
        out[i] = (uint8_t)byte;
    }
    return true;
}

static uint64_t parse_number(struct str s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++)
        n = n * 10 + (uint64_t)(s.ptr[i] - '0');
    return n;
}

void fingerprint_parse(struct str text, char *identity, size_t cap,
                       struct commit_position *last)
{
    const struct str server = part(text, "server=");
    const size_t n = server.len < cap - 1 ? server.len : cap - 1;

    memcpy(identity, server.ptr, n);
    identity[n] = '\0';
    last->gtid_start = parse_number(part(text, "gtid_start="));
    if (!parse_hex(part(text, "gtid_event="), last->gtid_event, COMMIT_GTID_BYTES))
        last->gtid_start = 0;
}

void fingerprint_format_after(struct buf *b, const char *identity, uint64_t after)
{
    buf_printf(b, "server=%s;after=%" PRIu64, identity, after);
}

uint64_t fingerprint_after(struct str text)
{
    return parse_number(part(text, "after="));
}
