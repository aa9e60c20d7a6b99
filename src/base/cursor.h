/*
 * struct cursor: reads packed integers and strings, with bounds checks.
 *
 * A cursor that runs out returns zeros and stays failed, so a parser can read a whole structure
 * and check `failed` once.
 */
#ifndef SRC_BASE_CURSOR_H
#define SRC_BASE_CURSOR_H

#include "src/base/base.h"
#include "src/base/bytes.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool failed;
};

static inline struct cursor cursor_of(struct str s)
{
    const uint8_t *p = (const uint8_t *)(s.ptr != NULL ? s.ptr : "");

    return (struct cursor){p, p + s.len, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

/* Takes n bytes. Returns NULL and sets `failed` if fewer are left. */
static inline const uint8_t *cursor_take(struct cursor *c, uint64_t n)
{
    if (c->failed || n > cursor_left(c)) {
        c->failed = true;
        return NULL;
    }

    const uint8_t *p = c->p;

    c->p += n;
    return p;
}

static inline struct str cursor_str(struct cursor *c, uint64_t n)
{
    const uint8_t *p = cursor_take(c, n);

    return p != NULL ? (struct str){(const char *)p, (size_t)n} : (struct str){"", 0};
}

/* Takes all remaining bytes. */
static inline struct str cursor_rest(struct cursor *c)
{
    return cursor_str(c, cursor_left(c));
}

/* Takes a little-endian integer of n bytes, 1 to 8. */
static inline uint64_t cursor_le(struct cursor *c, size_t n)
{
    const uint8_t *p = cursor_take(c, n);

    return p != NULL ? load_le(p, (unsigned)n) : 0;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);

    return p != NULL ? *p : 0;
}

/* Takes a length-encoded integer of the MySQL protocol. */
static inline uint64_t cursor_lenenc(struct cursor *c)
{
    const uint8_t first = cursor_u8(c);

    switch (first) {
    case 0xfc: return cursor_le(c, 2);
    case 0xfd: return cursor_le(c, 3);
    case 0xfe: return cursor_le(c, 8);
    case 0xfb:
    case 0xff: c->failed = true; return 0;
    default: return first;
    }
}

#endif
