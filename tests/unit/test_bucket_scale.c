#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/random.h"
#include "src/base/utf8.h"
#include "sync/document/bucket/scale.h"
#include "sync/document/bucket/scale_number.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <string.h>

static struct str labels[] = {STR("c"), STR("b"), STR("B"), STR("a")};

static struct column column_of(enum column_type type, unsigned fsp)
{
    return (struct column){.name = STR("c"),
                           .type = type,
                           .fsp = (uint8_t)fsp,
                           .charset = STR("utf8mb4"),
                           .collation = STR("utf8mb4_unicode_ci"),
                           .labels = labels,
                           .n_labels = ARRAY_LEN(labels)};
}

static const struct case_of {
    enum column_type type;
    unsigned fsp;
    const char *low, *high;
    const char *values; /* those between */
} cases[] = {
    {COLUMN_INT, 0, "0", "8", "1 2 3 4 5 6 7 "},
    {COLUMN_INT, 0, "-4", "4", "-3 -2 -1 0 1 2 "},
    {COLUMN_INT, 0, "7", "8", ""},
    {COLUMN_INT, 0, "8", "7", ""},
    {COLUMN_INT, 0, "-12", "-9", "-11 -10 "},
    {COLUMN_BIGINT, 0, "0", "18446744073709551615",
     "2305843009213693951 4611686018427387903 6917529027641081855 9223372036854775807 "
     "11529215046068469759 13835058055282163711 16140901064495857663 "},
    {COLUMN_DECIMAL, 0, "-0.5", "1.0", "-0.3 -0.1 0.0 0.2 0.4 0.6 0.8 "},
    {COLUMN_YEAR, 0, "1999", "2001", "2000 "},
    {COLUMN_DATE, 0, "2024-02-28", "2024-03-02", "2024-02-29 2024-03-01 "},
    {COLUMN_DATETIME, 0, "2024-01-01T00:00:00", "2024-01-01T00:00:08",
     "2024-01-01T00:00:01 2024-01-01T00:00:02 2024-01-01T00:00:03 2024-01-01T00:00:04 "
     "2024-01-01T00:00:05 2024-01-01T00:00:06 2024-01-01T00:00:07 "},
    {COLUMN_TIMESTAMP, 3, "2024-01-01T00:00:00.100", "2024-01-01T00:00:00.103",
     "2024-01-01T00:00:00.101 2024-01-01T00:00:00.102 "},
    {COLUMN_TIME, 0, "-00:00:02", "00:00:02", "-00:00:01 -00:00:00 00:00:00 00:00:01 "},
    {COLUMN_INET4, 0, "10.0.0.255", "10.0.1.2", "10.0.1.0 10.0.1.1 "},
    {COLUMN_INET6, 0, "::1", "::4", "::2 ::3 "},
    {COLUMN_INET6, 0, "::ffff", "2001:db8::2:0",
     "400:21b7::1:1fff 800:436e::1:3fff c00:6525::1:5fff 1000:86dc::1:7fff "
     "1400:a893::1:9fff 1800:ca4a::1:bfff 1c00:ec01::1:dfff "},
    {COLUMN_INET6, 0, "::4", "::1", ""},
    {COLUMN_UUID, 0, "00000000-0000-7000-8000-000000000000",
     "00000000-0002-7000-8000-000000000000", "00000000-0001-7000-8000-000000000000 "},
    {COLUMN_ENUM, 0, "a", "c", ""},
    {COLUMN_ENUM, 0, "c", "a", "b B "},
    {COLUMN_ENUM, 0, "", "B", "c b "},
    {COLUMN_SET, 0, "c,b", "B,a", ""},
    {COLUMN_VARCHAR, 0, "a", "A", ""},
};

static void values_between_two_others_divide_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct column c = column_of(cases[i].type, cases[i].fsp);
        struct str values[SCALE_VALUES];
        struct arena *a = arena_new();
        struct buf all = {0};
        const size_t n =
            scale_between(&c, str_from(cases[i].low), str_from(cases[i].high), a, values);

        for (size_t k = 0; k < n; k++)
            buf_printf(&all, "%" STR_FMT " ", STR_ARG(values[k]));
        if (!str_equal(buf_str(&all), str_from(cases[i].values)))
            fail_msg("%s to %s: %s", cases[i].low, cases[i].high, all.ptr);
        buf_free(&all);
        arena_free(a);
    }
}

