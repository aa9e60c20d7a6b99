#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/verify/schedule.h"

#include <stdio.h>

#define WEEK INT64_C(604800000)

static void an_index_is_due_within_the_last_quarter(void **state)
{
    int64_t least = INT64_MAX, most = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "orders%d_v1", i);

        const int64_t due = verify_due_ms(str_from(name), 1000, WEEK);

        assert_int_equal(due, verify_due_ms(str_from(name), 1000, WEEK));
        assert_true(due > 1000 + WEEK / 4 * 3 - 2);
        assert_true(due <= 1000 + WEEK);
        least = due < least ? due : least;
        most = due > most ? due : most;
    }
    assert_true(least < 1000 + WEEK / 100 * 77); /* they are spread over all of it */
    assert_true(most > 1000 + WEEK / 100 * 98);
}

static void a_short_time_is_a_time_as_well(void **state)
{
    (void)state;
    for (int64_t every = 1; every < 10; every++) {
        const int64_t due = verify_due_ms(STR("a_v1"), 0, every);

        assert_true(due > 0);
        assert_true(due <= every);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_due_within_the_last_quarter),
        cmocka_unit_test(a_short_time_is_a_time_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
