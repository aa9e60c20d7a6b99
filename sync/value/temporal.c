#include "config.h"

#include "sync/value/temporal.h"

#include "src/base/bytes.h"
#include "src/base/number.h"

#include <stdbool.h>

static const uint32_t powers_of_ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000};

/* Inlined everywhere: texts of dates are most of the work for many a log. */
#define INLINE static inline __attribute__((always_inline))

INLINE size_t put_date(char *out, unsigned year, unsigned month, unsigned day)
{
    number_put_4(out, year);
    out[4] = '-';
    number_put_2(out + 5, month);
    out[7] = '-';
    number_put_2(out + 8, day);
    return 10;
}

INLINE size_t put_clock(char *out, unsigned hour, unsigned minute, unsigned second)
{
    number_put_2(out, hour);
    out[2] = ':';
    number_put_2(out + 3, minute);
    out[5] = ':';
    number_put_2(out + 6, second);
    return 8;
}

/* Print fsp digits of microseconds.  Prints nothing for fsp 0.  Writes digits behind the end.
 */
INLINE size_t put_fraction(char *out, uint32_t micros, unsigned fsp)
{
    if (fsp == 0)
        return 0;
    out[0] = '.';
    number_put_2(out + 1, micros / 10000);
    number_put_4(out + 3, micros % 10000);
    return fsp + 1;
}

#define MICROS_END 1000000

/*
 * A stored fraction has an even number of digits.  Return it in microseconds; from MICROS_END
 * on it is impossible.
 */
INLINE uint32_t micros_of(uint64_t stored, unsigned fsp)
{
    static const uint32_t units[] = {0, 10000, 100, 1};

    return (uint32_t)stored * units[temporal_fraction_size(fsp)];
}

INLINE uint32_t load_micros(const uint8_t *p, unsigned fsp)
{
    return fsp > 0 ? micros_of(load_be(p, (unsigned)temporal_fraction_size(fsp)), fsp) : 0;
}

size_t temporal_date(char *out, const uint8_t *p)
{
    const uint32_t v = load_le24(p);

    if (v >> 9 > 9999)
        return 0;
    return put_date(out, v >> 9, v >> 5 & 15, v & 31);
}

size_t temporal_datetime2(char *out, const uint8_t *p, unsigned fsp)
{
    const uint64_t stored = load_be40(p);
    const uint64_t v = stored - UINT64_C(0x8000000000);
    const unsigned months = (unsigned)(v >> 22);
    const uint32_t micros = load_micros(p + 5, fsp);

    if (stored < UINT64_C(0x8000000000) || months / 13 > 9999 || micros >= MICROS_END)
        return 0;

    size_t n = put_date(out, months / 13, months % 13, v >> 17 & 31);

    out[n++] = 'T';
    n += put_clock(out + n, v >> 12 & 31, v >> 6 & 63, v & 63);
    return n + put_fraction(out + n, micros, fsp);
}

/*
 * Convert days since 1970 to a date: Neri and Schneider, "Euclidean affine functions" (2022).
 */
INLINE size_t put_day(char *out, uint32_t days)
{
    const uint32_t n1 = 4 * (days + 719468) + 3;
    const uint32_t century = n1 / 146097;
    const uint32_t n2 = 4 * (n1 % 146097 / 4) + 3;
    const uint64_t p2 = UINT64_C(2939745) * n2;
    const uint32_t day_of_year =
        (uint32_t)p2 / 2939745 / 4; /* counted from the first of March */
    const uint32_t n3 = 2141 * day_of_year + 197913;
    const bool next_year = day_of_year >= 306;

    return put_date(out, 100 * century + (uint32_t)(p2 >> 32) + next_year,
                    (n3 >> 16) - (next_year ? 12 : 0), (n3 & 0xffff) / 2141 + 1);
}

INLINE size_t put_epoch(char *out, uint64_t seconds)
{
    const uint32_t clock = (uint32_t)(seconds % 86400);
    size_t n = put_day(out, (uint32_t)(seconds / 86400));

    out[n++] = 'T';
    return n + put_clock(out + n, clock / 3600, clock / 60 % 60, clock % 60);
}

size_t temporal_epoch(char *out, uint64_t seconds)
{
    if (seconds > UINT64_C(253402300799)) /* 9999-12-31 */
        return 0;
    return put_epoch(out, seconds);
}

INLINE size_t put_timestamp(char *out, uint32_t seconds, uint32_t micros, unsigned fsp)
{
    size_t n = 19;

    if (micros >= MICROS_END)
        return 0;
    if (seconds == 0)
        memcpy(out, "0000-00-00T00:00:00", n);
    else
        n = put_epoch(out, seconds);
    return n + put_fraction(out + n, micros, fsp);
}

size_t temporal_timestamp2(char *out, const uint8_t *p, unsigned fsp)
{
    return put_timestamp(out, load_be32(p), load_micros(p + 4, fsp), fsp);
}

/* [-]HH:MM:SS; hours may have more than two digits. */
INLINE size_t put_time(char *out, bool negative, unsigned hour, unsigned minute,
                       unsigned second)
{
    size_t n = 0;

    if (negative)
        out[n++] = '-';
    if (hour >= 100)
        out[n++] = (char)('0' + hour / 100 % 10);
    return n + put_clock(out + n, hour % 100, minute, second);
}

