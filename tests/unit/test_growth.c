#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/fill/growth.h"
#include "rebalance/view/build_view.h"

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

static void assert_said(struct build_view *b, const char *why, const char *fix)
{
    coordinator_say_slow(b, STR("shop.orders"));
    assert_string_equal(b->s.why.msg, why);
    assert_string_equal(b->fix, fix);
}

static void a_build_that_never_ends_says_so_and_its_way_out(void **state)
{
    static const char *const never = "rows come faster than it reads them, so it never ends "
                                     "like this";
    struct build_view fast = {.s = {.rate_limit = 50}},
                      limited = {.s = {.slow = true, .rate_limit = 50}},
                      unlimited = {.s = {.slow = true}}, waits = {.s = {.slow = true}};

    (void)state;
    assert_said(&fast, "", "");
    assert_said(&limited, never,
                "let it read more than its limit of 50 rows a second: millrace index set "
                "shop.orders --rate N");
    assert_said(&unlimited, never,
                "let more nodes fill it (millrace index set shop.orders --nodes 0), or end it "
                "with millrace index reset, and build it with more --buckets, or while fewer "
                "rows come");
    err_set(&waits.s.why, ERR_RETRY, "the server is away");
    assert_said(&waits, "the server is away", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_grow_by_what_comes_less_what_goes),
        cmocka_unit_test(tables_that_shrink_do_not_grow),
        cmocka_unit_test(counters_that_begin_anew_lose_no_rows),
        cmocka_unit_test(a_build_is_slow_once_rows_have_come_faster_for_some_seconds),
        cmocka_unit_test(a_build_that_never_ends_says_so_and_its_way_out),
    };

    return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
