#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/index/seldom.h"

static void the_first_is_logged_and_what_follows_is_counted_until_the_next_line(void **state)
{
    struct seldom s = {0};
    uint64_t n;

    (void)state;
    assert_true(seldom_is_due(&s, 1, &n));
    assert_int_equal(n, 0);
    for (int64_t ms = 2; ms <= 100; ms++)
        assert_false(seldom_is_due(&s, ms, &n));
    assert_true(seldom_is_due(&s, 1 + SELDOM_MS, &n));
    assert_int_equal(n, 99);
    assert_true(seldom_is_due(&s, 1 + 2 * SELDOM_MS, &n));
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_logged_and_what_follows_is_counted_until_the_next_line),
    };

    return cmocka_run_group_tests_name("seldom", tests, NULL, NULL);
}
