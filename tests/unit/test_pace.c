#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/pace.h"

#define T 1000000

/* Asked for n reads, one a millisecond; the time of the last. */
static int64_t ask(struct pace *p, int64_t from_ms, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pace_ask(p, from_ms + i, false);
    return from_ms + n - 1;
}

static void a_single_change_is_read_at_once(void **state)
{
    struct pace p;

    (void)state;
    pace_init(&p, 100, 32, 250);
    for (int64_t t = T; t < T + 1000; t += 5) { /* 200 a second, each alone */
        pace_ask(&p, t, false);
        assert_int_equal(pace_reads_at(&p, 1, t), t);
        pace_read(&p, t);
    }
}

static void of_a_flow_one_read_follows_the_other_after_the_window(void **state)
{
    struct pace p;
    int64_t t;

    (void)state;
    pace_init(&p, 100, 32, 250);
    pace_ask(&p, T, false);
    pace_read(&p, T);
    t = ask(&p, T + 1, 40);
    assert_int_equal(pace_reads_at(&p, 40, t), T + 100);
    assert_int_equal(pace_reads_at(&p, 40, T + 101), T + 101);
    pace_read(&p, T + 101);
    t = ask(&p, T + 101, 5); /* the window before was full */
    assert_int_equal(pace_reads_at(&p, 5, t), T + 201);
}

static void what_is_enough_for_a_read_is_not_waited_with(void **state)
{
    struct pace p;
    int64_t t;

    (void)state;
    pace_init(&p, 100, 32, 250);
    pace_read(&p, T);
    t = ask(&p, T, 40);
    assert_int_equal(pace_reads_at(&p, 249, t), T + 100);
    assert_int_equal(pace_reads_at(&p, 250, t), t);
}

static void what_came_together_is_read_at_once_with_whatever_waits(void **state)
{
    struct pace p;
    int64_t t;

    (void)state;
    pace_init(&p, 100, 32, 250);
    pace_read(&p, T);
    t = ask(&p, T, 40);
    pace_ask(&p, t, true);
    assert_int_equal(pace_reads_at(&p, 41, t), t);
    pace_read(&p, t);
    assert_int_equal(pace_reads_at(&p, 1, t), t + 100);
}

static void without_a_window_every_read_goes_at_once(void **state)
{
    struct pace p;
    int64_t t;

    (void)state;
    pace_init(&p, 0, 32, 250);
    t = ask(&p, T, 100);
    pace_read(&p, t);
    assert_int_equal(pace_reads_at(&p, 1, t), t);
}

static void a_flow_that_is_over_holds_nothing_up(void **state)
{
    struct pace p;
    int64_t t;

    (void)state;
    pace_init(&p, 100, 32, 250);
    t = ask(&p, T, 100);
    pace_read(&p, t);
    pace_ask(&p, t + 350, false);
    assert_int_equal(pace_reads_at(&p, 1, t + 350), t + 350);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_change_is_read_at_once),
        cmocka_unit_test(of_a_flow_one_read_follows_the_other_after_the_window),
        cmocka_unit_test(what_is_enough_for_a_read_is_not_waited_with),
        cmocka_unit_test(what_came_together_is_read_at_once_with_whatever_waits),
        cmocka_unit_test(without_a_window_every_read_goes_at_once),
        cmocka_unit_test(a_flow_that_is_over_holds_nothing_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
