/* Which place in the log each midnight has. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/format/zone.h"
#include "sync/checkpoint/midnights.h"

#define DAY_S     86400
#define NOON(day) ((int64_t)(day)*DAY_S + DAY_S / 2)

static struct midnights *begin(int64_t last)
{
    return midnights_new(zone_fixed(STR("UTC")), last);
}

/* A transaction at a time that begins at the offset of file 7. */
static void pass_at(struct midnights *m, int64_t time, int64_t now, uint64_t offset)
{
    midnights_pass(m, &(struct midnight_passing){time, now, 7, offset});
}

static void pass(struct midnights *m, int64_t time, uint64_t offset)
{
    pass_at(m, time, NOON(40000), offset);
}

static void expect(struct midnights *m, const struct midnight *expected, size_t n)
{
    struct midnight out[MIDNIGHTS_MAX];

    assert_int_equal(midnights_take(m, out), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(out[i].day, expected[i].day);
        assert_int_equal(out[i].file_number, expected[i].file_number);
        assert_int_equal(out[i].offset, expected[i].offset);
    }
}
#define EXPECT(m, ...)                                                    \
    do {                                                                  \
        const struct midnight expected_[] = {__VA_ARGS__};                \
        expect((m), expected_, sizeof(expected_) / sizeof(expected_[0])); \
    } while (0)

static void a_midnight_is_where_the_first_transaction_of_the_day_begins(void **state)
{
    struct midnights *m = begin(20000);

    (void)state;
    pass(m, NOON(20000), 100);
    pass(m, INT64_C(20001) * DAY_S - 1, 200);
    expect(m, NULL, 0);
    pass(m, INT64_C(20001) * DAY_S, 300);
    pass(m, INT64_C(20001) * DAY_S + 1, 400);
    EXPECT(m, {20001, 7, 300});
    midnights_free(m);
}

static void a_transaction_with_an_earlier_time_belongs_to_the_day_it_comes_in(void **state)
{
    struct midnights *m = begin(20000);

    (void)state;
    pass(m, INT64_C(20001) * DAY_S + 5, 300);
    pass(m, INT64_C(20001) * DAY_S - 5, 400);
    pass(m, INT64_C(20001) * DAY_S + 6, 500);
    EXPECT(m, {20001, 7, 300});
    midnights_free(m);
}

static void days_without_a_transaction_begin_where_the_next_one_does(void **state)
{
    struct midnights *m = begin(20000);

    (void)state;
    pass(m, NOON(20003), 300);
    EXPECT(m, {20001, 7, 300}, {20002, 7, 300}, {20003, 7, 300});
    midnights_free(m);
}

static void what_was_before_a_log_of_unknown_beginning_has_no_midnight(void **state)
{
    struct midnights *m = begin(INT64_MIN);

    (void)state;
    pass(m, NOON(20003), 300);
    expect(m, NULL, 0);
    pass(m, NOON(20004), 400);
    EXPECT(m, {20004, 7, 400});
    midnights_free(m);
}

static void what_is_stored_is_forgotten_and_nothing_else(void **state)
{
    struct midnights *m = begin(20000);

    (void)state;
    pass(m, NOON(20002), 300);
    midnights_forget(m, 20001);
    EXPECT(m, {20002, 7, 300});
    midnights_forget(m, 20001);
    pass(m, NOON(20003), 400);
    EXPECT(m, {20002, 7, 300}, {20003, 7, 400});
    midnights_forget(m, 20003);
    expect(m, NULL, 0);
    pass(m, NOON(20002), 500); /* read again */
    expect(m, NULL, 0);
    midnights_free(m);
}

static void a_time_of_the_future_counts_as_now(void **state)
{
    struct midnights *m = begin(20000);

    (void)state;
    pass_at(m, NOON(30000), NOON(20000), 100);
    expect(m, NULL, 0);
    pass_at(m, NOON(20001), NOON(20001), 200);
    EXPECT(m, {20001, 7, 200});
    /* A server whose clock is somewhat ahead is believed. */
    pass_at(m, INT64_C(20002) * DAY_S + 10, INT64_C(20002) * DAY_S - 10, 300);
    EXPECT(m, {20001, 7, 200}, {20002, 7, 300});
    midnights_free(m);
}

static void after_very_long_only_the_last_month_is_noted(void **state)
{
    struct midnights *m = begin(20000);
    struct midnight out[MIDNIGHTS_MAX];

    (void)state;
    pass(m, NOON(20100), 300);
    assert_int_equal(midnights_take(m, out), MIDNIGHTS_MAX);
    assert_int_equal(out[MIDNIGHTS_MAX - 1].day, 20100);
    pass(m, NOON(20101), 400);
    assert_int_equal(midnights_take(m, out), MIDNIGHTS_MAX);
    assert_int_equal(out[0].day, 20101 - MIDNIGHTS_MAX + 1);
    assert_int_equal(out[MIDNIGHTS_MAX - 1].offset, 400);
    midnights_free(m);
}

static void without_a_zone_there_is_no_midnight(void **state)
{
    struct midnights *m = midnights_new(NULL, INT64_MIN);

    (void)state;
    pass(m, NOON(20000), 100);
    pass(m, NOON(20002), 200);
    expect(m, NULL, 0);
    midnights_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_midnight_is_where_the_first_transaction_of_the_day_begins),
        cmocka_unit_test(a_transaction_with_an_earlier_time_belongs_to_the_day_it_comes_in),
        cmocka_unit_test(days_without_a_transaction_begin_where_the_next_one_does),
        cmocka_unit_test(what_was_before_a_log_of_unknown_beginning_has_no_midnight),
        cmocka_unit_test(what_is_stored_is_forgotten_and_nothing_else),
        cmocka_unit_test(a_time_of_the_future_counts_as_now),
        cmocka_unit_test(after_very_long_only_the_last_month_is_noted),
        cmocka_unit_test(without_a_zone_there_is_no_midnight),
    };

    return cmocka_run_group_tests_name("midnights", tests, NULL, NULL);
}
