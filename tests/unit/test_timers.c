#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/random.h"
#include "src/base/timers.h"

static void *cookie(uintptr_t n)
{
    return (void *)n;
}

static void timers_come_in_order_of_time_then_of_setting(void **state)
{
    struct timers *t = timers_new();
    void *got;

    (void)state;
    timers_add(t, 20, cookie(3));
    timers_add(t, 10, cookie(1));
    timers_add(t, 10, cookie(2));
    timers_add(t, 30, cookie(4));
    assert_false(timers_pop(t, 9, &got));
    for (uintptr_t i = 1; i <= 3; i++) {
        assert_true(timers_pop(t, 20, &got));
        assert_ptr_equal(got, cookie(i));
    }
    assert_false(timers_pop(t, 20, &got));
    assert_int_equal(timers_count(t), 1);
    timers_free(t);
}

static void a_cancelled_timer_never_comes(void **state)
{
    struct timers *t = timers_new();
    timer_id a = timers_add(t, 1, cookie(1));
    timer_id b = timers_add(t, 2, cookie(2));
    void *got;

    (void)state;
    assert_true(timers_cancel(t, a));
    assert_false(timers_cancel(t, a));
    assert_true(timers_pop(t, 5, &got));
    assert_ptr_equal(got, cookie(2));
    assert_false(timers_cancel(t, b));
    assert_false(timers_cancel(t, 0));

    /* The slot is used again, the id is not. */
    timer_id c = timers_add(t, 3, cookie(3));

    assert_true(c != a && c != b);
    assert_false(timers_cancel(t, a));
    assert_true(timers_cancel(t, c));
    timers_free(t);
}

static void the_wait_is_never_negative_nor_above_the_most(void **state)
{
    struct timers *t = timers_new();

    (void)state;
    assert_int_equal(timers_wait_ms(t, 0, 500), 500);
    timers_add(t, 100, NULL);
    assert_int_equal(timers_wait_ms(t, 0, 500), 100);
    assert_int_equal(timers_wait_ms(t, 0, 50), 50);
    assert_int_equal(timers_wait_ms(t, 200, 500), 0);
    timers_free(t);
}

#define N_TIMERS 64

/* The earliest by due time, then by order of setting; N_TIMERS: none is due. */
static size_t earliest(const int64_t *due, const uint64_t *order, int64_t now)
{
    size_t best = N_TIMERS;

    for (size_t i = 0; i < N_TIMERS; i++) {
        if (due[i] < 0 || due[i] > now)
            continue;
        if (best == N_TIMERS || due[i] < due[best] ||
            (due[i] == due[best] && order[i] < order[best]))
            best = i;
    }
    return best;
}

static void matches_a_plain_list_under_random_use(void **state)
{
    struct timers *t = timers_new();
    int64_t due[N_TIMERS];
    uint64_t order[N_TIMERS] = {0};
    timer_id ids[N_TIMERS] = {0};
    struct random r;
    int64_t now = 0;

    (void)state;
    random_init(&r, 11);
    for (size_t i = 0; i < N_TIMERS; i++)
        due[i] = -1;
    for (uint64_t step = 0; step < 50000; step++) {
        size_t i = random_below(&r, N_TIMERS);

        if (due[i] < 0) {
            due[i] = now + (int64_t)random_below(&r, 50);
            order[i] = step;
            ids[i] = timers_add(t, due[i], cookie(i));
        } else if (random_below(&r, 4) == 0) {
            assert_true(timers_cancel(t, ids[i]));
            due[i] = -1;
        }
        now += (int64_t)random_below(&r, 3);

        void *got;
        size_t next = earliest(due, order, now);

        assert_int_equal(timers_pop(t, now, &got), next != N_TIMERS);
        if (next != N_TIMERS) {
            assert_ptr_equal(got, cookie(next));
            due[next] = -1;
        }
    }
    timers_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_come_in_order_of_time_then_of_setting),
        cmocka_unit_test(a_cancelled_timer_never_comes),
        cmocka_unit_test(the_wait_is_never_negative_nor_above_the_most),
        cmocka_unit_test(matches_a_plain_list_under_random_use),
    };
    return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
