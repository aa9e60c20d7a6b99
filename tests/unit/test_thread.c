#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void time_does_not_go_back(void **state)
{
    int64_t ns = clock_mono_ns();
    int64_t ms = clock_mono_ms();

    (void)state;
    assert_true(clock_mono_ns() >= ns);
    assert_true(clock_mono_ms() >= ms);
    assert_true(ms >= ns / 1000000);
    assert_true(clock_wall_ms() > INT64_C(1577836800000)); /* 2020 */
}

static void *wait_for_stop(void *arg)
{
    return stop_wait(arg, 60000) ? arg : NULL;
}

static void setting_the_token_wakes_who_waits(void **state)
{
    struct stop stop;
    int64_t start = clock_mono_ms();
    void *result;

    (void)state;
    stop_init(&stop);
    assert_false(stop_is_set(&stop));

    pthread_t thread = thread_start("waiter", wait_for_stop, &stop);

    stop_set(&stop);
    pthread_join(thread, &result);
    assert_ptr_equal(result, &stop);
    assert_true(stop_is_set(&stop));
    assert_true(clock_mono_ms() - start < 30000);
    stop_fini(&stop);
}

static void a_wait_ends_without_the_token_when_its_time_is_up(void **state)
{
    struct stop stop;
    int64_t start = clock_mono_ms();

    (void)state;
    stop_init(&stop);
    assert_false(stop_wait(&stop, 20));
    assert_true(clock_mono_ms() - start >= 20);
    assert_false(stop_wait(&stop, -5));
    stop_set(&stop);
    assert_true(stop_wait(&stop, 0));
    stop_fini(&stop);
}

struct report {
    char name[16];
    bool term_blocked;
};

static void *look_at_itself(void *arg)
{
    struct report *report = arg;
    sigset_t blocked;

    pthread_getname_np(pthread_self(), report->name, sizeof(report->name));
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    report->term_blocked = sigismember(&blocked, SIGTERM) == 1;
    return NULL;
}

static void a_thread_has_its_name_and_leaves_signals_to_the_main_thread(void **state)
{
    struct report report = {{0}, false};
    sigset_t blocked;

    (void)state;
    pthread_join(thread_start("a-name-that-is-too-long", look_at_itself, &report), NULL);
    assert_string_equal(report.name, "a-name-that-is-");
    assert_true(report.term_blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_int_equal(sigismember(&blocked, SIGTERM), 0);
}

/* ---- limits of the system ---- */

#define SAID_MAX    512
#define LIMITED_UID 54321 /* a user that has nothing else to do here */
#define CANNOT      75

/*
 * Run act() in a child under a limit; said gets what it printed.  Returns false if nobody can
 * set the limit here.
 */
static bool say_at_limit(void (*limit)(void), void (*act)(void), char said[SAID_MAX])
{
    int fds[2], status;
    size_t len = 0;
    ssize_t n;

    assert_int_equal(pipe(fds), 0);

    const pid_t child = fork();

    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(fds[1], STDERR_FILENO);
        limit();
        act();
        _exit(0);
    }
    assert_true(child > 0);
    close(fds[1]);
    while ((n = read(fds[0], said + len, SAID_MAX - 1 - len)) > 0)
        len += (size_t)n;
    said[len] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
        return false;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    return true;
}

static void limit_memory(void)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){1 << 20, 1 << 20});
}

/* The system counts the threads of a user, and root's have no limit. */
static void limit_threads(void)
{
    setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1});
    if (getuid() == 0 && setuid(LIMITED_UID) != 0)
        _exit(CANNOT);
}

static void *leave(void *arg)
{
    return arg;
}

/* Nobody joins them, so that the next one does not get the room of the one before. */
static void start_threads(void)
{
    for (int i = 0; i < 1000; i++)
        (void)thread_start("builder", leave, NULL);
}

static void take_memory(void)
{
    free(mem_alloc(1, 64 << 20));
}

/* The sanitizers need address space themselves. */
static void a_low_limit_is_named_where_a_thread_or_memory_fails(void **state)
{
    char said[SAID_MAX];

    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    assert_true(say_at_limit(limit_memory, start_threads, said));
    assert_non_null(strstr(said, "cannot start the thread builder: "));
    assert_non_null(strstr(said, "pids.max"));
    assert_non_null(strstr(said, "more address space than 1 MiB (ulimit -v"));
    assert_true(say_at_limit(limit_memory, take_memory, said));
    assert_non_null(strstr(said, "out of memory: 1 x 67108864 bytes; fix: "));
    assert_non_null(strstr(said, "limit of address space, 1 MiB (ulimit -v"));
}

static void a_low_limit_of_threads_is_named_where_a_thread_fails(void **state)
{
    char said[SAID_MAX];

    (void)state;
    if (!say_at_limit(limit_threads, start_threads, said)) {
        print_message("root has no limit of threads, and cannot become user %d here\n",
                      LIMITED_UID);
        skip();
    }
    assert_non_null(strstr(said, "cannot start the thread builder: "));
    assert_non_null(strstr(said, "; fix: allow more threads (ulimit -u, TasksMax"));
    assert_null(strstr(said, "address space"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(setting_the_token_wakes_who_waits),
        cmocka_unit_test(a_wait_ends_without_the_token_when_its_time_is_up),
        cmocka_unit_test(a_low_limit_is_named_where_a_thread_or_memory_fails),
        cmocka_unit_test(a_low_limit_of_threads_is_named_where_a_thread_fails),
        cmocka_unit_test(a_thread_has_its_name_and_leaves_signals_to_the_main_thread),
    };
    return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
