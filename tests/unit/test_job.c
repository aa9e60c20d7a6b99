#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/job.h"

static void remaining_time_follows_the_rate(void **state)
{
    struct job_pace p = {0};

    (void)state;
    assert_int_equal(job_remaining_s(&p, 0, 100), -1);
    for (int64_t s = 0; s <= 10; s++)
        job_pace_update(&p, (uint64_t)s * 100, 1000 + s * 1000);
    assert_int_equal((int)p.rate, 100);
    assert_int_equal(job_remaining_s(&p, 1000, 2000), 10);
    assert_int_equal(job_remaining_s(&p, 2000, 2000), 0);
}

static void what_is_shown_is_never_above_the_total(void **state)
{
    (void)state;
    assert_int_equal(job_shown_done(120, 100), 100);
    assert_int_equal(job_shown_done(99, 100), 99);
    assert_int_equal(job_remaining_s(&(struct job_pace){.rate = 5}, 120, 100), 0);
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

static void no_limit_never_waits(void **state)
{
    struct job_limit l = {0};

    (void)state;
    for (int64_t now = 1; now < 100; now++)
        assert_int_equal(job_limit_take(&l, 0, 1000000, now), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remaining_time_follows_the_rate),
        cmocka_unit_test(what_is_shown_is_never_above_the_total),
        cmocka_unit_test(a_limit_lets_no_more_than_its_rate_through),
        cmocka_unit_test(no_limit_never_waits),
    };
    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
