#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/file/draft_file.h"
#include "src/file/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/test_draft_file_XXXXXX";
static struct buf path;

static void put(const char *text, bool replace, int code)
{
    struct draft_file d;
    struct err err = {0};

    assert_true(draft_file_open(&d, path.ptr, 0600, &err));
    assert_int_equal(write(d.fd, text, strlen(text)), strlen(text));
    assert_int_equal(draft_file_keep(&d, replace, &err), code == 0);
    assert_int_equal(err.code, code);
}

static void assert_holds(const char *text)
{
    struct buf found = {0};

    assert_true(whole_file_read(path.ptr, &found, NULL));
    assert_string_equal(found.ptr, text);
    buf_free(&found);
}

/* Fails if anything else is in the folder. */
static void assert_alone(bool is_there)
{
    assert_int_equal(unlink(path.ptr) == 0, is_there);
    assert_int_equal(rmdir(top), 0);
    assert_int_equal(mkdir(top, 0700), 0);
}

static void a_draft_gets_its_name_with_its_mode_and_leaves_nothing_else(void **state)
{
    struct stat st;

    (void)state;
    put("text", false, 0);
    assert_holds("text");
    assert_int_equal(stat(path.ptr, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 1);
    assert_alone(true);
}

static void a_file_that_has_the_name_stays_unless_it_is_to_be_replaced(void **state)
{
    (void)state;
    put("first", false, 0);
    put("second", false, EEXIST);
    assert_holds("first");
    put("third", true, 0);
    assert_holds("third");
    assert_alone(true);
}

static void a_folder_that_has_the_name_is_not_replaced(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path.ptr, 0700), 0);
    put("text", true, EISDIR);
    assert_int_equal(rmdir(path.ptr), 0);
    assert_alone(false);
}

static void a_draft_that_is_dropped_leaves_nothing(void **state)
{
    struct draft_file d;
    struct err err = {0};

    (void)state;
    assert_true(draft_file_open(&d, path.ptr, 0600, &err));
    draft_file_drop(&d);
    assert_alone(false);
}

static void a_draft_that_is_there_already_is_named(void **state)
{
    struct draft_file first, second;
    struct err err = {0};

    (void)state;
    assert_true(draft_file_open(&first, path.ptr, 0600, &err));
    assert_false(draft_file_open(&second, path.ptr, 0600, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, first.draft.ptr));
    draft_file_drop(&first);
    assert_alone(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draft_gets_its_name_with_its_mode_and_leaves_nothing_else),
        cmocka_unit_test(a_file_that_has_the_name_stays_unless_it_is_to_be_replaced),
        cmocka_unit_test(a_folder_that_has_the_name_is_not_replaced),
        cmocka_unit_test(a_draft_that_is_dropped_leaves_nothing),
        cmocka_unit_test(a_draft_that_is_there_already_is_named),
    };

    if (mkdtemp(top) == NULL)
        return 1;
    buf_printf(&path, "%s/file", top);

    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    buf_free(&path);
    rmdir(top);
    return failed;
}
