#include "config.h"

#include "sync/value/decimal.h"

#include "src/base/bytes.h"
#include "src/base/number.h"

#include <stdbool.h>

/*
 * Nine digits take four bytes.  The incomplete group at the outer end of each side of the point
 * takes as few as it needs.  Big-endian, the first bit inverted, negative numbers inverted as a
 * whole.
 */
enum { GROUP_DIGITS = 9, GROUP_SIZE = 4 };

static const uint8_t size_of_digits[GROUP_DIGITS + 1] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

static const uint32_t powers_of_ten[] = {1,      10,      100,      1000,      10000,
                                         100000, 1000000, 10000000, 100000000, 1000000000};

static size_t side_size(unsigned digits)
{
    return digits / GROUP_DIGITS * GROUP_SIZE + size_of_digits[digits % GROUP_DIGITS];
}

size_t decimal_size(unsigned precision, unsigned scale)
{
    return side_size(precision - scale) + side_size(scale);
}

struct decimal_reader {
    const uint8_t *p;
    uint32_t invert; /* all ones for negative numbers */
    uint32_t flip;   /* bits of the next group to invert, counted from its first one */
    bool bad;
};

/* Read the next group of so many digits, at least one. */
static inline uint32_t next_group(struct decimal_reader *r, unsigned digits)
{
    const unsigned size = size_of_digits[digits], unused = 32 - 8 * size;
    const uint32_t stored = (uint32_t)load_be(r->p, size) << unused;
    const uint32_t v = (stored ^ r->flip) >> unused;

    r->flip = r->invert;
    r->p += size;
    if (UNLIKELY(v >= powers_of_ten[digits])) {
        r->bad = true;
        return 0;
    }
    return v;
}

/* Print the digits before the point without leading zeros, at least one. */
static inline size_t put_whole(char *out, struct decimal_reader *r, unsigned digits)
{
    size_t n = 0;

    for (unsigned left = digits; left > 0;) {
        const unsigned group = left % GROUP_DIGITS != 0 ? left % GROUP_DIGITS : GROUP_DIGITS;
        const uint32_t v = next_group(r, group);

        left -= group;
        if (n > 0) {
            number_put_digits(out + n, v, GROUP_DIGITS);
            n += GROUP_DIGITS;
        } else if (v > 0) {
            n = number_u64(out, v);
        }
    }
    if (n == 0)
        out[n++] = '0';
    return n;
}

/*
 * Print a decimal of at most one group on each side of the point, in at most eight bytes: most
 * decimals are such.
 */
static inline size_t put_small(char *out, const uint8_t *p, unsigned whole, unsigned scale)
{
    const unsigned whole_bits = 8u * size_of_digits[whole];
    const unsigned scale_bits = 8u * size_of_digits[scale];
    const uint64_t sign = UINT64_C(1) << (whole_bits + scale_bits - 1);
    const uint64_t stored = load_be(p, (whole_bits + scale_bits) / 8) ^ sign;
    const bool negative = (stored & sign) != 0;
    const uint64_t v = negative ? ~stored & (sign | (sign - 1)) : stored;
    const uint32_t high = (uint32_t)(v >> scale_bits);
    const uint32_t low = (uint32_t)(v & ((UINT64_C(1) << scale_bits) - 1));
    char *to = out;

    if (high >= powers_of_ten[whole] || low >= powers_of_ten[scale])
        return 0;
    *to = '-';
    to += negative;
    to += number_u64(to, high);
    if (scale > 0) {
        *to = '.';
        number_put_digits(to + 1, low, scale);
        to += 1 + scale;
    }
    return (size_t)(to - out);
}

size_t decimal_text(char *out, const uint8_t *p, unsigned precision, unsigned scale)
{
    if (precision - scale <= GROUP_DIGITS && scale <= GROUP_DIGITS)
        return put_small(out, p, precision - scale, scale);

    const bool negative = (p[0] & 0x80) == 0;
    const uint32_t invert = negative ? UINT32_MAX : 0;
    struct decimal_reader r = {p, invert, invert ^ UINT32_C(1) << 31, false};
    size_t n = negative ? 1 : 0;

    out[0] = '-';
    n += put_whole(out + n, &r, precision - scale);
    if (scale > 0)
        out[n++] = '.';
    for (unsigned left = scale; left > 0;) {
        const unsigned group = left < GROUP_DIGITS ? left : GROUP_DIGITS;

        number_put_digits(out + n, next_group(&r, group), group);
        n += group;
        left -= group;
    }
    return r.bad ? 0 : n;
}
