#include "config.h"

#include "tests/unit/unit.h"

#include "src/mysql/errors.h"
#include "src/mysql/login.h"

#include <string.h>

static void only_loopback_addresses_and_sockets_are_this_machine(void **state)
{
    static const struct {
        const char *address;
        bool local;
    } cases[] = {
        {"/run/mysqld/mysqld.sock", true},
        {"localhost", true},
        {"localhost:3307", true},
        {"127.0.0.1", true},
        {"127.0.0.1:3306", true},
        {"127.255.1.2:1", true},
        {"::1", true},
        {"[::1]", true},
        {"[::1]:3306", true},
        {"", true}, /* as the client library has it */
        {"0.0.0.0:3306", false},
        {"10.0.0.1", false},
        {"127.0.0.1.example.org", false},
        {"128.0.0.1", false},
        {"db.example.org:3306", false},
        {"localhost.example.org", false},
        {"::2", false},
        {"[2001:db8::1]:3306", false},
        {"::ffff:10.0.0.1", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (mysql_login_is_local(str_from(cases[i].address)) != cases[i].local)
            fail_msg("%s", cases[i].address);
}

static void a_name_of_any_length_is_no_address_of_this_machine(void **state)
{
    static char name[5000];

    (void)state;
    memset(name, '1', sizeof(name));
    assert_false(mysql_login_is_local((struct str){name, sizeof(name)}));
}

static void the_password_itself_goes_only_to_a_server_that_was_verified(void **state)
{
    const struct str far = STR("db.example.org:3306"), near = STR("127.0.0.1:3306");

    (void)state;
    assert_int_equal(mysql_login_allowed(true, true, false, far), MYSQL_LOGIN_ANY);
    assert_int_equal(mysql_login_allowed(true, false, false, far), MYSQL_LOGIN_PROVEN);
    assert_int_equal(mysql_login_allowed(true, false, true, far), MYSQL_LOGIN_PROVEN);
    assert_int_equal(mysql_login_allowed(true, false, false, near), MYSQL_LOGIN_ENCRYPTED);
    assert_int_equal(mysql_login_allowed(false, true, false, far), MYSQL_LOGIN_PROVEN);
    assert_int_equal(mysql_login_allowed(false, false, true, far), MYSQL_LOGIN_ENCRYPTED);
    assert_int_equal(mysql_login_allowed(false, false, false, near), MYSQL_LOGIN_ENCRYPTED);
    assert_int_equal(mysql_login_allowed(true, true, true, near), MYSQL_LOGIN_ANY);
}

static void each_step_allows_what_the_one_before_does_and_more(void **state)
{
    const char *proven = mysql_login_methods(MYSQL_LOGIN_PROVEN),
               *encrypted = mysql_login_methods(MYSQL_LOGIN_ENCRYPTED),
               *any = mysql_login_methods(MYSQL_LOGIN_ANY);

    (void)state;
    assert_non_null(strstr(proven, "mysql_native_password"));
    assert_non_null(strstr(proven, "client_ed25519"));
    assert_null(strstr(proven, "sha2"));
    assert_null(strstr(proven, "sha256"));
    assert_int_equal(strncmp(encrypted, proven, strlen(proven)), 0);
    assert_non_null(strstr(encrypted, "caching_sha2_password"));
    assert_null(strstr(encrypted, "clear"));
    assert_null(strstr(encrypted, "dialog"));
    assert_int_equal(strncmp(any, encrypted, strlen(encrypted)), 0);
    assert_non_null(strstr(any, "mysql_clear_password"));
    assert_null(strstr(any, "old"));
}

static void a_port_that_sends_no_greeting_is_named(void **state)
{
    const char *fix;

    (void)state;
    assert_int_equal(mysql_errors_login_kind(2013,
                                             "Lost connection to server at 'handshake: reading "
                                             "initial communication packet', system error: 110",
                                             &fix),
                     ERR_RETRY);
    assert_non_null(fix);
    assert_non_null(strstr(fix, "does not greet as MySQL does"));
    (void)mysql_errors_login_kind(2013, "Lost connection to server during query", &fix);
    assert_null(fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_loopback_addresses_and_sockets_are_this_machine),
        cmocka_unit_test(a_name_of_any_length_is_no_address_of_this_machine),
        cmocka_unit_test(the_password_itself_goes_only_to_a_server_that_was_verified),
        cmocka_unit_test(each_step_allows_what_the_one_before_does_and_more),
        cmocka_unit_test(a_port_that_sends_no_greeting_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
