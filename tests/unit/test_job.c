#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/fill/job.h"
#include "rebalance/fill/parameters.h"
#include "src/base/buf.h"

static void remaining_time_follows_the_rate(void **state)
{
    struct job_pace p = {0};

    (void)state;
    assert_int_equal(job_remaining_s(&p, 0, 100), -1);
    for (int64_t s = 0; s <= 10; s++)
        job_pace_update(&p, (uint64_t)s * 100, 1000 + s * 1000);
    assert_int_equal((int)p.rate, 100);
    assert_int_equal(job_remaining_s(&p, 1000, 2000), 10);
    assert_int_equal(job_remaining_s(&p, 2000, 2000), -1); /* its end is not reckoned */
}

static void what_is_shown_is_never_above_the_total(void **state)
{
    (void)state;
    assert_int_equal(job_shown_done(120, 100), 100);
    assert_int_equal(job_shown_done(99, 100), 99);
    assert_int_equal(job_remaining_s(&(struct job_pace){.rate = 5}, 120, 100), -1);
}

static void a_limit_lets_no_more_than_its_rate_through(void **state)
{
    struct job_limit l = {0};
    int64_t now = 1;
    uint64_t rows = 0;

    (void)state;
    while (now < 20000) {
        now += job_limit_take(&l, 1000, 250, now);
        rows += 250;
    }
    assert_in_range(rows, 19000, 21500);
}

static void those_who_share_a_limit_take_no_more_than_it_together(void **state)
{
    (void)state;
    assert_int_equal(job_limit_share(1000, 8), 125);
    assert_int_equal(job_limit_share(1000, 0), 1000);
    assert_int_equal(job_limit_share(3, 8), 1); /* none stands still */
    assert_int_equal(job_limit_share(0, 8), 0); /* no limit */
}

static void the_farther_away_a_store_is_the_more_seldom_a_cursor_is_stored(void **state)
{
    (void)state;
    assert_int_equal(job_save_pause(0), 500);
    assert_int_equal(job_save_pause(50), 500);
    assert_int_equal(job_save_pause(51), 510);
    assert_int_equal(job_save_pause(400), 4000);    /* a tenth of the time */
    assert_int_equal(job_save_pause(60000), 10000); /* as much is read again after a kill */
}

static void no_limit_never_waits(void **state)
{
    struct job_limit l = {0};

    (void)state;
    for (int64_t now = 1; now < 100; now++)
        assert_int_equal(job_limit_take(&l, 0, 1000000, now), 0);
}

static void a_pause_is_not_caught_up_with(void **state)
{
    struct job_limit l = {0};
    int64_t now = 1000;
    uint64_t rows = 0;

    (void)state;
    now += job_limit_take(&l, 1000, 200, now);
    now += 60000;

    const int64_t since = now;

    while (now < since + 2000) {
        now += job_limit_take(&l, 1000, job_limit_rows(1000, 5000), now);
        rows += 200;
    }
    assert_in_range(rows, 1800, 2600);
}

static void a_lower_limit_counts_only_for_what_comes_after_it(void **state)
{
    struct job_limit l = {0};
    const int64_t now = 1000;

    (void)state;

    const int64_t first = job_limit_take(&l, 1000, 200, now);

    assert_in_range(first, 200, 201);
    assert_in_range(job_limit_take(&l, 10, 2, now + first), 195, 201);
}

static void a_limit_makes_statements_small(void **state)
{
    (void)state;
    assert_int_equal(job_limit_rows(0, 5000), 5000);
    assert_int_equal(job_limit_rows(1000, 5000), 200);
    assert_int_equal(job_limit_rows(1000, 50), 50);
    assert_int_equal(job_limit_rows(3, 5000), 1);
}

static void
what_a_build_compares_survives_a_restart_and_an_older_job_compares_a_sample(void **state)
{
    struct buf json = {0};

    (void)state;
    for (int i = 0; i < N_BUILD_CHECKS; i++) {
        const struct job_parameters p = {.rate = 7, .check = (enum build_check)i};

        buf_clear(&json);
        job_parameters_append(&json, &p);
        assert_int_equal(job_parameters_read(buf_str(&json)).check, i);
    }
    assert_int_equal(job_parameters_read(STR("{\"rate\":7}")).check, BUILD_CHECK_SAMPLE);
    assert_int_equal(job_parameters_read(STR("{\"verify\":\"x\"}")).check, BUILD_CHECK_SAMPLE);
    buf_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_a_build_compares_survives_a_restart_and_an_older_job_compares_a_sample),
        cmocka_unit_test(remaining_time_follows_the_rate),
        cmocka_unit_test(what_is_shown_is_never_above_the_total),
        cmocka_unit_test(a_limit_lets_no_more_than_its_rate_through),
        cmocka_unit_test(those_who_share_a_limit_take_no_more_than_it_together),
        cmocka_unit_test(the_farther_away_a_store_is_the_more_seldom_a_cursor_is_stored),
        cmocka_unit_test(no_limit_never_waits),
        cmocka_unit_test(a_pause_is_not_caught_up_with),
        cmocka_unit_test(a_lower_limit_counts_only_for_what_comes_after_it),
        cmocka_unit_test(a_limit_makes_statements_small),
    };
    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
