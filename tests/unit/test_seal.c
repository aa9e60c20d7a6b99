#include "config.h"

#include "tests/unit/unit.h"

#include "src/file/seal.h"

#include "src/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_seal_XXXXXX";

static struct seal *open_key(const char *name)
{
    struct buf path = {0};
    struct seal *s = NULL;
    struct err err = {0};

    buf_printf(&path, "%s/%s", folder, name);
    if (!seal_open(&s, path.ptr, &err))
        fail_msg("%s", err.msg);
    buf_free(&path);
    return s;
}

static void what_is_sealed_opens_with_the_same_key_and_label_only(void **state)
{
    struct seal *ours = open_key("ours"), *again = open_key("ours"), *other = open_key("other");
    struct buf sealed = {0}, plain = {0};

    (void)state;
    seal_text(ours, STR("topic shop"), STR("s3cret"), &sealed);
    assert_true(seal_is_text(buf_str(&sealed)));
    assert_null(strstr(sealed.ptr, "s3cret"));
    assert_false(seal_open_text(other, STR("topic shop"), buf_str(&sealed), &plain));
    assert_false(seal_open_text(ours, STR("topic blog"), buf_str(&sealed), &plain));
    assert_int_equal(plain.len, 0);
    assert_true(seal_open_text(again, STR("topic shop"), buf_str(&sealed), &plain));
    assert_true(str_equal(buf_str(&plain), str_from("s3cret")));
    buf_free(&sealed);
    buf_free(&plain);
    seal_close(ours);
    seal_close(again);
    seal_close(other);
}

static void the_same_secret_gives_the_same_sealed_text(void **state)
{
    struct seal *s = open_key("ours");
    struct buf one = {0}, two = {0};

    (void)state;
    seal_text(s, STR("topic shop"), STR("s3cret"), &one);
    seal_text(s, STR("topic shop"), STR("s3cret"), &two);
    assert_true(str_equal(buf_str(&one), buf_str(&two)));
    buf_free(&one);
    buf_free(&two);
    seal_close(s);
}

static void a_sealed_text_with_any_character_changed_does_not_open(void **state)
{
    struct seal *s = open_key("ours");
    struct buf sealed = {0}, plain = {0};

    (void)state;
    seal_text(s, STR("topic shop"), STR("s3cret"), &sealed);
    for (size_t i = 0; i < sealed.len; i++) {
        const char was = sealed.ptr[i];

        sealed.ptr[i] = was == '0' ? '1' : '0';
        assert_false(seal_open_text(s, STR("topic shop"), buf_str(&sealed), &plain));
        sealed.ptr[i] = was;
    }
    for (size_t len = 0; len < sealed.len; len++)
        assert_false(
            seal_open_text(s, STR("topic shop"), (struct str){sealed.ptr, len}, &plain));
    buf_free(&sealed);
    buf_free(&plain);
    seal_close(s);
}

static void of_a_body_the_password_alone_is_sealed_and_comes_back(void **state)
{
    static const char *const bodies[] = {
        "{\"name\":\"shop\",\"password\":\"a\\\"b\\\\ü\",\"user\":\"u\"}",
        "{\"password\":\"x\"}",
        "{\"description\":\"\\\"password\\\":\\\"x\\\"\"}",
        "{\"name\":\"shop\",\"password_file\":\"/etc/p\"}",
    };
    struct seal *s = open_key("ours");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const struct str body = str_from(bodies[i]);
        struct buf sealed = {0}, twice = {0}, opened = {0};

        seal_body(s, STR("topic shop"), body, &sealed);
        assert_int_equal(seal_body_is_open(body), i < 2);
        assert_false(seal_body_is_open(buf_str(&sealed)));
        assert_int_equal(str_equal(buf_str(&sealed), body), i >= 2);
        seal_body(s, STR("topic shop"), buf_str(&sealed), &twice);
        assert_true(str_equal(buf_str(&twice), buf_str(&sealed)));
        seal_open_body(s, STR("topic shop"), buf_str(&sealed), &opened);
        assert_true(str_equal(buf_str(&opened), str_from(bodies[i])));
        buf_free(&sealed);
        buf_free(&twice);
        buf_free(&opened);
    }
    seal_close(s);
}