static void values_of_texts_are_texts_that_rise_by_letter(void **state)
{
    static const char *const pairs[][2] = {
        {"apple", "Zebra"},           {"order-2024-0001", "order-2026-1"},
        {"Ålesund", "Zürich"},        {"a", "a b"},
        {"x\x01", "x\x02y"},          {"Київ", "Яблоко"},
        {"2024", "\xf0\x9f\x98\x80"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        const struct column c = column_of(COLUMN_VARCHAR, 0);
        struct str values[SCALE_VALUES];
        struct arena *a = arena_new();
        const size_t n =
            scale_between(&c, str_from(pairs[i][0]), str_from(pairs[i][1]), a, values);

        assert_true(n > 0);
        for (size_t k = 0; k < n; k++) {
            assert_true(utf8_valid(values[k]));
            assert_false(str_equal(values[k], str_from(pairs[i][0])));
            assert_true(k == 0 || !str_equal(values[k], values[k - 1]));
        }
        arena_free(a);
    }
}

static void texts_that_differ_by_case_accent_or_last_spaces_are_the_same(void **state)
{
    struct column c = column_of(COLUMN_VARCHAR, 0);

    (void)state;
    assert_true(scale_is_same(&c, STR("Ähre "), STR("AHRE")));
    assert_false(scale_is_same(&c, STR("ab"), STR("a b")));
    assert_false(scale_is_same(&c, STR("ab"), STR("abc")));
    c.collation = STR("utf8mb4_bin");
    assert_true(scale_is_same(&c, STR("a "), STR("a")));
    assert_false(scale_is_same(&c, STR("a"), STR("A")));
    c.type = COLUMN_VARBINARY;
    assert_false(scale_is_same(&c, STR("a "), STR("a")));
}

/* Whatever the value, its number means it. */
static void each_time_and_real_has_a_number_in_its_order(void **state)
{
    const struct column real = column_of(COLUMN_DOUBLE, 0);
    const struct column moment = column_of(COLUMN_DATETIME, 6),
                        hours = column_of(COLUMN_TIME, 2);
    static const char *const reals[] = {"-1e300", "-2.5", "-1e-300", "0",
                                        "1e-300", "7",    "1e300"};
    static const char *const moments[] = {
        "0000-00-00T00:00:00.000000", "1000-01-01T00:00:00.000000",
        "2024-02-29T23:59:59.999999", "2024-03-01T00:00:00.000000",
        "9999-12-31T23:59:59.999999"};
    static const char *const times[] = {"-838:59:59.00", "-00:00:00.25", "00:00:00.00",
                                        "00:00:00.01", "838:59:59.00"};
    const struct {
        const struct column *c;
        const char *const *values;
        size_t n;
    } all[] = {{&real, reals, ARRAY_LEN(reals)},
               {&moment, moments, ARRAY_LEN(moments)},
               {&hours, times, ARRAY_LEN(times)}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        double before = -1e300;

        for (size_t k = 0; k < all[i].n; k++) {
            struct buf number = {0}, value = {0};

            assert_true(scale_to_number(all[i].c, str_from(all[i].values[k]), &number));
            scale_from_number(all[i].c, buf_str(&number), &value);
            assert_true(strtod(number.ptr, NULL) > before);
            before = strtod(number.ptr, NULL);
            if (all[i].c == &real)
                assert_true(strtod(value.ptr, NULL) == strtod(all[i].values[k], NULL));
            else if (k > 0 || all[i].c != &moment) /* the zero date is the 1st of January */
                assert_string_equal(value.ptr, all[i].values[k]);
            buf_free(&number);
            buf_free(&value);
        }
    }
}

/* The months have 32 days here, of which some are none. */
static void a_day_that_is_none_becomes_the_last_moment_before_it(void **state)
{
    const struct column day = column_of(COLUMN_DATE, 0), moment = column_of(COLUMN_DATETIME, 0);
    struct buf number = {0}, value = {0};

    (void)state;
    assert_true(scale_to_number(&moment, STR("2023-02-31T10:00:00"), &number));
    scale_from_number(&moment, buf_str(&number), &value);
    assert_string_equal(value.ptr, "2023-02-28T23:59:59");
    buf_clear(&number);
    buf_clear(&value);
    assert_true(scale_to_number(&day, STR("1900-00-07"), &number));
    scale_from_number(&day, buf_str(&number), &value);
    assert_string_equal(value.ptr, "1900-01-01");
    buf_free(&number);
    buf_free(&value);
}

/* Any bytes between any others come out in order, by memcmp. */
static void bytes_between_any_two_rise(void **state)
{
    const struct column c = column_of(COLUMN_VARBINARY, 0);
    struct random random;

    (void)state;
    random_init(&random, 3);
    for (size_t i = 0; i < 3000; i++) {
        char low[4], high[4];
        struct str values[SCALE_VALUES + 1];
        struct arena *a = arena_new();

        for (size_t k = 0; k < 4; k++) {
            low[k] = (char)random_below(&random, i % 2 == 0 ? 256 : 3);
            high[k] = (char)random_below(&random, i % 2 == 0 ? 256 : 3);
        }

        const struct str x = {low, random_below(&random, 5)},
                         y = {high, random_below(&random, 5)};
        const size_t n = scale_between(&c, x, y, a, values + 1);

        values[0] = x;
        for (size_t k = 0; k < n; k++)
            assert_true(str_order(values[k], values[k + 1]) < 0);
        assert_true(n == 0 || str_order(values[n], y) < 0);
        arena_free(a);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_between_two_others_divide_them),
        cmocka_unit_test(values_of_texts_are_texts_that_rise_by_letter),
        cmocka_unit_test(texts_that_differ_by_case_accent_or_last_spaces_are_the_same),
        cmocka_unit_test(each_time_and_real_has_a_number_in_its_order),
        cmocka_unit_test(a_day_that_is_none_becomes_the_last_moment_before_it),
        cmocka_unit_test(bytes_between_any_two_rise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
