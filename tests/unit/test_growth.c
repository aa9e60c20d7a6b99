#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/fill/growth.h"

#define BEGIN_MS 1000
#define COME     50 /* rows that the counters have as it begins */

/* Let so many rows come and go each second. */
static void pass(struct job_growth *g, int64_t from_s, int64_t seconds, uint64_t come,
                 uint64_t gone)
{
    for (int64_t s = from_s; s <= from_s + seconds; s++)
        job_growth_update(g, COME + (uint64_t)s * come, (uint64_t)s * gone,
                          BEGIN_MS + s * 1000);
}

static void tables_grow_by_what_comes_less_what_goes(void **state)
{
    struct job_growth g = {.come = 0};

    (void)state;
    pass(&g, 0, 10, 300, 100);
    assert_int_equal((int)job_growth_rate(&g), 200);
    assert_int_equal(job_growth_total(&g, 5000), 5000 + 10 * 200);
}

static void tables_that_shrink_do_not_grow(void **state)
{
    struct job_growth g = {.come = 0};

    (void)state;
    pass(&g, 0, 10, 100, 300);
    assert_int_equal((int)job_growth_rate(&g), 0);
    assert_int_equal(job_growth_total(&g, 5000), 3000);
    assert_int_equal(job_growth_total(&g, 10), 0);
    assert_false(job_growth_is_slow(&g, 1, 100000));
}

static void counters_that_begin_anew_lose_no_rows(void **state)
{
    struct job_growth g = {.come = 0};

    (void)state;
    job_growth_update(&g, 1000, 0, BEGIN_MS);
    job_growth_update(&g, 1100, 0, BEGIN_MS + 1000);
    job_growth_update(&g, 30, 0, BEGIN_MS + 2000); /* another routing */
    job_growth_update(&g, 50, 0, BEGIN_MS + 3000);
    assert_int_equal(job_growth_total(&g, 0), 150);
}

static void a_build_is_slow_once_rows_have_come_faster_for_some_seconds(void **state)
{
    struct job_growth g = {.come = 0};

    (void)state;
    pass(&g, 0, 10, 300, 0);
    assert_false(job_growth_is_slow(&g, 300, 20000));
    assert_false(job_growth_is_slow(&g, 300, 24000));
    assert_true(job_growth_is_slow(&g, 300, 25000));
    assert_false(job_growth_is_slow(&g, 400, 26000)); /* it has become faster */
    assert_false(job_growth_is_slow(&g, 100, 27000));
    assert_true(job_growth_is_slow(&g, 100, 32000));
    assert_false(job_growth_is_slow(&g, 0, 33000)); /* it waits, and says for what */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_grow_by_what_comes_less_what_goes),
        cmocka_unit_test(tables_that_shrink_do_not_grow),
        cmocka_unit_test(counters_that_begin_anew_lose_no_rows),
        cmocka_unit_test(a_build_is_slow_once_rows_have_come_faster_for_some_seconds),
    };

    return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
