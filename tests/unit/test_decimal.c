#include "config.h"

#include "tests/unit/vectors.h"

#include "src/base/random.h"
#include "sync/value/decimal.h"

static void sizes_are_those_of_the_server(void **state)
{
    static const unsigned cases[][3] = {
        {1, 0, 1}, {9, 0, 4},   {10, 0, 5},   {14, 4, 7},   {18, 9, 8},
        {9, 9, 4}, {65, 0, 29}, {65, 30, 30}, {30, 30, 14}, {38, 38, 17},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(decimal_size(cases[i][0], cases[i][1]), cases[i][2]);
}

static void stored_decimals_have_their_exact_text(void **state)
{
    static const struct {
        unsigned precision, scale;
        const char *hex, *text;
    } cases[] = {
        {14, 4, "810dfb38d204d2", "1234567890.1234"},
        {14, 4, "7ef204c72dfb2d", "-1234567890.1234"},
        {1, 1, "85", "0.5"},
        {1, 0, "80", "0"},
        {1, 0, "76", "-9"},
        {18, 0, "8000000000000000", "0"},
        {18, 9, "8000000000000001", "0.000000001"},
        {65, 0, "e33b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff",
         "99999999999999999999999999999999999999999999999999999999999999999"},
        {20, 0, "8b0000000000000002", "11000000000000000002"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf bytes = {0};
        char text[DECIMAL_MAX];
        const struct str cell = unhex(&bytes, cases[i].hex);
        size_t n;

        assert_int_equal(cell.len, decimal_size(cases[i].precision, cases[i].scale));
        n = decimal_text(text, (const uint8_t *)cell.ptr, cases[i].precision, cases[i].scale);
        if (!str_equal((struct str){text, n}, str_from(cases[i].text)))
            fail_msg("%s is %.*s, not %s", cases[i].hex, (int)n, text, cases[i].text);
        buf_free(&bytes);
    }
}

/* The definition: digits of one side of the point, in groups of nine, the short one outside. */
static uint8_t *store_side(uint8_t *to, const char *digits, unsigned n, bool whole)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

    for (unsigned i = 0; i < n;) {
        const unsigned group = !whole && n - i >= 9 ? 9 : (n - i) % 9 != 0 ? (n - i) % 9 : 9;
        uint32_t v = 0;

        for (unsigned k = 0; k < group; k++)
            v = v * 10 + (uint32_t)(digits[i++] - '0');
        for (unsigned k = sizes[group]; k > 0; k--)
            *to++ = (uint8_t)(v >> 8 * (k - 1));
    }
    return to;
}

static void store_decimal(uint8_t cell[64], const char *digits, unsigned precision,
                          unsigned scale, bool negative)
{
    uint8_t *end = store_side(cell, digits, precision - scale, true);

    end = store_side(end, digits + precision - scale, scale, false);
    assert_int_equal(end - cell, decimal_size(precision, scale));
    cell[0] ^= 0x80;
    for (uint8_t *p = cell; negative && p < end; p++)
        *p = (uint8_t) ~*p;
}

/* Digits, of which the first ones are often zeros. */
static void choose_digits(struct random *r, char *digits, unsigned n)
{
    const size_t zeros = random_below(r, 2) * random_below(r, n + 1);

    for (unsigned i = 0; i < n; i++)
        digits[i] = i < zeros ? '0' : (char)('0' + random_below(r, 10));
}

static void random_decimals_of_every_size_have_their_digits(void **state)
{
    struct random r;

    (void)state;
    random_init(&r, 5);
    for (int step = 0; step < 100000; step++) {
        const unsigned precision =
            1 +
            (unsigned)random_below(&r, random_below(&r, 2) == 0 ? 18 : DECIMAL_PRECISION_MAX);
        const unsigned most = precision < DECIMAL_SCALE_MAX ? precision : DECIMAL_SCALE_MAX;
        const unsigned scale = (unsigned)random_below(&r, most + 1), whole = precision - scale;
        const bool negative = random_below(&r, 2) == 0;
        char digits[DECIMAL_PRECISION_MAX], text[DECIMAL_MAX];
        uint8_t cell[64];
        struct buf expected = {0};
        unsigned zeros = 0;

        choose_digits(&r, digits, precision);
        store_decimal(cell, digits, precision, scale, negative);
        while (zeros < whole && digits[zeros] == '0')
            zeros++;
        buf_append(&expected, negative ? STR("-") : STR(""));
        buf_append(&expected,
                   zeros < whole ? (struct str){digits + zeros, whole - zeros} : STR("0"));
        buf_append(&expected, scale > 0 ? STR(".") : STR(""));
        buf_append(&expected, (struct str){digits + whole, scale});

        const size_t n = decimal_text(text, cell, precision, scale);

        if (!str_equal((struct str){text, n}, buf_str(&expected)))
            fail_msg("%.*s is not %s", (int)n, text, expected.ptr);
        buf_free(&expected);
    }
}

static void groups_with_too_large_numbers_are_refused(void **state)
{
    char text[DECIMAL_MAX];

    (void)state;
    assert_int_equal(decimal_text(text, (const uint8_t *)"\xbb\x9a\xca\x00", 9, 0), 0);
    assert_int_equal(decimal_text(text, (const uint8_t *)"\x81\x64", 3, 2), 0);
    assert_int_equal(decimal_text(text, (const uint8_t *)"\x80\x3b\x9a\xca\x00", 10, 0), 0);
    assert_int_equal(decimal_text(text, (const uint8_t *)"\xff\xff\xff\xff", 9, 0), 0);
    assert_int_equal(decimal_text(text, (const uint8_t *)"\x80\x64", 3, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_server),
        cmocka_unit_test(stored_decimals_have_their_exact_text),
        cmocka_unit_test(random_decimals_of_every_size_have_their_digits),
        cmocka_unit_test(groups_with_too_large_numbers_are_refused),
    };
    return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
