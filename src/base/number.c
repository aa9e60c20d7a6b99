#include "config.h"

#include "src/base/number.h"

#include "src/base/bytes.h"
#include "src/base/number_powers.h"

#include <stdbool.h>

const char number_pairs[200] = {
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899"};

/*
 * Returns the eight digits of n < 10^8, the first one in the lowest byte: splits into halves
 * three times, all parts at once.
 */
static inline uint64_t eight_digits(uint32_t n)
{
    const uint64_t fours = n / 10000 | (uint64_t)(n % 10000) << 32;
    const uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x7f0000007f);
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);

    return tens | (twos - 10 * tens) << 8;
}

#define ZEROS UINT64_C(0x3030303030303030)

/* Writes n < 10^8 as eight digits. */
static void put_8(char *out, uint32_t n)
{
    store_le64(out, eight_digits(n) | ZEROS);
}

void number_put_digits(char *out, uint32_t v, size_t n)
{
    static const uint32_t powers[] = {0, 1000, 100, 10, 1, 1000, 100, 10, 1};

    if (n <= 4) {
        number_put_4(out, v * powers[n]);
    } else if (n <= 8) {
        put_8(out, v * powers[n]);
    } else {
        out[0] = (char)('0' + v / 100000000);
        put_8(out + 1, v % 100000000);
    }
}

/* Writes the digits of n < 10^8 without leading zeros. Always stores eight bytes. */
static size_t put_short(char *out, uint32_t n)
{
    const uint64_t digits = eight_digits(n);
    /* Zero keeps one digit. */
    const unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;

    store_le64(out, (digits | ZEROS) >> 8 * zeros);
    return 8 - zeros;
}

static size_t put_u32(char *out, uint32_t v)
{
    if (v < 100000000)
        return put_short(out, v);

    const uint32_t high = v / 100000000;
    size_t n = 0;

    if (high >= 10)
        out[n++] = (char)('0' + high / 10);
    out[n++] = (char)('0' + high % 10);
    put_8(out + n, v % 100000000);
    return n + 8;
}

size_t number_u64(char *out, uint64_t v)
{
    if (v <= UINT32_MAX)
        return put_u32(out, (uint32_t)v);
    if (v < UINT64_C(10000000000000000)) {
        const size_t n = put_u32(out, (uint32_t)(v / 100000000));

        put_8(out + n, (uint32_t)(v % 100000000));
        return n + 8;
    }

    const uint64_t low = v % UINT64_C(10000000000000000);
    const size_t n = put_u32(out, (uint32_t)(v / UINT64_C(10000000000000000)));

    put_8(out + n, (uint32_t)(low / 100000000));
    put_8(out + n + 8, (uint32_t)(low % 100000000));
    return n + 16;
}

size_t number_i64(char *out, int64_t v)
{
    if (v >= 0)
        return number_u64(out, (uint64_t)v);
    out[0] = '-';
    return 1 + number_u64(out + 1, 0 - (uint64_t)v);
}

/*
 * Shortest digits after Raffaello Giulietti, "The Schubfach way to render doubles" (2020):
 * multiplies the value and the borders of its rounding interval by a power of ten, rounded to
 * odd.
 */

/* Returns the 64 bits of p * x above the lowest 128, with the last bit set when any lower bit
 * is. */
