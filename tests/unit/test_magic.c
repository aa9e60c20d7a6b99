#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/magic.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* It plays the one of sync/related/fan_out. */
struct fan_out {
    enum magic magic;
};

/* Reads what the child says, and waits for its end: its status. */
static int listen_to(pid_t child, int from, char *said, size_t cap)
{
    size_t len = 0;
    ssize_t n;
    int status;

    while ((n = read(from, said + len, cap - 1 - len)) > 0)
        len += (size_t)n;
    said[len] = '\0';
    close(from);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* What a child says that casts p to a fan_out; it must abort. */
static void says_when_cast(void *p, char *said, size_t cap)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);

    const pid_t pid = fork();

    assert_int_not_equal(pid, -1);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        _exit(MAGIC_CAST(fan_out, p) == p);
    }
    close(ends[1]);

    const int status = listen_to(pid, ends[0], said, cap);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void a_struct_of_this_kind_passes(void **state)
{
    struct fan_out f = {MAGIC_fan_out};

    (void)state;
    assert_ptr_equal(MAGIC_CAST(fan_out, (void *)&f), &f);
}

static void another_struct_aborts_and_both_and_the_place_are_named(void **state)
{
    struct fan_out f = {MAGIC_pipeline};
    char said[256];

    (void)state;
    says_when_cast(&f, said, sizeof(said));
    assert_ptr_equal(strstr(said, __FILE__ ":"), said);
    assert_non_null(strstr(said, ": struct fan_out (0x6fa5c3"));
    assert_non_null(strstr(said, ") is expected, struct pipeline (0x6fa5c3"));
}

static void what_is_no_magic_aborts(void **state)
{
    struct fan_out f = {(enum magic)0x12ab};
    char said[256];

    (void)state;
    says_when_cast(&f, said, sizeof(said));
    assert_non_null(strstr(said, "no magic (0x12ab) is found\n"));
}

static void null_aborts(void **state)
{
    char said[256];

    (void)state;
    says_when_cast(NULL, said, sizeof(said));
    assert_non_null(strstr(said, "the pointer is NULL\n"));
}

static void a_freed_struct_aborts(void **state)
{
    struct fan_out f = {MAGIC_fan_out};
    char said[256];

    (void)state;
    MAGIC_END(fan_out, &f);
    says_when_cast(&f, said, sizeof(said));
    assert_non_null(strstr(said, "a freed struct (0x6fa5c300) is found\n"));
}

static void no_two_structs_have_the_same_magic(void **state)
{
    static const enum magic all[] = {
        MAGIC_FREED,
#define MAGIC(name) MAGIC_##name,
#include "src/base/magic.def"
#undef MAGIC
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(all[i], all[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_struct_of_this_kind_passes),
        cmocka_unit_test(another_struct_aborts_and_both_and_the_place_are_named),
        cmocka_unit_test(what_is_no_magic_aborts),
        cmocka_unit_test(null_aborts),
        cmocka_unit_test(a_freed_struct_aborts),
        cmocka_unit_test(no_two_structs_have_the_same_magic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
