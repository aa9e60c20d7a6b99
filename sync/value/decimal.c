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
    bool first;      /* the next byte is the first of the cell */
    bool bad;
};

/* Read the next group of so many digits. */
static uint32_t next_group(struct decimal_reader *r, unsigned digits)
{
    const unsigned size = size_of_digits[digits];
    const uint32_t mask = (uint32_t)((UINT64_C(1) << (8 * size)) - 1);
    uint32_t v = (uint32_t)load_be(r->p, size);

    if (r->first)
        v ^= UINT32_C(1) << (8 * size - 1);
    r->first = false;
    v = (v ^ r->invert) & mask;
    r->p += size;
    if (v >= powers_of_ten[digits]) {
        r->bad = true;
        v = 0;
    }
    return v;
}

/* Print the digits before the point without leading zeros, at least one. */
static size_t put_whole(char *out, struct decimal_reader *r, unsigned digits)
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

size_t decimal_text(char *out, const uint8_t *p, unsigned precision, unsigned scale)
{
    const bool negative = (p[0] & 0x80) == 0;
    struct decimal_reader r = {.p = p, .invert = negative ? UINT32_MAX : 0, .first = true};
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