static void the_rest_of_a_body_is_the_same_whether_its_password_is_sealed(void **state)
{
    struct seal *s = open_key("ours");
    const struct str body = STR("{\"name\":\"shop\",\"password\":\"x\",\"user\":\"u\"}");
    struct buf sealed = {0}, rest = {0}, same = {0};

    (void)state;
    seal_body(s, STR("topic shop"), body, &sealed);
    assert_true(seal_body_rest(body, &rest));
    assert_true(seal_body_rest(buf_str(&sealed), &same));
    assert_true(str_equal(buf_str(&rest), buf_str(&same)));
    assert_null(strstr(rest.ptr, "\"x\""));
    assert_non_null(strstr(rest.ptr, "\"user\":\"u\""));
    assert_false(seal_body_rest(STR("{\"user\":\"u\"}"), &rest));
    buf_free(&sealed);
    buf_free(&rest);
    buf_free(&same);
    seal_close(s);
}

static void a_body_sealed_with_another_key_stays_sealed(void **state)
{
    struct seal *ours = open_key("ours"), *other = open_key("other");
    struct buf sealed = {0}, opened = {0};

    (void)state;
    seal_body(ours, STR("topic shop"), STR("{\"password\":\"x\"}"), &sealed);
    seal_open_body(other, STR("topic shop"), buf_str(&sealed), &opened);
    assert_true(str_equal(buf_str(&opened), buf_str(&sealed)));
    buf_free(&sealed);
    buf_free(&opened);
    seal_close(ours);
    seal_close(other);
}

static void a_key_file_is_made_for_its_owner_alone_and_a_broken_one_refused(void **state)
{
    struct buf path = {0};
    struct seal *s = open_key("made");
    struct err err = {0};
    struct stat st;
    FILE *f;

    (void)state;
    seal_close(s);
    buf_printf(&path, "%s/made", folder);
    assert_int_equal(stat(path.ptr, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    f = fopen(path.ptr, "w");
    assert_non_null(f);
    fputs("not a key\n", f);
    fclose(f);
    assert_false(seal_open(&s, path.ptr, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "/made"));
    assert_null(strstr(err.msg, "not a key\n"));
    f = fopen(path.ptr, "w");
    assert_non_null(f);
    for (int i = 0; i < 33; i++) /* a byte more than a key has */
        fputs("0a", f);
    fclose(f);
    assert_false(seal_open(&s, path.ptr, &err));
    buf_free(&path);
}

/* It may be of another program that was first, or lead to what is not mounted yet. */
static void a_name_that_something_has_is_not_given_to_a_new_key(void **state)
{
    struct buf path = {0}, nowhere = {0};
    struct seal *s = NULL;
    struct err err = {0};
    struct stat st;

    (void)state;
    buf_printf(&path, "%s/taken", folder);
    buf_printf(&nowhere, "%s/nowhere", folder);
    assert_int_equal(symlink(nowhere.ptr, path.ptr), 0);
    assert_false(seal_open(&s, path.ptr, &err));
    assert_int_equal(lstat(path.ptr, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    buf_free(&path);
    buf_free(&nowhere);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"ours", "other", "made", "taken"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct buf path = {0};

        buf_printf(&path, "%s/%s", folder, names[i]);
        unlink(path.ptr);
        buf_free(&path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sealed_opens_with_the_same_key_and_label_only),
        cmocka_unit_test(the_same_secret_gives_the_same_sealed_text),
        cmocka_unit_test(a_sealed_text_with_any_character_changed_does_not_open),
        cmocka_unit_test(of_a_body_the_password_alone_is_sealed_and_comes_back),
        cmocka_unit_test(the_rest_of_a_body_is_the_same_whether_its_password_is_sealed),
        cmocka_unit_test(a_body_sealed_with_another_key_stays_sealed),
        cmocka_unit_test(a_key_file_is_made_for_its_owner_alone_and_a_broken_one_refused),
        cmocka_unit_test(a_name_that_something_has_is_not_given_to_a_new_key),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
