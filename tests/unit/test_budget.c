#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/thread.h"
#include "sync/delivery/budget.h"

#include <pthread.h>
#include <sched.h>

struct taker {
    struct budget *budget;
    struct stop *stop;
    bool taken;
};

static bool take(struct budget *b, size_t n)
{
    return budget_try(b, n);
}

static void *take_ten(void *arg)
{
    struct taker *t = arg;

    t->taken = budget_take(t->budget, 10, NULL);
    return NULL;
}

static void wait_for_waiting(struct budget *b, size_t n)
{
    while (budget_waiting(b) != n)
        sched_yield();
}

static void *take_ten_until(void *arg)
{
    struct taker *t = arg;

    t->taken = budget_take(t->budget, 10, t->stop);
    return NULL;
}

static void a_taker_that_is_stopped_goes_without(void **state)
{
    struct budget *b = budget_new(100);
    struct stop stop;
    struct taker t = {.budget = b, .stop = &stop, .taken = true};
    pthread_t thread;

    (void)state;
    stop_init(&stop);
    assert_true(take(b, 101));
    assert_int_equal(pthread_create(&thread, NULL, take_ten_until, &t), 0);
    wait_for_waiting(b, 1);
    stop_set(&stop);
    pthread_join(thread, NULL);
    assert_false(t.taken);
    assert_int_equal(budget_held(b), 101);
    budget_free(b);
    stop_fini(&stop);
}

static void a_taker_waits_while_more_than_the_limit_is_held(void **state)
{
    struct budget *b = budget_new(100);
    struct taker t = {.budget = b};
    pthread_t thread;

    (void)state;
    assert_true(take(b, 100));
    assert_true(take(b, 50)); /* no more than the limit was held */
    assert_int_equal(pthread_create(&thread, NULL, take_ten, &t), 0);
    wait_for_waiting(b, 1);
    budget_give_back(b, 49);
    wait_for_waiting(b, 1);
    budget_give_back(b, 1);
    pthread_join(thread, NULL);
    assert_true(t.taken);
    assert_int_equal(budget_held(b), 110);
    budget_give_back(b, 110);
    budget_free(b);
}

static void closing_refuses_those_who_wait(void **state)
{
    struct budget *b = budget_new(0);
    struct taker t = {.budget = b, .taken = true};
    pthread_t thread;

    (void)state;
    budget_force(b, 1);
    assert_int_equal(pthread_create(&thread, NULL, take_ten, &t), 0);
    wait_for_waiting(b, 1);
    budget_close(b);
    pthread_join(thread, NULL);
    assert_false(t.taken);
    assert_false(take(b, 1));
    assert_int_equal(budget_held(b), 1);
    budget_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taker_that_is_stopped_goes_without),
        cmocka_unit_test(a_taker_waits_while_more_than_the_limit_is_held),
        cmocka_unit_test(closing_refuses_those_who_wait),
    };
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
