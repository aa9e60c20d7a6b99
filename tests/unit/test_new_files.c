#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/file/new_files.h"
#include "src/file/whole_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/test_new_files_XXXXXX";
static struct buf paths[3];
static struct new_file files[3];

static void assert_holds(const char *path, const char *text)
{
    struct buf found = {0};

    assert_true(whole_file_read(path, &found, NULL));
    assert_string_equal(found.ptr, text);
    buf_free(&found);
}

static size_t n_entries(void)
{
    DIR *dir = opendir(top);
    size_t n = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n - 2;
}

static int set_up(void **state)
{
    static const char *const names[] = {"a", "b", "c"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        buf_clear(&paths[i]);
        buf_printf(&paths[i], "%s/%s", top, names[i]);
        files[i] = (struct new_file){paths[i].ptr, STR("text\n"), i == 2 ? 0600 : 0644};
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        unlink(paths[i].ptr);
    return 0;
}

static void all_files_are_there_with_their_rights_and_nothing_else(void **state)
{
    struct err err = {0};
    struct stat st;

    (void)state;
    assert_true(new_files_are_free(files, 3, &err));
    assert_true(new_files_write(files, 3, &err));
    for (size_t i = 0; i < 3; i++)
        assert_holds(files[i].path, "text\n");
    assert_int_equal(stat(files[2].path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(n_entries(), 3);
}

static void a_file_that_exists_stays_and_none_of_the_others_comes(void **state)
{
    struct err err = {0};

    (void)state;
    assert_true(new_files_write(&(struct new_file){files[2].path, STR("mine"), 0600}, 1, &err));
    assert_false(new_files_are_free(files, 3, &err));
    assert_non_null(strstr(err.msg, files[2].path));
    err = (struct err){0};
    assert_false(new_files_write(files, 3, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, files[2].path));
    assert_holds(files[2].path, "mine");
    assert_int_equal(n_entries(), 1);
}

static void a_link_that_leads_nowhere_is_not_followed(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(symlink("nowhere", files[1].path), 0);
    assert_false(new_files_are_free(files, 3, &err));
    assert_false(new_files_write(files, 3, &err));
    assert_int_equal(n_entries(), 1);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    const struct new_file file = {"/nowhere/at/all", STR("x"), 0644};
    struct err err = {0};

    (void)state;
    assert_false(new_files_write(&file, 1, &err));
    assert_non_null(strstr(err.msg, "/nowhere/at/all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_files_are_there_with_their_rights_and_nothing_else,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_exists_stays_and_none_of_the_others_comes,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_that_leads_nowhere_is_not_followed, set_up,
                                        tear_down),
        cmocka_unit_test(a_folder_that_is_not_there_is_named),
    };

    if (mkdtemp(top) == NULL)
        return 1;

    const int failed = cmocka_run_group_tests_name("new_files", tests, NULL, NULL);

    for (size_t i = 0; i < 3; i++)
        buf_free(&paths[i]);
    rmdir(top);
    return failed;
}
