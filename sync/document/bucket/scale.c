#include "config.h"

#include "sync/document/bucket/scale.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/utf8.h"
#include "sync/document/bucket/scale_number.h"
#include "sync/document/key.h"
#include "sync/value/schema.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#define STEPS (SCALE_VALUES + 1)

/* Digits that a text gets beyond the longer of two: the parts of a range of one letter. */
#define SPARE 3

#define ASCII       0x80U
#define CODE_POINTS 0x110000U
#define HEX         "0123456789abcdef"

/*
 * Two values as numbers of n digits, the first one counting most.  In texts and bytes, a digit
 * 0 is beyond the end.
 */
struct digit_range {
    uint32_t base;
    size_t n;
    uint32_t *low, *high, *between;
    size_t point; /* of a number: so many digits are its sign and whole part */
    bool by_code; /* of a text: in the order of code points; of a UUID: from left to right */
};

static void range_init(struct digit_range *r, struct arena *a, uint32_t base, size_t n)
{
    r->base = base;
    r->n = n;
    r->low = arena_alloc(a, n, sizeof(*r->low));
    r->high = arena_alloc(a, n, sizeof(*r->high));
    r->between = arena_alloc(a, n, sizeof(*r->between));
}

/* ---- arithmetic ---- */

static int compare(const struct digit_range *r, const uint32_t *x, const uint32_t *y)
{
    for (size_t i = 0; i < r->n; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Set between to low + (high - low) * step / STEPS.  Requires low < high. */
static void take_step(struct digit_range *r, unsigned step)
{
    uint64_t carry = 0, rest;
    int64_t borrow = 0;

    for (size_t i = r->n; i-- > 0;) {
        int64_t d = (int64_t)r->high[i] - r->low[i] - borrow;

        borrow = d < 0;
        d += borrow * r->base;
        carry += (uint64_t)d * step;
        r->between[i] = (uint32_t)(carry % r->base);
        carry /= r->base;
    }
    rest = carry;
    for (size_t i = 0; i < r->n; i++) {
        rest = rest * r->base + r->between[i];
        r->between[i] = (uint32_t)(rest / STEPS);
        rest %= STEPS;
    }
    carry = 0;
    for (size_t i = r->n; i-- > 0;) {
        carry += (uint64_t)r->between[i] + r->low[i];
        r->between[i] = (uint32_t)(carry % r->base);
        carry /= r->base;
    }
}

/* ---- numbers: the sign, the whole part, the fraction; a negative's digits count backwards
 * ---- */

struct number {
    bool negative;
    struct str whole, fraction;
};

static struct number number_of(struct str text)
{
    struct number x = {.negative = text.len > 0 && text.ptr[0] == '-'};
    const char *point;

    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
        text.ptr++;
        text.len--;
    }
    point = text.len > 0 ? memchr(text.ptr, '.', text.len) : NULL;
    x.whole = (struct str){text.ptr, point != NULL ? (size_t)(point - text.ptr) : text.len};
    if (point != NULL)
        x.fraction = (struct str){point + 1, text.len - x.whole.len - 1};
    return x;
}

static uint32_t digit(const struct number *x, char c)
{
    const uint32_t d = c >= '0' && c <= '9' ? (uint32_t)(c - '0') : 0;

    return x->negative ? 9 - d : d;
}

static void put_number(const struct digit_range *r, const struct number *x, uint32_t *out)
{
    const size_t pad = r->point - 1 - x->whole.len;

    out[0] = x->negative ? 0 : 1;
    for (size_t i = 1; i < r->n; i++)
        out[i] = digit(x, '0');
    for (size_t i = 0; i < x->whole.len; i++)
        out[1 + pad + i] = digit(x, x->whole.ptr[i]);
    for (size_t i = 0; i < x->fraction.len; i++)
        out[r->point + i] = digit(x, x->fraction.ptr[i]);
}

static bool is_zero(const struct digit_range *r)
{
    for (size_t i = 1; i < r->n; i++)
        if (r->between[i] != (r->between[0] == 0 ? 9 : 0))
            return false;
    return true;
}

static void append_number(const struct digit_range *r, struct buf *out)
{
    const bool negative = r->between[0] == 0;
    bool begun = false;

    if (negative && !is_zero(r))
        buf_append_char(out, '-');
    for (size_t i = 1; i < r->n; i++) {
        const uint32_t d = negative ? 9 - r->between[i] : r->between[i];

        if (i == r->point)
            buf_append_char(out, '.');
        begun = begun || d > 0 || i + 1 >= r->point;
        if (begun)
            buf_append_char(out, (char)('0' + d));
    }
}

static size_t longer(struct str x, struct str y)
{
    return x.len > y.len ? x.len : y.len;
}

static void range_of_numbers(struct digit_range *r, struct arena *a, struct str low,
                             struct str high)
{
    const struct number x = number_of(low), y = number_of(high);

    r->point = 1 + longer(x.whole, y.whole);
    range_init(r, a, 10, r->point + longer(x.fraction, y.fraction));
    put_number(r, &x, r->low);
    put_number(r, &y, r->high);
}

/* ---- bytes ---- */

static void put_bytes(struct str text, uint32_t *out)
{
    for (size_t i = 0; i < text.len; i++)
        out[i] = (uint8_t)text.ptr[i] + 1U;
}

static void range_of_bytes(struct digit_range *r, struct arena *a, struct str low,
                           struct str high)
{
    range_init(r, a, 257, longer(low, high) + SPARE);
    put_bytes(low, r->low);
    put_bytes(high, r->high);
}

static void append_bytes(const struct digit_range *r, struct buf *out)
{
    for (size_t i = 0; i < r->n && r->between[i] > 0; i++)
        buf_append_char(out, (char)(uint8_t)(r->between[i] - 1));
}

/* ---- text ---- */

/* Most collations put marks before digits, digits before letters, and A with a. */
static unsigned kind_of(int c)
{
    return c >= 'a' && c <= 'z' ? 2 : c >= '0' && c <= '9' ? 1 : 0;
}

/* The place of a printable character among those of ASCII, from 1. */
#define PRINTABLE_END 0x7f
static uint32_t place_of(int c)
{
    uint32_t place = 1;

    for (int other = ' '; other < PRINTABLE_END; other++)
        place += kind_of(other) < kind_of(c) || (kind_of(other) == kind_of(c) && other < c);
    return place;
}

static uint32_t char_at(uint32_t place)
{
    int c = ' ';

    while (c + 1 < PRINTABLE_END && place_of(c) != place)
        c++;
    return (uint32_t)c;
}

/* The letters without accents of U+00C0 to U+017F, in lower case; `*` for what is no letter. */
#define LATIN_FIRST 0xc0
static const char latin[] = "aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo*ouuuuyty"
                            "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
                            "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/* What most collations compare a character as. */
static uint32_t folded(uint32_t code)
{
    if (code < ' ' || code == PRINTABLE_END)
        return ' '; /* many collations ignore it */
    if (code >= 'A' && code <= 'Z')
        return code - 'A' + 'a';
    if (code >= LATIN_FIRST && code - LATIN_FIRST < sizeof(latin) - 1 &&
        latin[code - LATIN_FIRST] != '*')
        return (uint8_t)latin[code - LATIN_FIRST];
    return code;
}

/* Decode a character of valid UTF-8. */
static uint32_t code_point(struct str text, size_t len)
{
    uint32_t code = (uint8_t)text.ptr[0];

    if (len > 1)
        code &= 0x7fU >> len;
    for (size_t i = 1; i < len; i++)
        code = code << 6 | ((uint8_t)text.ptr[i] & 0x3fU);
    return code;
}

/* Take the next character off valid UTF-8; a byte that is none counts as U+0000. */
static uint32_t take_code(struct str *text, bool by_code)
{
    const size_t len = utf8_char_len(*text), taken = len > 0 ? len : 1;
    const uint32_t code = len > 0 ? code_point(*text, len) : 0;

    text->ptr += taken;
    text->len -= taken;
    return by_code ? code : folded(code);
}

static void put_text(const struct digit_range *r, struct str text, uint32_t *out)
{
    while (text.len > 0) {
        const uint32_t code = take_code(&text, r->by_code);

        *out++ = code >= ASCII || r->by_code ? code + 1 : place_of((int)code);
    }
}

static bool is_ascii(struct str text, bool by_code)
{
    while (text.len > 0)
        if (take_code(&text, by_code) >= ASCII)
            return false;
    return true;
}

static bool ends_with(struct str text, struct str end)
{
    return text.len >= end.len && memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0;
}

static bool is_by_code(const struct column *c)
{
    return ends_with(c->collation, STR("_bin"));
}

static struct str without_spaces(struct str text)
{
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

bool scale_is_same(const struct column *c, struct str x, struct str y)
{
    if (key_class_of(c) != KEY_TEXT || key_sorts_by_number(c))
        return str_equal(x, y);
    x = without_spaces(x);
    y = without_spaces(y);
    while (x.len > 0 && y.len > 0)
        if (take_code(&x, is_by_code(c)) != take_code(&y, is_by_code(c)))
            return false;
    return x.len == 0 && y.len == 0;
}

static void range_of_texts(struct digit_range *r, struct arena *a, const struct column *c,
                           struct str low, struct str high)
{
    r->by_code = is_by_code(c);
    range_init(r, a,
               is_ascii(low, r->by_code) && is_ascii(high, r->by_code) ? ASCII + 1
                                                                       : CODE_POINTS + 1,
               longer(low, high) + SPARE);
    put_text(r, low, r->low);
    put_text(r, high, r->high);
}

static void append_text(const struct digit_range *r, struct buf *out)
{
    char bytes[4];

    for (size_t i = 0; i < r->n && r->between[i] > 0; i++) {
        uint32_t code = r->between[i] - 1;

        if (code < ASCII && !r->by_code)
            code = char_at(code + 1);
        if (code >= 0xd800 && code < 0xe000)
            code = 0xd7ff; /* surrogates are no characters */
        buf_append(out, (struct str){bytes, utf8_encode(bytes, code)});
    }
}

/* ---- UUIDs: MariaDB compares versions 1 to 5 by their last part first ---- */

#define UUID_DIGITS  32
#define UUID_VERSION 12
#define UUID_VARIANT 16

static const uint8_t last_part_first[UUID_DIGITS] = {20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
                                                     31, 16, 17, 18, 19, 12, 13, 14, 15, 8,  9,
                                                     10, 11, 0,  1,  2,  3,  4,  5,  6,  7};

static size_t place_in_uuid(const struct digit_range *r, size_t i)
{
    return r->by_code ? i : last_part_first[i];
}

static bool take_uuid(struct str text, uint8_t digits[UUID_DIGITS])
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        const char *at = memchr(HEX, text.ptr[i], sizeof(HEX) - 1);

        if (text.ptr[i] == '-')
            continue;
        if (at == NULL || n == UUID_DIGITS)
            return false;
        digits[n++] = (uint8_t)(at - HEX);
    }
    return n == UUID_DIGITS;
}

