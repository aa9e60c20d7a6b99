#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void assert_text(const char *out, size_t n, const char *expected)
{
    if (n != strlen(expected) || memcmp(out, expected, n) != 0)
        fail_msg("%.*s is not %s", (int)n, out, expected);
}

static void integers_of_every_length_are_printed(void **state)
{
    uint64_t seed = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        const uint64_t v = next(&seed) >> (i % 64);
        char out[NUMBER_MAX], expected[NUMBER_MAX];

        snprintf(expected, sizeof(expected), "%" PRIu64, v);
        assert_text(out, number_u64(out, v), expected);
        snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)v);
        assert_text(out, number_i64(out, (int64_t)v), expected);
    }
    for (uint64_t v = 1, i = 0; i < 20; i++, v *= 10)
        for (int d = -1; d < 2; d++) {
            char out[NUMBER_MAX], expected[NUMBER_MAX];

            snprintf(expected, sizeof(expected), "%" PRIu64, v + (uint64_t)d);
            assert_text(out, number_u64(out, v + (uint64_t)d), expected);
        }

    char out[NUMBER_MAX];

    assert_text(out, number_i64(out, INT64_MIN), "-9223372036854775808");
}

static void a_fixed_number_of_digits_keeps_its_zeros(void **state)
{
    uint64_t seed = 88172645463325252u;
    uint32_t end = 1;

    (void)state;
    for (int n = 1; n <= 9; n++) {
        end *= 10;
        for (int i = 0; i < 20000; i++) {
            const uint32_t v = i == 0 ? end - 1 : (uint32_t)(next(&seed) >> (i % 64)) % end;
            char out[NUMBER_MAX], expected[NUMBER_MAX];

            snprintf(expected, sizeof(expected), "%0*" PRIu32, n, v);
            number_put_digits(out, v, (size_t)n);
            assert_text(out, (size_t)n, expected);
        }
    }
}

static void known_doubles_have_their_text(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {1e21, "1e21"},
        {1e20, "100000000000000000000"},
        {123456789012345680000.0, "123456789012345680000"},
        {0.000001, "0.000001"},
        {1e-7, "1e-7"},
        {1.25e-9, "1.25e-9"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {9007199254740993.0, "9007199254740992"},
        {4.35, "4.35"},
        {1e23, "1e23"},
        {9.5e-3, "0.0095"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char out[NUMBER_MAX];

        assert_text(out, number_double(out, cases[i].v), cases[i].text);
    }
}

/* printf with the fewest digits that read back. */
static int fewest_digits(double v, bool single)
{
    for (int digits = 1;; digits++) {
        char text[64];

        snprintf(text, sizeof(text), "%.*e", digits - 1, v);
        if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
            return digits;
    }
}

static int digits_of(const char *text)
{
    int n = 0, zeros = 0;

    for (const char *p = text; *p != '\0' && *p != 'e'; p++) {
        if (*p < '0' || *p > '9' || (n == 0 && *p == '0'))
            continue;
        n++;
        zeros = *p == '0' ? zeros + 1 : 0;
    }
    return n - zeros;
}

static void doubles_read_back_and_are_shortest(void **state)
{
    uint64_t seed = 1234567;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits =
            i % 5 == 0 ? next(&seed) & UINT64_C(0xfff0000000000000) : next(&seed);
        char out[NUMBER_MAX + 1];
        double v;

        memcpy(&v, &bits, sizeof(v));
        if (i % 7 == 0)
            v = (double)(int64_t)(bits >> 30) / 1000.0;
        if (!isfinite(v) || v == 0)
            continue;
        out[number_double(out, v)] = '\0';
        if (strtod(out, NULL) != v)
            fail_msg("%.17g gives %s", v, out);
        if (digits_of(out) > fewest_digits(v, false))
            fail_msg("%.17g gives %s, which is not shortest", v, out);
    }
}

static void floats_read_back_and_are_shortest(void **state)
{
    uint64_t seed = 7654321;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        const uint32_t bits = (uint32_t)next(&seed) & (i % 5 == 0 ? 0xff800000u : UINT32_MAX);
        char out[NUMBER_MAX + 1];
        float v;

        memcpy(&v, &bits, sizeof(v));
        if (!isfinite(v) || v == 0)
            continue;
        out[number_float(out, v)] = '\0';
        if (strtof(out, NULL) != v)
            fail_msg("%.9g gives %s", (double)v, out);
        if (digits_of(out) > fewest_digits((double)v, true))
            fail_msg("%.9g gives %s, which is not shortest", (double)v, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_every_length_are_printed),
        cmocka_unit_test(a_fixed_number_of_digits_keeps_its_zeros),
        cmocka_unit_test(known_doubles_have_their_text),
        cmocka_unit_test(doubles_read_back_and_are_shortest),
        cmocka_unit_test(floats_read_back_and_are_shortest),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
