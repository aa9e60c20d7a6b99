#include "config.h"

#include "tests/unit/unit.h"

#include "src/config/store_address.h"

#include <string.h>

static void an_address_has_user_host_port_and_database(void **state)
{
    static const struct {
        const char *text, *user, *host, *database;
        uint16_t port;
    } cases[] = {
        {"mysql://millrace@db1:3307/millrace", "millrace", "db1", "millrace", 3307},
        {"mysql://m@127.0.0.1/x", "m", "127.0.0.1", "x", 3306},
        {"mysql://m@[::1]:3308/x", "m", "::1", "x", 3308},
        {"mysql://m@[::1]/x", "m", "::1", "x", 3306},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct store_address a;
        struct err err;

        assert_true(store_address_parse(&a, cases[i].text, &err));
        assert_string_equal(a.user, cases[i].user);
        assert_string_equal(a.host, cases[i].host);
        assert_string_equal(a.database, cases[i].database);
        assert_int_equal(a.port, cases[i].port);
        store_address_free(&a);
    }
}

static void what_is_no_address_is_refused_with_the_form(void **state)
{
    static const char *const bad[] = {
        "",
        "redis",
        "mysql://",
        "mysql://db1/x",
        "mysql://@db1/x",
        "mysql://m@db1",
        "mysql://m@db1/",
        "mysql://m@/x",
        "mysql://m@db1:/x",
        "mysql://m@db1:0/x",
        "mysql://m@db1:70000/x",
        "mysql://m@db1:33a/x",
        "mysql://m@[::1/x",
        "mysql://m@[::1]3/x",
        "mysql://m@db1/x/y",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct store_address a;
        struct err err;

        if (store_address_parse(&a, bad[i], &err))
            fail_msg("%s is taken", bad[i]);
        assert_non_null(strstr(err.msg, "mysql://user@host:port/database"));
    }
}

static void a_password_does_not_belong_into_it(void **state)
{
    struct store_address a;
    struct err err;

    (void)state;
    assert_false(store_address_parse(&a, "mysql://m:secret@db1/x", &err));
    assert_non_null(strstr(err.msg, "store_password_file"));
    assert_null(strstr(err.msg, "secret"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_user_host_port_and_database),
        cmocka_unit_test(what_is_no_address_is_refused_with_the_form),
        cmocka_unit_test(a_password_does_not_belong_into_it),
    };
    return cmocka_run_group_tests_name("store_address", tests, NULL, NULL);
}