static void range_of_uuids(struct digit_range *r, struct arena *a, struct str low,
                           struct str high)
{
    uint8_t x[UUID_DIGITS], y[UUID_DIGITS];

    if (!take_uuid(low, x) || !take_uuid(high, y))
        return;
    r->by_code = x[UUID_VERSION] > 5;
    range_init(r, a, 16, UUID_DIGITS);
    for (size_t i = 0; i < UUID_DIGITS; i++) {
        r->low[i] = x[place_in_uuid(r, i)];
        r->high[i] = y[place_in_uuid(r, i)];
    }
}

/* Append it as one of the version of the low end: others compare in another way. */
static void append_uuid(const struct digit_range *r, struct buf *out)
{
    uint8_t digits[UUID_DIGITS];

    for (size_t i = 0; i < UUID_DIGITS; i++) {
        const size_t at = place_in_uuid(r, i);

        digits[at] =
            (uint8_t)(at == UUID_VERSION || at == UUID_VARIANT ? r->low[i] : r->between[i]);
    }
    for (size_t i = 0; i < UUID_DIGITS; i++) {
        if (i == 8 || i == UUID_VERSION || i == UUID_VARIANT || i == 20)
            buf_append_char(out, '-');
        buf_append_char(out, HEX[digits[i]]);
    }
}

