#include "config.h"

#include "tests/unit/unit.h"

#include "src/file/secret_file.h"
#include "src/file/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/test_secret_file_XXXXXX";

static void write_file(const char *text, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
}

static void the_first_line_is_the_secret(void **state)
{
    static const char *const files[] = {"s3cret", "s3cret\n", "s3cret\r\n",
                                        "s3cret\nwritten by the installer\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct err err = {0};
        char *secret = NULL;

        write_file(files[i], strlen(files[i]));
        assert_true(secret_file_read(path, &secret, &err));
        assert_string_equal(secret, "s3cret");
        free(secret);
    }
}

static void an_empty_file_is_an_empty_secret(void **state)
{
    struct err err = {0};
    char *secret = NULL;

    (void)state;
    write_file("", 0);
    assert_true(secret_file_read(path, &secret, &err));
    assert_string_equal(secret, "");
    free(secret);
}

static void what_cannot_be_read_is_refused_by_its_name(void **state)
{
    struct err err = {0};
    char *secret = NULL;

    (void)state;
    assert_false(secret_file_read("/nowhere/secret", &secret, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_int_equal(err.code, ENOENT);
    assert_non_null(strstr(err.msg, "/nowhere/secret"));
    assert_false(secret_file_read("/tmp", &secret, &err));
    assert_non_null(strstr(err.msg, "/tmp"));
}

static void what_is_too_long_for_a_secret_is_refused(void **state)
{
    static char much[5000];
    struct err err = {0};
    char *secret = NULL;

    (void)state;
    memset(much, 'x', sizeof(much));
    write_file(much, sizeof(much));
    assert_false(secret_file_read(path, &secret, &err));
    assert_non_null(strstr(err.msg, "longer than"));
}

static void a_file_that_others_may_read_or_change_is_refused(void **state)
{
    static const mode_t modes[] = {0604, 0602, 0640, 0620};

    (void)state;
    write_file("s3cret", 6);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct err err = {0};
        char *secret = NULL;

        assert_int_equal(chmod(path, modes[i]), 0);
        assert_false(secret_file_read(path, &secret, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "chmod 600"));
        assert_null(strstr(err.msg, "s3cret"));
    }
    assert_int_equal(chmod(path, 0600), 0);
}

/* As packages and container platforms put a secret for a service: root's, readable by its
 * group. */
static void the_group_of_another_users_file_may_read_it(void **state)
{
    struct stat st = {.st_mode = S_IFREG | 0640, .st_uid = geteuid() + 1};

    (void)state;
    assert_false(whole_file_is_exposed(&st));
    st.st_mode = S_IFREG | 0660;
    assert_true(whole_file_is_exposed(&st));
    st.st_mode = S_IFREG | 0644;
    assert_true(whole_file_is_exposed(&st));
}

static int make_file(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_is_the_secret),
        cmocka_unit_test(an_empty_file_is_an_empty_secret),
        cmocka_unit_test(what_cannot_be_read_is_refused_by_its_name),
        cmocka_unit_test(what_is_too_long_for_a_secret_is_refused),
        cmocka_unit_test(a_file_that_others_may_read_or_change_is_refused),
        cmocka_unit_test(the_group_of_another_users_file_may_read_it),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
