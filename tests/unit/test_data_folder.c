#include "config.h"

#include "tests/unit/unit.h"

#include "src/file/data_folder.h"

#include "src/base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/test_data_folder_XXXXXX";

static char *below(const char *name)
{
    struct buf path = {0};

    buf_printf(&path, "%s/%s", top, name);
    return path.ptr;
}

static void a_folder_that_is_not_there_is_made_for_its_owner_alone(void **state)
{
    char *outer = below("a"), *path = below("a/b");
    struct err err = {0};
    struct stat st;

    (void)state;
    assert_true(data_folder_open(path, &err));
    assert_true(data_folder_open(path, &err));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(outer), 0);
    free(path);
    free(outer);
}

static void a_folder_that_others_can_enter_or_change_is_refused_with_the_fix(void **state)
{
    static const struct {
        mode_t mode;
        bool ok;
    } cases[] = {{0700, true}, {0750, true}, {0755, false}, {0770, false}, {0701, false}};
    char *path = below("open");

    (void)state;
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};

        assert_int_equal(chmod(path, cases[i].mode), 0);
        assert_int_equal(data_folder_open(path, &err), cases[i].ok);
        assert_true(cases[i].ok || strstr(err.msg, "chmod 700") != NULL);
    }
    assert_int_equal(rmdir(path), 0);
    free(path);
}

static void a_link_in_the_folder_is_refused_by_its_name_and_the_folder_may_be_one(void **state)
{
    char *path = below("real"), *link = below("real/millrace.db"), *folder_link = below("link");
    struct err err = {0};

    (void)state;
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(symlink(path, folder_link), 0);
    assert_true(data_folder_open(folder_link, &err));
    assert_int_equal(symlink("/nowhere/elsewhere", link), 0);
    assert_false(data_folder_open(path, &err));
    assert_non_null(strstr(err.msg, "millrace.db"));
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(folder_link), 0);
    assert_int_equal(rmdir(path), 0);
    free(path);
    free(link);
    free(folder_link);
}

static void a_folder_of_another_user_is_refused_by_its_owner(void **state)
{
    char *path = below("theirs");
    struct err err = {0};

    (void)state;
    if (geteuid() != 0) {
        free(path);
        skip();
    }
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_false(data_folder_open(path, &err));
    assert_non_null(strstr(err.msg, "belongs to nobody"));
    assert_int_equal(rmdir(path), 0);
    free(path);
}

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) == NULL ? -1 : 0;
}

static int remove_top(void **state)
{
    (void)state;
    return rmdir(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_that_is_not_there_is_made_for_its_owner_alone),
        cmocka_unit_test(a_folder_that_others_can_enter_or_change_is_refused_with_the_fix),
        cmocka_unit_test(a_link_in_the_folder_is_refused_by_its_name_and_the_folder_may_be_one),
        cmocka_unit_test(a_folder_of_another_user_is_refused_by_its_owner),
    };

    return cmocka_run_group_tests(tests, make_top, remove_top);
}
