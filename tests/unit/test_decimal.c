#include "config.h"

#include "tests/unit/vectors.h"

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

static void groups_with_too_large_numbers_are_refused(void **state)
{
    char text[DECIMAL_MAX];

    (void)state;
    assert_int_equal(decimal_text(text, (const uint8_t *)"\xff\xff\xff\xff", 9, 0), 0);
    assert_int_equal(decimal_text(text, (const uint8_t *)"\x80\x64", 3, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_server),
        cmocka_unit_test(stored_decimals_have_their_exact_text),
        cmocka_unit_test(groups_with_too_large_numbers_are_refused),
    };
    return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
