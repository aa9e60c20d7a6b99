#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a child ends that comes by the point so many times: its status. */
static int status_after(const char *text, unsigned times)
{
    const pid_t pid = fork();
    int status;

    assert_int_not_equal(pid, -1);
    if (pid == 0) {
        struct err err;

        if (!failpoint_arm(text, &err))
            _exit(2);
        for (unsigned i = 0; i < times; i++) {
            FAILPOINT(bulk_sent);
            FAILPOINT(bulk_built);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void nothing_happens_where_none_is_armed(void **state)
{
    (void)state;
    FAILPOINT(bulk_sent);
    assert_int_equal(failpoint_armed, N_FAILPOINTS);
}

static void the_program_dies_as_by_kill_9_the_nth_time_and_not_before(void **state)
{
    (void)state;
    assert_true(WIFSIGNALED(status_after("bulk_sent", 1)));
    assert_int_equal(WTERMSIG(status_after("bulk_sent:3:kill", 3)), SIGKILL);
    assert_int_equal(status_after("bulk_sent:3", 2), 0);
}

static void another_point_is_not_the_one_that_is_armed(void **state)
{
    (void)state;
    assert_int_equal(status_after("bulk_answered", 5), 0);
}

static void who_is_to_wait_waits_once_and_goes_on(void **state)
{
    struct err err;
    const int64_t began = clock_mono_ms();

    (void)state;
    assert_true(failpoint_arm("bulk_sent:2:wait=20", &err));
    for (int i = 0; i < 100; i++)
        FAILPOINT(bulk_sent);
    failpoint_disarm();

    const int64_t took = clock_mono_ms() - began;

    assert_in_range(took, 20, 1900); /* and not a hundred times */
}

static void assert_refused(const char *text, const char *why)
{
    struct err err = {0};

    assert_false(failpoint_arm(text, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, why));
    assert_int_equal(failpoint_armed, N_FAILPOINTS);
}

static void what_cannot_be_meant_is_refused(void **state)
{
    (void)state;
    assert_refused("", "names no failpoint");
    assert_refused("bulk_sen", "names no failpoint: \"bulk_sen\"");
    assert_refused("bulk_sent:0", "number");
    assert_refused("bulk_sent:-1", "number");
    assert_refused("bulk_sent:1x:kill", "number");
    assert_refused("bulk_sent::kill", "number");
    assert_refused("bulk_sent:99999999999999999999", "number");
    assert_refused("bulk_sent:1:die", "action");
    assert_refused("bulk_sent:1:wait=", "action");
    assert_refused("bulk_sent:1:wait=0", "action");
    assert_refused("bulk_sent:1:wait=5s", "action");
    assert_refused("bulk_sent:1:kill:", "action");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_happens_where_none_is_armed),
        cmocka_unit_test(the_program_dies_as_by_kill_9_the_nth_time_and_not_before),
        cmocka_unit_test(another_point_is_not_the_one_that_is_armed),
        cmocka_unit_test(who_is_to_wait_waits_once_and_goes_on),
        cmocka_unit_test(what_cannot_be_meant_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