static uint64_t scaled(struct number_power p, uint64_t x)
{
    const unsigned __int128 low = (unsigned __int128)p.low * x;
    const unsigned __int128 sum = (unsigned __int128)p.high * x + (uint64_t)(low >> 64);

    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Converts c * 2^q. closer: the next lower number is at half the usual distance. */
static struct decimal shortest(uint64_t c, int q, bool closer)
{
    const uint64_t odd = c & 1;
    const int k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
    const int h = q + ((-k * 1741647) >> 19) + 1;
    const struct number_power p = number_powers[-k - NUMBER_POWER_MIN];
    const uint64_t lower = scaled(p, (4 * c - 2 + closer) << h) + odd;
    const uint64_t value = scaled(p, (4 * c) << h);
    const uint64_t upper = scaled(p, (4 * c + 2) << h) - odd;
    const uint64_t s = value / 4;

    if (s >= 10) {
        const uint64_t tens = s / 10;
        const bool down = lower <= 40 * tens, up = 40 * tens + 40 <= upper;

        if (down != up)
            return (struct decimal){tens + up, k + 1};
    }

    const bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;

    if (down != up)
        return (struct decimal){s + up, k};

    const uint64_t middle = 4 * s + 2;

    return (struct decimal){s + (value > middle || (value == middle && (s & 1) != 0)), k};
}

static struct decimal shortest_double(uint64_t bits)
{
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const int q = (exponent != 0 ? exponent : 1) - 1075;
    const uint64_t c = exponent != 0 ? fraction | UINT64_C(1) << 52 : fraction;

    if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        return (struct decimal){c >> -q, 0}; /* a small integer */
    return shortest(c, q, fraction == 0 && exponent > 1);
}

static struct decimal shortest_float(uint32_t bits)
{
    const uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
    const int exponent = (int)(bits >> 23 & 0xff);
    const int q = (exponent != 0 ? exponent : 1) - 150;
    const uint32_t c = exponent != 0 ? fraction | UINT32_C(1) << 23 : fraction;

    if (q <= 0 && q > -24 && (c & ((UINT32_C(1) << -q) - 1)) == 0)
        return (struct decimal){c >> -q, 0};
    return shortest(c, q, fraction == 0 && exponent > 1);
}

/* Where numbers without an exponent may have their point, as in JavaScript. */
enum { POINT_MIN = -5, POINT_MAX = 21 };

/* d.ddde-7 */
static size_t put_scientific(char *out, const char *digits, size_t n, int point)
{
    char *p = out;

    *p++ = digits[0];
    if (n > 1) {
        *p++ = '.';
        memcpy(p, digits + 1, n - 1);
        p += n - 1;
    }
    *p++ = 'e';
    p += number_i64(p, point - 1);
    return (size_t)(p - out);
}

/* 0.00ddd, dd.d, dd00 */
static size_t put_plain(char *out, const char *digits, size_t n, int point)
{
    if (point <= 0) {
        const size_t zeros = (size_t)-point;

        memcpy(out, "0.000000000000000", 2 + zeros);
        memcpy(out + 2 + zeros, digits, n);
        return 2 + zeros + n;
    }

    const size_t whole = (size_t)point;

    if (whole >= n) {
        memcpy(out, digits, n);
        memset(out + n, '0', whole - n);
        return whole;
    }
    memcpy(out, digits, whole);
    out[whole] = '.';
    memcpy(out + whole + 1, digits + whole, n - whole);
    return n + 1;
}

static size_t put_decimal(char *out, struct decimal d, int point_min, int point_max)
{
    char digits[NUMBER_MAX];

    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }

    const size_t n = number_u64(digits, d.digits);
    const int point = (int)n + d.exponent;

    if (point < point_min || point > point_max)
        return put_scientific(out, digits, n, point);
    return put_plain(out, digits, n, point);
}

size_t number_double_plain(char *out, double v, int point_min, int point_max)
{
    uint64_t bits;
    size_t n = 0;

    memcpy(&bits, &v, sizeof(bits));
    if (bits >> 63 != 0)
        out[n++] = '-';
    if (bits << 1 == 0) {
        out[n++] = '0';
        return n;
    }
    return n + put_decimal(out + n, shortest_double(bits & (UINT64_MAX >> 1)), point_min,
                           point_max);
}

size_t number_double(char *out, double v)
{
    return number_double_plain(out, v, POINT_MIN, POINT_MAX);
}

size_t number_float(char *out, float v)
{
    uint32_t bits;
    size_t n = 0;

    memcpy(&bits, &v, sizeof(bits));
    if (bits >> 31 != 0)
        out[n++] = '-';
    if (bits << 1 == 0) {
        out[n++] = '0';
        return n;
    }
    return n +
           put_decimal(out + n, shortest_float(bits & (UINT32_MAX >> 1)), POINT_MIN, POINT_MAX);
}