/* ---- INET6: by its bytes ---- */

#define INET6_BYTES 16

static bool put_inet6(struct str text, uint32_t *out)
{
    char address[INET6_ADDRSTRLEN] = "";
    uint8_t bytes[INET6_BYTES];

    if (text.len >= sizeof(address))
        return false;
    memcpy(address, text.ptr, text.len);
    if (inet_pton(AF_INET6, address, bytes) != 1)
        return false;
    for (size_t i = 0; i < INET6_BYTES; i++)
        out[i] = bytes[i];
    return true;
}

static void range_of_inet6(struct digit_range *r, struct arena *a, struct str low,
                           struct str high)
{
    range_init(r, a, 256, INET6_BYTES);
    if (!put_inet6(low, r->low) || !put_inet6(high, r->high))
        r->n = 0;
}

static void append_inet6(const struct digit_range *r, struct buf *out)
{
    char address[INET6_ADDRSTRLEN];
    uint8_t bytes[INET6_BYTES];

    for (size_t i = 0; i < INET6_BYTES; i++)
        bytes[i] = (uint8_t)r->between[i];
    buf_append(out, str_from(inet_ntop(AF_INET6, bytes, address, sizeof(address))));
}

/* ---- any value ---- */

static bool range_of(struct digit_range *r, struct arena *a, const struct column *c,
                     struct str low, struct str high)
{
    struct buf x = {0}, y = {0};
    const bool fine = scale_to_number(c, low, &x) && scale_to_number(c, high, &y);

