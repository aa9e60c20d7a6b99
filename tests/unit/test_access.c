/* Roles, passwords and tokens. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/access/password.h"
#include "src/access/role.h"
#include "src/access/token.h"
#include "src/base/buf.h"

#include <string.h>
#include <time.h>

static void only_people_s_roles_are_read(void **state)
{
    enum access_role r;

    (void)state;
    assert_true(role_parse(&r, STR("viewer")) && r == ROLE_VIEWER);
    assert_true(role_parse(&r, STR("operator")) && r == ROLE_OPERATOR);
    assert_true(role_parse(&r, STR("admin")) && r == ROLE_ADMIN);
    assert_false(role_parse(&r, STR("page")));
    assert_false(role_parse(&r, STR("probe")));
    assert_false(role_parse(&r, STR("Admin")));
    assert_false(role_parse(&r, STR("")));
    assert_string_equal(role_name(ROLE_OPERATOR), "operator");
}

static void each_token_is_another_and_its_hash_is_its_own(void **state)
{
    char a[TOKEN_TEXT + 1], b[TOKEN_TEXT + 1], hash[TOKEN_HASH + 1], again[TOKEN_HASH + 1];

    (void)state;
    token_make(a);
    token_make(b);
    assert_int_equal(strlen(a), TOKEN_TEXT);
    assert_string_not_equal(a, b);
    assert_true(token_hash(hash, str_from(a)));
    assert_true(token_hash(again, str_from(a)));
    assert_string_equal(hash, again);
    assert_true(token_hash(again, str_from(b)));
    assert_string_not_equal(hash, again);
    assert_null(strstr(hash, a + 4));
}

/* Computed with sha256sum. */
static void a_token_s_hash_is_its_sha_256(void **state)
{
    char hash[TOKEN_HASH + 1];

    (void)state;
    assert_true(token_hash(hash, STR("mrt_0000000000000000000000000000000000000000000000000000"
                                     "000000000000")));
    assert_string_equal(hash,
                        "26a5ba2379321ab5f81fd7f7655c4e2325534b2e9e2bfc9037562efd951b0a81");
}

static void what_is_no_token_has_no_hash(void **state)
{
    char text[TOKEN_TEXT + 1], hash[TOKEN_HASH + 1];

    (void)state;
    token_make(text);
    assert_false(token_hash(hash, (struct str){text, TOKEN_TEXT - 1}));
    assert_false(token_hash(hash, STR("")));
    text[0] = 'x';
    assert_false(token_hash(hash, str_from(text)));
}

static void a_password_matches_its_hash_and_no_other_does(void **state)
{
    struct buf hash = {0}, other = {0};
    struct err err = {0};

    (void)state;
    assert_true(password_hash(&hash, STR("correct horse"), &err));
    assert_true(password_hash(&other, STR("correct horse"), &err));
    assert_memory_equal(hash.ptr, "$y$", 3);
    assert_false(str_equal(buf_str(&hash), buf_str(&other))); /* each has its salt */
    assert_true(password_matches(buf_str(&hash), STR("correct horse")));
    assert_true(password_matches(buf_str(&other), STR("correct horse")));
    assert_false(password_matches(buf_str(&hash), STR("correct horsf")));
    assert_false(password_matches(buf_str(&hash), STR("correct hors")));
    assert_false(password_matches(buf_str(&hash), STR("")));
    assert_false(password_matches(buf_str(&hash), (struct str){"correct horse\0", 14}));
    assert_false(password_matches(STR("$y$broken"), STR("correct horse")));
    buf_free(&hash);
    buf_free(&other);
}

/* Of this thread's processor time, so that others' work does not count. */
static int64_t processor_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t cost_us(struct str hash)
{
    const int64_t begin_us = processor_us();

    for (int i = 0; i < 3; i++)
        assert_false(password_matches(hash, STR("not this one")));
    return processor_us() - begin_us;
}

static void a_guess_for_nobody_takes_as_long_as_for_somebody(void **state)
{
    struct buf hash = {0};
    struct err err = {0};

    (void)state;
    assert_true(password_hash(&hash, STR("correct horse"), &err));

    const int64_t known_us = cost_us(buf_str(&hash)), unknown_us = cost_us(STR(""));

    assert_true(unknown_us > known_us / 4);
    buf_free(&hash);
}

static void a_password_that_is_too_short_or_no_line_is_refused(void **state)
{
    char long_text[PASSWORD_MAX + 2];
    struct buf hash = {0};
    struct err err = {0};

    (void)state;
    memset(long_text, 'x', sizeof(long_text));
    assert_false(password_hash(&hash, STR("eleven char"), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_false(password_hash(&hash, (struct str){long_text, PASSWORD_MAX + 1}, &err));
    assert_true(password_hash(&hash, (struct str){long_text, PASSWORD_MAX}, &err));
    assert_false(password_hash(&hash, STR("with a\nline break"), &err));
    assert_false(password_hash(&hash, STR("with \xff no UTF-8 in it"), &err));
    assert_false(password_hash(&hash, STR("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"),
                               &err)); /* 6 characters of 12 bytes */
    buf_free(&hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_people_s_roles_are_read),
        cmocka_unit_test(each_token_is_another_and_its_hash_is_its_own),
        cmocka_unit_test(a_token_s_hash_is_its_sha_256),
        cmocka_unit_test(what_is_no_token_has_no_hash),
        cmocka_unit_test(a_password_matches_its_hash_and_no_other_does),
        cmocka_unit_test(a_guess_for_nobody_takes_as_long_as_for_somebody),
        cmocka_unit_test(a_password_that_is_too_short_or_no_line_is_refused),
    };

    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
