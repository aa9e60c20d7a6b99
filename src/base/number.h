/*
 * Numbers to decimal text, fast: no locale, no NUL, no allocation.
 *
 * Each function writes at out, which has room for NUMBER_MAX bytes, and returns how many it
 * wrote.
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

/* Two digits of n < 100. */
static inline void number_put_2(char *out, unsigned n)
{
    memcpy(out, number_pairs + 2 * n, 2);
}

/* Four digits of n < 10000. */
static inline void number_put_4(char *out, unsigned n)
{
    number_put_2(out, n / 100);
    number_put_2(out + 2, n % 100);
}

/* Exactly n of 1 to 9 digits of v, which has no more. */
void number_put_digits(char *out, uint32_t v, size_t n);

size_t number_u64(char *out, uint64_t v);
size_t number_i64(char *out, int64_t v);

/*
 * The shortest digits that read back as the same 64 or 32 bits: "0.1", "1e-7", "-0".  v is
 * finite.
 */
size_t number_double(char *out, double v);
size_t number_float(char *out, float v);

/*
 * The same digits; without an exponent while the point stands from point_min to point_max
 * places right of the first digit's left side (0.1: 0, 1: 1, 10: 2); -15 <= point_min,
 * point_max <= 21.
 */
size_t number_double_plain(char *out, double v, int point_min, int point_max);

#endif