    if (fine)
        range_of_numbers(r, a, buf_str(&x), buf_str(&y));
    else if (key_class_of(c) == KEY_BYTES)
        range_of_bytes(r, a, low, high);
    else if (key_class_of(c) == KEY_TEXT && !key_sorts_by_number(c))
        range_of_texts(r, a, c, low, high);
    else if (key_class_of(c) == KEY_UUID)
        range_of_uuids(r, a, low, high);
    else if (key_class_of(c) == KEY_INET6)
        range_of_inet6(r, a, low, high);
    buf_free(&x);
    buf_free(&y);
    return r->n > 0 && compare(r, r->low, r->high) < 0;
}

static struct str value_between(const struct digit_range *r, struct arena *a,
                                const struct column *c)
{
    struct buf text = {0}, out = {0};

    if (key_class_of(c) == KEY_BYTES) {
        append_bytes(r, &out);
    } else if (key_class_of(c) == KEY_TEXT && c->type != COLUMN_ENUM) {
        append_text(r, &out);
    } else if (key_class_of(c) == KEY_UUID) {
        append_uuid(r, &out);
    } else if (key_class_of(c) == KEY_INET6) {
        append_inet6(r, &out);
    } else {
        append_number(r, &text);
        scale_from_number(c, buf_str(&text), &out);
    }

    const struct str value = arena_copy(a, buf_str(&out));

    buf_free(&text);
    buf_free(&out);
    return value;
}

size_t scale_between(const struct column *c, struct str low, struct str high, struct arena *a,
                     struct str out[SCALE_VALUES])
{
    struct digit_range r = {0};
    size_t n = 0;

    if (!range_of(&r, a, c, low, high))
        return 0;
    for (unsigned step = 1; step < STEPS; step++) {
        take_step(&r, step);

        const struct str value = value_between(&r, a, c);

        if (compare(&r, r.low, r.between) < 0 && !str_equal(value, low) &&
            !str_equal(value, high) && (n == 0 || !str_equal(value, out[n - 1])))
            out[n++] = value;
    }
    return n;
}
