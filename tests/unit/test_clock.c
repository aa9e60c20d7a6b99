#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/lock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOUR_MS 3600000

static time_t slept_s; /* by this machine, so that CLOCK_BOOTTIME is ahead by it */

/* In place of the library's. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    const long rc = syscall(SYS_clock_gettime, id, now);

    now->tv_sec += id == CLOCK_BOOTTIME ? slept_s : 0;
    return (int)rc;
}

static int wake(void **state)
{
    (void)state;
    slept_s = 0;
    return 0;
}

static void the_clocks_go_on_while_the_machine_sleeps(void **state)
{
    const int64_t mono_ms = clock_mono_ms(), mono_ns = clock_mono_ns();
    const int64_t steady_ms = clock_steady_ms(), slept_ms = clock_slept_ms();

    (void)state;
    slept_s = HOUR_MS / 1000;
    assert_true(clock_mono_ms() >= mono_ms + HOUR_MS);
    assert_true(clock_mono_ns() >= mono_ns + INT64_C(1000000) * HOUR_MS);
    assert_true(clock_steady_ms() >= steady_ms + HOUR_MS);
    assert_true(clock_slept_ms() > slept_ms + HOUR_MS - 1000);
}

/* By the clock of the condition, an hour would be left. */
static void a_wait_after_a_sleep_ends_when_it_is_due(void **state)
{
    struct lock l = LOCK_INIT(LOCK_private);
    pthread_cond_t cond;

    (void)state;
    slept_s = HOUR_MS / 1000;
    lock_init_cond(&cond);
    lock_acquire(&l);

    const int64_t until_ms = clock_mono_ms() + 20;

    while (lock_wait_until(&l, &cond, until_ms))
        ;
    assert_true(clock_mono_ms() >= until_ms);
    assert_true(clock_mono_ms() < until_ms + 60000);
    lock_release(&l);
    pthread_cond_destroy(&cond);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_clocks_go_on_while_the_machine_sleeps, wake),
        cmocka_unit_test_teardown(a_wait_after_a_sleep_ends_when_it_is_due, wake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
