#include "config.h"

#include "tests/unit/unit.h"

#include "src/file/node_file.h"

#include "src/base/buf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/test_node_file_XXXXXX");
    return mkdtemp(folder) == NULL;
}

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path_of("node"));
    return rmdir(folder);
}

static struct node_id load(void)
{
    struct node_id node;
    struct err err = {0};

    if (!node_file_load(folder, &node, &err))
        fail_msg("%s", err.msg);
    return node;
}

static void write_node(const char *text)
{
    FILE *f = fopen(path_of("node"), "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_node_keeps_its_id_and_its_place(void **state)
{
    const struct node_id first = load(), again = load();
    struct stat st;

    (void)state;
    assert_int_equal(strlen(first.id), 36);
    assert_int_equal(first.id[14], '4'); /* a random UUID */
    assert_int_equal(strlen(first.place), 32);
    assert_string_equal(again.id, first.id);
    assert_string_equal(again.place, first.place);
    assert_int_equal(stat(path_of("node"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void another_folder_is_another_node(void **state)
{
    const struct node_id first = load();
    struct node_id other;

    (void)state;
    unlink(path_of("node"));
    other = load();
    assert_string_not_equal(other.id, first.id);
    assert_string_not_equal(other.place, first.place);
}

static void a_copy_has_the_same_id_at_another_place(void **state)
{
    const struct node_id first = load();
    struct node_id copy;
    char line[64], name[128];

    (void)state;
    snprintf(line, sizeof(line), "%s\n", first.id);
    snprintf(name, sizeof(name), "%s", path_of("original"));
    assert_int_equal(rename(path_of("node"), name), 0); /* so that its inode stays in use */
    write_node(line);
    copy = load();
    unlink(name);
    assert_string_equal(copy.id, first.id);
    assert_string_not_equal(copy.place, first.place);
}

static void what_is_no_id_is_refused_with_the_fix(void **state)
{
    static const char *const wrong[] = {
        "",
        "\n",
        "node 1\n",
        "01234567-89ab-cdef-0123-456789abcde",
        "01234567-89ab-cdef-0123-456789abcdef0",
        "01234567-89ab-cdef-0123-456789ABCDEF",
        "01234567089ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123-456789abcdef\nmore\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct node_id node;
        struct err err = {0};

        write_node(wrong[i]);
        assert_false(node_file_load(folder, &node, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "remove it"));
    }
    write_node("01234567-89ab-cdef-0123-456789abcdef"); /* an editor left the end out */
    assert_string_equal(load().id, "01234567-89ab-cdef-0123-456789abcdef");
}

static void an_id_has_hexadecimal_digits_only(void **state)
{
    char id[37];

    (void)state;
    node_uuid_make(id);
    assert_true(node_uuid_is(str_from(id)));
    for (size_t i = 0; i < 36; i++) {
        struct str changed = str_from(id);
        const char was = id[i];

        id[i] = i % 2 == 0 ? '\0' : 'g';
        changed.len = 36;
        assert_false(node_uuid_is(changed));
        id[i] = was;
    }
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_node_keeps_its_id_and_its_place),
        IN_FOLDER(another_folder_is_another_node),
        IN_FOLDER(a_copy_has_the_same_id_at_another_place),
        IN_FOLDER(what_is_no_id_is_refused_with_the_fix),
        cmocka_unit_test(an_id_has_hexadecimal_digits_only),
    };

    return cmocka_run_group_tests_name("node_file", tests, NULL, NULL);
}
