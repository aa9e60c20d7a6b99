#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct lock outer, inner;
static struct lock one = LOCK_INIT(LOCK_private), two = LOCK_INIT(LOCK_private);

/* How a child ends that takes one lock and then the other: its status. */
static int status_after(struct lock *first, struct lock *second)
{
    const pid_t pid = fork();
    int status;

    assert_int_not_equal(pid, -1);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        lock_acquire(first);
        lock_acquire(second);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void locks_are_taken_in_the_order_of_the_table(void **state)
{
    (void)state;
    assert_int_equal(status_after(&outer, &inner), 0);
}

static void a_wrong_order_aborts(void **state)
{
    (void)state;
#ifdef LOCK_CHECKS
    assert_true(WIFSIGNALED(status_after(&inner, &outer)));
    assert_int_equal(WTERMSIG(status_after(&inner, &outer)), SIGABRT);
#else
    skip();
#endif
}

static void a_lock_that_the_thread_holds_aborts(void **state)
{
    (void)state;
#ifdef LOCK_CHECKS
    assert_int_equal(WTERMSIG(status_after(&outer, &outer)), SIGABRT);
#else
    skip();
#endif
}

static void what_was_released_holds_nothing_up(void **state)
{
    (void)state;
    lock_acquire(&outer);
    lock_acquire(&inner);
    lock_release(&outer); /* in any order */
    lock_release(&inner);
    assert_int_equal(status_after(&outer, &inner), 0);
}

static void private_locks_nest_below_all_others(void **state)
{
    (void)state;
    assert_int_equal(status_after(&inner, &one), 0);
    assert_int_equal(status_after(&one, &two), 0);
    assert_int_equal(status_after(&two, &one), 0);
}

static void a_lock_of_the_table_under_a_private_one_aborts(void **state)
{
    (void)state;
#ifdef LOCK_CHECKS
    assert_int_equal(WTERMSIG(status_after(&one, &inner)), SIGABRT);
    lock_acquire(&two);
    lock_acquire(&one);
    lock_release(&one); /* two is still held */
    assert_int_equal(WTERMSIG(status_after(&outer, &inner)), SIGABRT);
    lock_release(&two);
    assert_int_equal(status_after(&inner, &one), 0);
#else
    skip();
#endif
}

static void a_wait_ends_at_its_time(void **state)
{
    const int64_t until_ms = clock_mono_ms() + 20;
    pthread_cond_t never;

    (void)state;
    lock_init_cond(&never);
    lock_acquire(&one);
    while (lock_wait_until(&one, &never, until_ms))
        ;
    lock_release(&one);
    assert_true(clock_mono_ms() >= until_ms);
    pthread_cond_destroy(&never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_are_taken_in_the_order_of_the_table),
        cmocka_unit_test(a_wrong_order_aborts),
        cmocka_unit_test(a_lock_that_the_thread_holds_aborts),
        cmocka_unit_test(what_was_released_holds_nothing_up),
        cmocka_unit_test(private_locks_nest_below_all_others),
        cmocka_unit_test(a_lock_of_the_table_under_a_private_one_aborts),
        cmocka_unit_test(a_wait_ends_at_its_time),
    };

    lock_init(&outer, LOCK_admin_lock);
    lock_init(&inner, LOCK_state_lock);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
