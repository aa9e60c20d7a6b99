#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/human.h"

#include <math.h>

static void counts_are_grouped_by_thousands(void **state)
{
    static const struct {
        uint64_t n;
        const char *text;
    } cases[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {1234567, "1,234,567"},
        {UINT64_MAX, "18,446,744,073,709,551,615"},
    };
    struct buf b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&b);
        human_count(&b, cases[i].n);
        assert_string_equal(b.ptr, cases[i].text);
    }
    buf_free(&b);
}

static void bytes_have_the_largest_unit_that_leaves_one_digit(void **state)
{
    static const struct {
        uint64_t n;
        const char *text;
    } cases[] = {
        {0, "0 B"},           {1023, "1023 B"},       {1024, "1.0 KiB"},
        {1048575, "1.0 MiB"}, {92484403, "88.2 MiB"}, {UINT64_MAX, "16.0 EiB"},
    };
    struct buf b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&b);
        human_bytes(&b, cases[i].n);
        assert_string_equal(b.ptr, cases[i].text);
    }
    buf_free(&b);
}

static void durations_have_at_most_two_units(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        {0, "0.0 s"},
        {0.44, "0.4 s"},
        {9.96, "10 s"},
        {59.4, "59 s"},
        {59.6, "1 min 0 s"},
        {932, "15 min 32 s"},
        {12000, "3 h 20 min"},
        {187200, "2 d 4 h"},
        {-1, "-"},
        {(double)INFINITY, "-"},
        {(double)NAN, "-"},
    };
    struct buf b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&b);
        human_seconds(&b, cases[i].seconds);
        assert_string_equal(b.ptr, cases[i].text);
    }
    buf_free(&b);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void a_share_is_never_above_100_and_100_only_at_the_end(void **state)
{
    (void)state;
    assert_true(near(human_percent(0, 0), 0));
    assert_true(near(human_percent(5, 0), 0));
    assert_true(near(human_percent(1, 4), 25));
    assert_true(near(human_percent(999999, 1000000), 99.9));
    assert_true(near(human_percent(7, 7), 100));
    assert_true(near(human_percent(8, 7), 100));
    assert_true(near(human_percent(UINT64_MAX, 1), 100));
}

static void a_time_is_read_in_utc(void **state)
{
    struct buf b = {0};

    (void)state;
    human_time(&b, 1795262845123);
    assert_string_equal(b.ptr, "2026-11-21 12:07:25 UTC");
    buf_clear(&b);
    human_time(&b, 0);
    assert_string_equal(b.ptr, "-");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(bytes_have_the_largest_unit_that_leaves_one_digit),
        cmocka_unit_test(durations_have_at_most_two_units),
        cmocka_unit_test(a_share_is_never_above_100_and_100_only_at_the_end),
        cmocka_unit_test(a_time_is_read_in_utc),
    };
    return cmocka_run_group_tests_name("human", tests, NULL, NULL);
}
