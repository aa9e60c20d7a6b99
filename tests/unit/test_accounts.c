/* What the owner of a token may do, and what may be a name. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/state/accounts.h"

#include <string.h>

#define NOW INT64_C(1000000)

static void a_script_s_token_has_its_own_role_until_it_ends(void **state)
{
    const struct accounts all = {0};
    const struct access_token t = {
        .name = STR("ci"), .user = STR("anna"), .role = ROLE_OPERATOR, .ends_ms = NOW};

    (void)state;
    assert_int_equal(accounts_role_of(&all, &t, NOW - 1), ROLE_OPERATOR);
    assert_int_equal(accounts_role_of(&all, &t, NOW), ROLE_PAGE);
    assert_int_equal(accounts_role_of(&all, &t, NOW + 1), ROLE_PAGE);
}

static void
a_log_in_has_its_user_s_role_until_the_user_goes_or_has_another_password(void **state)
{
    struct account users[] = {
        {.name = STR("bert"), .role = ROLE_ADMIN},
        {.name = STR("anna"), .role = ROLE_VIEWER, .password_ms = NOW - 100},
    };
    const struct access_token t = {
        .user = STR("anna"), .ends_ms = NOW + 100, .password_ms = NOW - 100};
    struct accounts all = {.users = users, .n_users = 2};

    (void)state;
    assert_int_equal(accounts_role_of(&all, &t, NOW), ROLE_VIEWER);
    users[1].role = ROLE_OPERATOR;
    assert_int_equal(accounts_role_of(&all, &t, NOW), ROLE_OPERATOR);
    assert_int_equal(accounts_role_of(&all, &t, NOW + 100), ROLE_PAGE);
    users[1].password_ms = NOW - 99;
    assert_int_equal(accounts_role_of(&all, &t, NOW), ROLE_PAGE);
    users[1].password_ms = NOW - 101; /* the clock of whoever set it is behind */
    assert_int_equal(accounts_role_of(&all, &t, NOW), ROLE_PAGE);
    users[1].password_ms = NOW - 100;
    assert_int_equal(accounts_role_of(&all, &t, NOW), ROLE_OPERATOR);
    all.n_users = 1;
    assert_int_equal(accounts_role_of(&all, &t, NOW), ROLE_PAGE);
}

/* "" is the name of every log-in. */
static void a_log_in_has_no_name_to_be_found_by(void **state)
{
    const struct access_token tokens[] = {{.hash = STR("1"), .user = STR("anna")},
                                          {.hash = STR("2"), .name = STR("ci")}};
    const struct accounts all = {.tokens = tokens, .n_tokens = 2};

    (void)state;
    assert_null(accounts_token_named(&all, STR("")));
    assert_null(accounts_token_named(&all, STR("anna")));
    assert_ptr_equal(accounts_token_named(&all, STR("ci")), &tokens[1]);
    assert_ptr_equal(accounts_token(&all, STR("1")), &tokens[0]);
    assert_null(accounts_token(&all, STR("")));
}

static void a_name_is_a_word(void **state)
{
    static const char *const good[] = {"a", "anna", "Anna.B", "a_b-c@example.org", "7"};
    static const char *const bad[] = {"",     "a b", "a/b", ".a", "-a",  "@a",
                                      "a\nb", "a:b", "a%",  "é",  "a\"", "../a"};
    char longest[ACCOUNT_NAME_MAX + 1];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(account_name_is_valid(str_from(good[i])));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(account_name_is_valid(str_from(bad[i])));
    memset(longest, 'a', sizeof(longest));
    assert_true(account_name_is_valid((struct str){longest, ACCOUNT_NAME_MAX}));
    assert_false(account_name_is_valid((struct str){longest, ACCOUNT_NAME_MAX + 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_s_token_has_its_own_role_until_it_ends),
        cmocka_unit_test(
            a_log_in_has_its_user_s_role_until_the_user_goes_or_has_another_password),
        cmocka_unit_test(a_log_in_has_no_name_to_be_found_by),
        cmocka_unit_test(a_name_is_a_word),
    };

    return cmocka_run_group_tests_name("accounts", tests, NULL, NULL);
}
