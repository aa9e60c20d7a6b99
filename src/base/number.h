/*
 * Fast conversion of numbers to decimal text: no locale, no NUL, no allocation.
 *
 * Each function writes at out, which has room for NUMBER_MAX bytes, and returns the number of
 * bytes written.
 */
#ifndef SRC_BASE_NUMBER_H
#define SRC_BASE_NUMBER_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_MAX 40

/* "00" to "99" */
extern const char number_pairs[200];

/* Writes n < 100 as two digits. */
static inline void number_put_2(char *out, unsigned n)
{
    memcpy(out, number_pairs + 2 * n, 2);
}

/* Writes n < 10000 as four digits. */
static inline void number_put_4(char *out, unsigned n)
{
    number_put_2(out, n / 100);
    number_put_2(out + 2, n % 100);
}

/* Writes v as exactly n digits, 1 to 9, and zeros behind them. v must not have more digits. */
void number_put_digits(char *out, uint32_t v, size_t n);

size_t number_u64(char *out, uint64_t v);
size_t number_i64(char *out, int64_t v);

/*
 * Writes the shortest digits that read back as the same 64 or 32 bits: "0.1", "1e-7", "-0". v
 * must be finite.
 */
size_t number_double(char *out, double v);
size_t number_float(char *out, float v);

/*
 * Writes the same digits, without an exponent while the decimal point stands point_min to
 * point_max places right of the start of the first digit (0.1: 0, 1: 1, 10: 2). -15 <=
 * point_min, point_max <= 21.
 */
size_t number_double_plain(char *out, double v, int point_min, int point_max);

#endif
