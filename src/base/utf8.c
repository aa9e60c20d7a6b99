#include "config.h"

#include "src/base/utf8.h"

#include "src/base/bytes.h"

#include <assert.h>

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))
#define HIGH_BITS    EACH_BYTE(0x80)

/* Below this, steps of sixteen bytes cost more than they save. */
#define LONG_TEXT 64

/* Indexed by the first byte: the length of the character and the range of its second byte. */
struct lead {
    uint8_t len;
    uint8_t low;
    uint8_t high;
};

static struct lead lead_of(unsigned char c)
{
    if (c < 0x80)
        return (struct lead){1, 0, 0};
    if (c < 0xc2)
        return (struct lead){0, 0, 0};
    if (c < 0xe0)
        return (struct lead){2, 0x80, 0xbf};
    if (c < 0xf0)
        return (struct lead){3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf};
    if (c < 0xf5)
        return (struct lead){4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf};
    return (struct lead){0, 0, 0};
}

/* Returns how many bytes at the start of s belong to one character, and in *want its full
 * length. */
static size_t matched(struct str s, size_t *want)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    struct lead lead = lead_of(p[0]);

    *want = lead.len;
    if (lead.len < 2)
        return lead.len;
    if (s.len < 2 || p[1] < lead.low || p[1] > lead.high)
        return 1;

    size_t n = 2;

    while (n < lead.len && n < s.len && (p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

size_t utf8_char_len(struct str s)
{
    size_t want;

    if (s.len == 0)
        return 0;
    return matched(s, &want) == want ? want : 0;
}

size_t utf8_bad_len(struct str s)
{
    size_t want;
    size_t n = matched(s, &want);

    return n > 0 ? n : 1;
}

#if (defined(__SSE2__) || defined(__ARM_NEON)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Sixteen bytes, for which the compiler has instructions. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t mask16 __attribute__((vector_size(16)));
typedef uint64_t halves __attribute__((vector_size(16)));

static inline bytes16 load_16(const char *p)
{
    bytes16 v;

    memcpy(&v, p, sizeof(v));
    return v;
}

/* Returns the bits of both halves. */
static inline uint64_t fold_16(bytes16 v)
{
    return ((halves)v)[0] | ((halves)v)[1];
}

/* Returns all ones for each byte that is below 0x20, a quote, a backslash or not ASCII. */
static inline halves special_16(bytes16 v)
{
    /* Signed, the bytes from 0x80 on are below the others. */
    return (halves)(((mask16)v < 0x20) | (v == '"') | (v == '\\'));
}

/*
 * Copies sixteen bytes at a time, *i in all.  Returns true if a special byte is next, false if
 * fewer than sixteen bytes are left.
 */
static inline bool copy_long(char *out, const char *p, size_t n, size_t *i)
{
    for (; n - *i >= 16; *i += 16) {
        const bytes16 v = load_16(p + *i);
        const halves special = special_16(v);

        memcpy(out + *i, &v, sizeof(v));
        if ((special[0] | special[1]) == 0)
            continue;
        *i += special[0] != 0 ? (size_t)__builtin_ctzll(special[0]) / 8
                              : 8 + (size_t)__builtin_ctzll(special[1]) / 8;
        return true;
    }
    return false;
}

/* Returns how many of the sixteen bytes stand before the first special one; 16: none is. */
static inline size_t before_special(const char *p)
{
    const halves special = special_16(load_16(p));
#ifdef __SSE2__
    typedef char chars16 __attribute__((vector_size(16)));

    return (size_t)__builtin_ctz((unsigned)__builtin_ia32_pmovmskb128((chars16)special) |
                                 1u << 16);
#else
    if (special[0] != 0)
        return (size_t)__builtin_ctzll(special[0]) / 8;
    return special[1] != 0 ? 8 + (size_t)__builtin_ctzll(special[1]) / 8 : 16;
#endif
}

/* Like copy_long(), without the copy. */
static inline bool pass_long(const char *p, size_t n, size_t *i)
{
    for (; n - *i >= 16; *i += 16) {
        const size_t before = before_special(p + *i);

        if (before == 16) /* adding it here would make each step wait for the one before */
            continue;
        *i += before;
        return true;
    }
    return false;
}

/*
 * Returns all ones for each byte that cannot follow those before it: a byte continues a
 * character exactly if one of the three before it asks for it.  `before` are the sixteen bytes
 * before.
 */
static inline bytes16 wrong_bytes(bytes16 before, bytes16 now)
{
    const halves low = (halves)now, high = {((halves)before)[1], ((halves)now)[0]};
    const bytes16 last = (bytes16)(low << 8 | high >> 56);
    const bytes16 second = (bytes16)(low << 16 | high >> 48);
    const bytes16 third = (bytes16)(low << 24 | high >> 40);
    const mask16 asked =
        ((last & 0xc0) == 0xc0) | ((second & 0xe0) == 0xe0) | ((third & 0xf0) == 0xf0);
    /* Signed, the bytes from 0x80 on are the lowest. */
    const mask16 continues = (mask16)now < (int8_t)0xc0;
    const mask16 below_90 = (mask16)now < (int8_t)0x90, below_a0 = (mask16)now < (int8_t)0xa0;
    const mask16 never = ((now & 0xfe) == 0xc0) | (now >= 0xf5);
    const mask16 overlong = ((last == 0xe0) & below_a0) | ((last == 0xf0) & below_90);
    const mask16 beyond = ((last == 0xed) & ~below_a0) | ((last == 0xf4) & ~below_90);

    return (bytes16)((asked ^ continues) | never | overlong | beyond);
}

/* Tells whether the last character needs more bytes. */
static inline bool is_cut(bytes16 v)
{
    return v[15] >= 0xc0 || v[14] >= 0xe0 || v[13] >= 0xf0;
}

/* Loads the last n % 16 of n bytes, with zeros behind them. */
static inline halves load_rest(const char *p, size_t n)
{
    const unsigned unused = 8 * (unsigned)(16 - n % 16);

    if (n >= 16) {
        const uint64_t low = load_le64(p + n - 16), high = load_le64(p + n - 8);
        const unsigned __int128 rest =
            ((unsigned __int128)high << 64 | low) >> (unused - 8) >> 8;

        return (halves){(uint64_t)rest, (uint64_t)(rest >> 64)};
    }
    if (n >= 8)
        return (halves){load_le64(p), load_le64(p + n - 8) >> (unused - 8) >> 8};
    return (halves){load_le(p, (unsigned)n), 0};
}

/* Tells whether text that begins with a whole character is UTF-8. */
static bool foreign_valid(const char *p, size_t n)
{
    const bytes16 rest = (bytes16)load_rest(p, n);
    bytes16 before = {0}, wrong = {0};

    for (; n >= 16; p += 16, n -= 16) {
        const bytes16 now = load_16(p);

        wrong |= wrong_bytes(before, now);
        before = now;
    }
    if (fold_16(wrong) != 0)
        return false;
    if ((fold_16(rest) & HIGH_BITS) == 0)
        return !is_cut(before);
    /* The zeros behind the end show a character that is cut. */
    return fold_16(wrong_bytes(before, rest)) == 0;
}

bool utf8_valid(struct str s)
{
    const char *p = s.len > 0 ? s.ptr : "", *const end = p + s.len;
    uint64_t high = 0;

    for (; end - p >= 16; p += 16)
        if ((fold_16(load_16(p)) & HIGH_BITS) != 0)
            return foreign_valid(p, (size_t)(end - p));

    const size_t n = (size_t)(end - p);

    if (n >= 8)
        high = load_le64(p) | load_le64(end - 8);
    else if (n > 0)
        high = load_le(p, (unsigned)n);
    return (high & HIGH_BITS) == 0 || foreign_valid(p, n);
}

#else

static inline bool copy_long(char *out, const char *p, size_t n, size_t *i)
{
    (void)out;
    (void)p;
    (void)n;
    (void)i;
    return false;
}

static inline bool pass_long(const char *p, size_t n, size_t *i)
{
    (void)p;
    (void)n;
    (void)i;
    return false;
}

bool utf8_valid(struct str s)
{
    size_t i = 0;

    while (i < s.len) {
        if (s.len - i >= 8 && (load_le64(s.ptr + i) & HIGH_BITS) == 0) {
            i += 8;
            continue;
        }

        size_t n = utf8_char_len((struct str){s.ptr + i, s.len - i});

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

#endif

/* Returns the high bit of every byte that is below 0x20, a quote, a backslash or not ASCII. */
static uint64_t special_bytes(uint64_t x)
{
    uint64_t quote = x ^ EACH_BYTE('"');
    uint64_t backslash = x ^ EACH_BYTE('\\');
    uint64_t low = (x - EACH_BYTE(0x20)) | (quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1));

    return (low | x) & EACH_BYTE(0x80);
}

/* Like utf8_char_len() for a character beyond ASCII; decides most cases with one look. */
static inline size_t foreign_len(const unsigned char *p, size_t left)
{
    if (left >= 2 && p[0] >= 0xc2 && p[0] < 0xe0 && (p[1] & 0xc0) == 0x80)
        return 2;
    if (left >= 3 && p[0] > 0xe0 && p[0] < 0xed && (p[1] & 0xc0) == 0x80 &&
        (p[2] & 0xc0) == 0x80)
        return 3;
    return utf8_char_len((struct str){(const char *)p, left});
}

/* Returns the length of the well-formed characters beyond ASCII at the start of s. */
static size_t foreign_run(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0;

    while (i < s.len && p[i] >= 0x80) {
        const size_t n = foreign_len(p + i, s.len - i);

        if (n == 0)
            break;
        i += n;
    }
    return i;
}

/*
 * Returns the length of the plain ASCII at the start of s that a JSON string holds unescaped.
 */
static inline size_t ascii_run(struct str s)
{
    size_t i = 0;

    if (pass_long(s.ptr, s.len, &i))
        return i;
    for (; s.len - i >= 8; i += 8) {
        uint64_t special = special_bytes(load_le64(s.ptr + i));

        if (special != 0)
            return i + (size_t)__builtin_ctzll(special) / 8;
    }
    for (; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
            break;
    }
    return i;
}

/* Continues utf8_literal_len() at i, which is not ASCII. */
static __attribute__((noinline)) size_t foreign_literal_len(struct str s, size_t i)
{
    for (;;) {
        const size_t n = foreign_run((struct str){s.ptr + i, s.len - i});

        if (n == 0)
            return i;
        i += n;
        i += ascii_run((struct str){s.ptr + i, s.len - i});
        if (i == s.len || (unsigned char)s.ptr[i] < 0x80)
            return i;
    }
}

size_t utf8_literal_len(struct str s)
{
    const size_t i = ascii_run(s);

    return i == s.len || (unsigned char)s.ptr[i] < 0x80 ? i : foreign_literal_len(s, i);
}

/* Loads the last n < 8 bytes before end, of a text of len bytes, with zeros above them. */
static uint64_t load_last(const char *end, size_t n, size_t len)
{
    if (n == 0)
        return 0;
    return len >= 8 ? load_le64(end - 8) >> 8 * (8 - n) : load_le(end - n, (unsigned)n);
}

/* Copies the plain ASCII at the start of the last `left` bytes of s. */
static size_t copy_ascii(char *out, struct str s, size_t left)
{
    const char *const end = s.ptr + s.len;
    size_t i = 0;

    if (left >= LONG_TEXT && copy_long(out, end - left, left, &i))
        return i;
    for (; left - i >= 8; i += 8) {
        const uint64_t x = load_le64(end - left + i), special = special_bytes(x);

        store_le64(out + i, x);
        if (special != 0)
            return i + (size_t)__builtin_ctzll(special) / 8;
    }

    const size_t n = left - i;
    const uint64_t x = load_last(end, n, s.len);

    store_le64(out + i, x);
    /* The zeros above the last byte count as special, so the run ends there. */
    return i + (n > 0 ? (size_t)__builtin_ctzll(special_bytes(x)) / 8 : 0);
}

/* Copies the well-formed characters beyond ASCII at the start of s. */
static size_t copy_foreign(char *out, struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0;

    while (i < s.len && p[i] >= 0x80) {
        const size_t n = foreign_len(p + i, s.len - i);

        if (n == 0)
            break;
        store_le32(out + i, (uint32_t)load_le(p + i, (unsigned)n));
        i += n;
    }
    return i;
}

size_t utf8_copy_literal(char *out, struct str s)
{
    size_t i = 0;

    for (;;) {
        i += copy_ascii(out + i, s, s.len - i);
        if (i == s.len || (unsigned char)s.ptr[i] < 0x80)
            return i;

        const size_t n = copy_foreign(out + i, (struct str){s.ptr + i, s.len - i});

        if (n == 0)
            return i;
        i += n;
    }
}

size_t utf8_encode(char out[4], uint32_t cp)
{
    assert(cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff));

    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}
