#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/verify/part/places.h"
#include "src/base/buf.h"
#include "src/base/random.h"

#include <inttypes.h>
#include <stdlib.h>

static void an_index_that_is_no_larger_than_the_sample_is_compared_as_a_whole(void **state)
{
    const struct sample_sizes s = sample_sizes(1000, 1000, 3);

    (void)state;
    assert_true(s.is_whole);
    assert_int_equal(s.documents, 1000);
    assert_int_equal(s.places, 1);
    assert_int_equal(s.run, 1000);
    assert_false(sample_sizes(1000, 1001, 1).is_whole);
}

static void half_of_a_sample_are_rows_in_runs_that_all_tables_share(void **state)
{
    static const struct {
        uint64_t asked;
        size_t n_tables;
        uint64_t documents, places, run;
    } cases[] = {
        {1, 1, 1, 1, 1},
        {100, 1, 50, 50, 1},
        {1000, 1, 500, 100, 5},
        {1000, 4, 500, 25, 5},
        {1000, 900, 500, 1, 5},
        {100000, 1, 50000, 100, 500},
        {1000000, 1, 500000, 1000, 500},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct sample_sizes s =
            sample_sizes(cases[i].asked, UINT64_C(1) << 40, cases[i].n_tables);

        assert_false(s.is_whole);
        assert_int_equal(s.documents, cases[i].documents);
        assert_int_equal(s.places, cases[i].places);
        assert_int_equal(s.run, cases[i].run);
    }
}

static void the_engine_takes_the_share_of_documents_that_the_sample_wants(void **state)
{
    struct buf json = {0};

    (void)state;
    sample_append_query(&json, 500, 2000, UINT32_C(0x80000007));
    assert_string_equal(json.ptr,
                        "{\"function_score\":{\"query\":{\"match_all\":{}},\"random_score\":"
                        "{\"seed\":7,\"field\":\"_seq_no\"},\"boost_mode\":\"replace\","
                        "\"min_score\":0.750000000}}");
    buf_clear(&json);
    sample_append_query(&json, 500, 500, 7);
    assert_string_equal(json.ptr, "{\"match_all\":{}}");
    buf_free(&json);
}

/* Numbers as signed ones, so that they can be compared here. */
static void expect_within(const char *least, const char *greatest, int64_t from, int64_t below)
{
    struct random r;
    struct buf text = {0};
    bool is_low = false, is_high = false;

    random_init(&r, 1);
    for (int i = 0; i < 200; i++) {
        buf_clear(&text);
        assert_true(sample_append_number(&text, str_from(least), str_from(greatest), &r));

        const int64_t n = strtoll(text.ptr, NULL, 10);

        assert_true(n >= from && n < below);
        is_low = is_low || n < from / 2 + below / 2;
        is_high = is_high || n >= from / 2 + below / 2;
    }
    assert_true(is_low && is_high);
    buf_free(&text);
}

static void numbers_lie_between_the_least_and_the_greatest_key_whatever_their_sign(void **state)
{
    (void)state;
    expect_within("1", "1000", 1, 1000);
    expect_within("-1000", "-10", -1000, -10);
    expect_within("-500", "500", -500, 500);
    expect_within("-9223372036854775808", "9223372036854775807", INT64_MIN, INT64_MAX);
}

static void an_unsigned_number_keeps_its_size(void **state)
{
    struct random r;
    struct buf text = {0};

    (void)state;
    random_init(&r, 1);
    assert_true(sample_append_number(&text, STR("18446744073709551614"),
                                     STR("18446744073709551615"), &r));
    assert_string_equal(text.ptr, "18446744073709551614");
    buf_free(&text);
}

static void one_row_or_none_has_no_number_in_between(void **state)
{
    struct random r;
    struct buf text = {0};

    (void)state;
    random_init(&r, 1);
    assert_false(sample_append_number(&text, STR("7"), STR("7"), &r));
    assert_false(sample_append_number(&text, STR(""), STR(""), &r));
    assert_int_equal(text.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_that_is_no_larger_than_the_sample_is_compared_as_a_whole),
        cmocka_unit_test(half_of_a_sample_are_rows_in_runs_that_all_tables_share),
        cmocka_unit_test(the_engine_takes_the_share_of_documents_that_the_sample_wants),
        cmocka_unit_test(
            numbers_lie_between_the_least_and_the_greatest_key_whatever_their_sign),
        cmocka_unit_test(an_unsigned_number_keeps_its_size),
        cmocka_unit_test(one_row_or_none_has_no_number_in_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
