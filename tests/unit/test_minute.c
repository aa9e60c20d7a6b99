#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/minute.h"
#include "src/base/random.h"
#include "src/base/thread.h"

static void nothing_has_happened_in_a_fresh_minute(void **state)
{
    const struct minute m = {0};

    (void)state;
    assert_int_equal(minute_sum(&m, 0), 0);
    assert_int_equal(minute_sum(&m, INT64_C(1) << 45), 0);
}

static void what_is_a_minute_old_counts_no_more(void **state)
{
    struct minute m = {0};

    (void)state;
    minute_add(&m, 100000, 3);
    minute_add(&m, 104999, 4);
    assert_int_equal(minute_sum(&m, 104999), 7);
    assert_int_equal(minute_sum(&m, 154999), 7);
    assert_int_equal(minute_sum(&m, 160000), 0);
    minute_add(&m, 160000, 5);
    assert_int_equal(minute_sum(&m, 160000), 5);
}

/* Of random times that go on, the sum is that of the events of the last twelve steps. */
static void a_sum_is_that_of_the_last_twelve_steps(void **state)
{
    enum { N = 3000 };
    static int64_t at[N];
    struct minute m = {0};
    struct random r;
    int64_t now = 0;

    (void)state;
    random_init(&r, 7);
    for (size_t i = 0; i < N; i++) {
        uint64_t expected = 0;

        now += (int64_t)random_below(&r, i % 10 == 0 ? 70000 : 4000);
        at[i] = now;
        minute_add(&m, now, i + 1);
        for (size_t k = 0; k <= i; k++)
            if (at[k] / 5000 > now / 5000 - MINUTE_SLOTS)
                expected += k + 1;
        assert_int_equal(minute_sum(&m, now), expected);
    }
}

static void *add_many(void *m)
{
    for (int i = 0; i < 100000; i++)
        minute_add(m, i % 10000, 1);
    return NULL;
}

static void threads_lose_nothing_of_each_other_within_a_step(void **state)
{
    struct minute m = {0};
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        threads[i] = thread_start("adder", add_many, &m);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(minute_sum(&m, 9999), 400000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_happened_in_a_fresh_minute),
        cmocka_unit_test(what_is_a_minute_old_counts_no_more),
        cmocka_unit_test(a_sum_is_that_of_the_last_twelve_steps),
        cmocka_unit_test(threads_lose_nothing_of_each_other_within_a_step),
    };

    return cmocka_run_group_tests_name("minute", tests, NULL, NULL);
}
