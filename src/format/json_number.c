#include "config.h"

#include "src/format/json_number.h"

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/hash.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPONENT_DIGITS_MAX 18

/* So many digits, with a 1 before them, fit into 64 bits. */
#define GROUP 18

/* A number as sign, significant digits and the place of the first of them. */
struct decimal_text {
    bool negative, exact; /* exact: power was calculated */
    struct str digits;    /* from the first to the last that is not 0; may hold the point */
    int64_t power;        /* of ten, of the first digit; 0 of no digits */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the exponent behind the 'e'. Returns false if it is too large to calculate with. */
static bool read_exponent(struct str s, int64_t *out)
{
    const bool negative = s.len > 0 && s.ptr[0] == '-';
    size_t i = s.len > 0 && !is_digit(s.ptr[0]) ? 1 : 0;

    while (i < s.len && s.ptr[i] == '0')
        i++;
    *out = 0;
    if (s.len - i > EXPONENT_DIGITS_MAX)
        return false;
    for (; i < s.len; i++)
        *out = *out * 10 + (s.ptr[i] - '0');
    *out = negative ? -*out : *out;
    return true;
}

/* Returns how many bytes of s stand before c; all if c is absent. */
static size_t length_before(struct str s, char c)
{
    const char *at = memchr(s.ptr, c, s.len);

    return at == NULL ? s.len : (size_t)(at - s.ptr);
}

static struct str without_zeros(struct str s, size_t *n_leading)
{
    *n_leading = 0;
    while (s.len > 0 && (s.ptr[0] == '0' || s.ptr[0] == '.')) {
        *n_leading += 1;
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && (s.ptr[s.len - 1] == '0' || s.ptr[s.len - 1] == '.'))
        s.len--;
    return s;
}

static struct decimal_text read_decimal(struct str s)
{
    struct decimal_text d = {.negative = s.len > 0 && s.ptr[0] == '-', .exact = true};

    if (d.negative)
        s = (struct str){s.ptr + 1, s.len - 1};

    size_t e = length_before(s, 'e'), leading;

    e = e == s.len ? length_before(s, 'E') : e;
    if (e < s.len)
        d.exact = read_exponent((struct str){s.ptr + e + 1, s.len - e - 1}, &d.power);
    s.len = e;

    const size_t point = length_before(s, '.');

    d.digits = without_zeros(s, &leading);
    if (d.digits.len == 0)
        return (struct decimal_text){.exact = true};
    d.power += (int64_t)point - (int64_t)leading - (leading < point);
    return d;
}

/* Returns the next digit from *i on and steps behind it; '\0' at the end. */
static char next_digit(struct str s, size_t *i)
{
    if (*i < s.len && s.ptr[*i] == '.')
        *i += 1;
    return *i < s.len ? s.ptr[(*i)++] : '\0';
}

static bool digits_equal(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    char c;

    do {
        c = next_digit(a, &i);
        if (c != next_digit(b, &k))
            return false;
    } while (c != '\0');
    return true;
}

bool json_number_equal(struct str a, struct str b)
{
    if (str_equal(a, b))
        return true;

    const struct decimal_text x = read_decimal(a), y = read_decimal(b);

    return x.exact && y.exact && x.negative == y.negative && x.power == y.power &&
           digits_equal(x.digits, y.digits);
}

/* ---- hashes: of the digits, in groups, and of the place of the last digit ---- */

static uint64_t hash_place(uint64_t h, int64_t power, bool negative)
{
    return hash_mix(h, (uint64_t)power << 1 | negative);
}

/* A group that is not the first begins with a 1, so that 5 is not 05. */
static uint64_t hash_decimal(const struct decimal_text *d, uint64_t seed)
{
    uint64_t h = seed, group = 0;
    int64_t n = 0;
    size_t i = 0;

    for (char c; (c = next_digit(d->digits, &i)) != '\0'; n++) {
        if (n > 0 && n % GROUP == 0) {
            h = hash_mix(h, group);
            group = 1;
        }
        group = group * 10 + (uint64_t)(c - '0');
    }
    return hash_place(hash_mix(h, group), n == 0 ? 0 : d->power - (n - 1), d->negative);
}

/*
 * Reads digits, with or without a point, that are one group: most numbers. Returns false if s
 * is another number. power is of ten, of the last digit.
 */
static bool read_group(struct str s, uint64_t *group, int64_t *power)
{
    size_t behind_point = s.len;

    *group = 0;
    if (s.len > GROUP)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (is_digit(s.ptr[i]))
            *group = *group * 10 + (uint64_t)(s.ptr[i] - '0');
        else if (s.ptr[i] == '.')
            behind_point = i + 1;
        else
            return false;
    }
    *power = (int64_t)behind_point - (int64_t)s.len;
    return true;
}

uint64_t json_number_hash(struct str s, uint64_t seed)
{
    const bool negative = s.len > 0 && s.ptr[0] == '-';
    uint64_t group;
    int64_t power;

    if (!read_group((struct str){s.ptr + negative, s.len - negative}, &group, &power)) {
        const struct decimal_text d = read_decimal(s);

        return d.exact ? hash_decimal(&d, seed) : hash_bytes(s, seed);
    }
    if (group == 0)
        return hash_place(hash_mix(seed, 0), 0, false);
    for (; group % 10 == 0; power++)
        group /= 10;
    return hash_place(hash_mix(seed, group), power, negative);
}

/* ---- doubles ---- */

static bool has_point_or_exponent(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '.' || s.ptr[i] == 'e' || s.ptr[i] == 'E')
            return true;
    return false;
}

/* The program sets no locale for numbers, so that strtod() reads a point. */
static double read_double(struct str s)
{
    struct buf text = {0};

    buf_append(&text, s);

    const double d = strtod(text.ptr, NULL);

    buf_free(&text);
    return d;
}

bool json_number_is_same_double(struct str a, struct str b)
{
    if (!has_point_or_exponent(a) || !has_point_or_exponent(b))
        return false;

    const double x = read_double(a);

    return isfinite(x) && x == read_double(b);
}