size_t temporal_time2(char *out, const uint8_t *p, unsigned fsp)
{
    /* One number including the fraction: a negative time is the complement of all of it. */
    const unsigned fraction_bits = 8 * (unsigned)temporal_fraction_size(fsp);
    const uint64_t stored = load_be(p, 3 + fraction_bits / 8);
    const uint64_t zero = UINT64_C(0x800000) << fraction_bits;
    const bool negative = stored < zero;
    const uint64_t v = negative ? zero - stored : stored - zero;
    const uint32_t clock = (uint32_t)(v >> fraction_bits);
    const uint32_t micros = micros_of(v & ((UINT64_C(1) << fraction_bits) - 1), fsp);

    if (micros >= MICROS_END || clock >> 22 != 0)
        return 0;

    const size_t n = put_time(out, negative, clock >> 12, clock >> 6 & 63, clock & 63);

    return n + put_fraction(out + n, micros, fsp);
}

size_t temporal_old_datetime(char *out, const uint8_t *p)
{
    const uint64_t v = load_le64(p); /* YYYYMMDDhhmmss */

    if (v > UINT64_C(99999999999999))
        return 0;

    const uint32_t date = (uint32_t)(v / 1000000), clock = (uint32_t)(v % 1000000);
    size_t n = put_date(out, date / 10000, date / 100 % 100, date % 100);

    out[n++] = 'T';
    return n + put_clock(out + n, clock / 10000, clock / 100 % 100, clock % 100);
}

size_t temporal_old_timestamp(char *out, const uint8_t *p)
{
    return put_timestamp(out, load_le32(p), 0, 0);
}

size_t temporal_old_time(char *out, const uint8_t *p)
{
    const uint32_t stored = load_le24(p); /* signed HHMMSS */
    const bool negative = stored > 0x7fffff;
    const uint32_t v = negative ? 0x1000000 - stored : stored;

    if (v > 9999999)
        return 0;
    return put_time(out, negative, v / 10000, v / 100 % 100, v % 100);
}

size_t temporal_hires_datetime_size(unsigned fsp)
{
    static const uint8_t sizes[] = {8, 6, 6, 7, 7, 7, 8};

    return sizes[fsp];
}

size_t temporal_hires_timestamp_size(unsigned fsp)
{
    return 4 + temporal_fraction_size(fsp);
}

size_t temporal_hires_time_size(unsigned fsp)
{
    static const uint8_t sizes[] = {3, 4, 4, 5, 5, 5, 6};

    return sizes[fsp];
}

size_t temporal_hires_datetime(char *out, const uint8_t *p, unsigned fsp)
{
    const uint64_t stored = load_be(p, (unsigned)temporal_hires_datetime_size(fsp));
    const uint32_t micros = (uint32_t)(stored % powers_of_ten[fsp]) * powers_of_ten[6 - fsp];
    const uint64_t v = stored / powers_of_ten[fsp];
    const uint32_t clock = (uint32_t)(v % 86400);
    const uint64_t days = v / 86400; /* (year * 13 + month) * 32 + day */

    if (days / 32 / 13 > 9999)
        return 0;

    const unsigned months = (unsigned)(days / 32);
    size_t n = put_date(out, months / 13, months % 13, days % 32);

    out[n++] = 'T';
    n += put_clock(out + n, clock / 3600, clock / 60 % 60, clock % 60);
    return n + put_fraction(out + n, micros, fsp);
}

size_t temporal_hires_timestamp(char *out, const uint8_t *p, unsigned fsp)
{
    const uint64_t fraction = load_be(p + 4, (unsigned)temporal_fraction_size(fsp));

    return put_timestamp(out, load_be32(p), (uint32_t)fraction * powers_of_ten[6 - fsp], fsp);
}

size_t temporal_hires_time(char *out, const uint8_t *p, unsigned fsp)
{
    const uint64_t zero = UINT64_C(3020400) * powers_of_ten[fsp]; /* 838:59:59 plus a second */
    const uint64_t stored = load_be(p, (unsigned)temporal_hires_time_size(fsp));
    const bool negative = stored < zero;
    const uint64_t v = negative ? zero - stored : stored - zero;
    const uint64_t clock = v / powers_of_ten[fsp];
    const uint32_t micros = (uint32_t)(v % powers_of_ten[fsp]) * powers_of_ten[6 - fsp];

    if (clock > 3020400)
        return 0;

    const size_t n = put_time(out, negative, (unsigned)(clock / 3600),
                              (unsigned)(clock / 60 % 60), (unsigned)(clock % 60));

    return n + put_fraction(out + n, micros, fsp);
}

/* Packed: (((year * 13 + month) << 5 | day) << 17 | h << 12 | m << 6 | s) << 24 |
 * microseconds. */

size_t temporal_packed_date(char *out, int64_t packed)
{
    const uint64_t days = (uint64_t)packed >> 41;
    const uint64_t months = days >> 5;

    if (packed < 0 || months / 13 > 9999)
        return 0;
    return put_date(out, (unsigned)(months / 13), (unsigned)(months % 13), days & 31);
}

size_t temporal_packed_datetime(char *out, int64_t packed)
{
    const uint64_t v = (uint64_t)packed;
    const uint32_t micros = v & 0xffffff;
    size_t n = temporal_packed_date(out, packed);

    if (n == 0 || micros > 999999)
        return 0;
    out[n++] = ' ';
    n += put_clock(out + n, v >> 36 & 31, v >> 30 & 63, v >> 24 & 63);
    return n + put_fraction(out + n, micros, 6);
}

size_t temporal_packed_time(char *out, int64_t packed)
{
    const uint64_t v = packed < 0 ? 0 - (uint64_t)packed : (uint64_t)packed;
    const uint32_t micros = v & 0xffffff;

    if (micros > 999999 || v >> 46 != 0)
        return 0;

    const size_t n = put_time(out, packed < 0, v >> 36 & 0x3ff, v >> 30 & 63, v >> 24 & 63);

    return n + put_fraction(out + n, micros, 6);
}
