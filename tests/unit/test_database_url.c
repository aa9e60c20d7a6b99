#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "sync/draft/database_url.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void an_address_names_user_server_and_database(void **state)
{
    static const struct {
        const char *text, *user, *password, *address, *database;
    } cases[] = {
        {"mysql://mill@db/shop", "mill", NULL, "db:3306", "shop"},
        {"mariadb://mill@db:3307/shop", "mill", NULL, "db:3307", "shop"},
        {"mysql://mill@[::1]/shop", "mill", NULL, "[::1]:3306", "shop"},
        {"mysql://mill@[::1]:3307/shop", "mill", NULL, "[::1]:3307", "shop"},
        {"mysql://mill:a%40%2f:b@db/shop", "mill", "a@/:b", "db:3306", "shop"},
        {"mysql://mill:@db/shop", "mill", "", "db:3306", "shop"},
        {"mysql://m%3All@db/my%20shop%3F", "m:ll", NULL, "db:3306", "my shop?"},
        {"mysql://mill@/shop?socket=/run/my%20sql.sock", "mill", NULL, "/run/my sql.sock",
         "shop"},
        {"mysql://mill@localhost/shop?socket=/s", "mill", NULL, "/s", "shop"},
        {"mysql://mill@%2Frun%2Fs/shop", "mill", NULL, "/run/s", "shop"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct database_url url;
        struct err err = {0};

        if (!database_url_parse(cases[i].text, arena, &url, &err))
            fail_msg("%s: %s", cases[i].text, err.msg);
        assert_true(str_equal(url.user, str_from(cases[i].user)));
        assert_true(str_equal(url.address, str_from(cases[i].address)));
        assert_true(str_equal(url.database, str_from(cases[i].database)));
        assert_int_equal(url.has_password, cases[i].password != NULL);
        if (cases[i].password != NULL)
            assert_true(str_equal(url.password, str_from(cases[i].password)));
    }
}

static void an_address_that_cannot_be_is_refused_without_its_password(void **state)
{
    static const char *const cases[] = {
        "",
        "mysql:",
        "http://mill:hunter2@db/shop",
        "mysql://db/shop",
        "mysql://@db/shop",
        "mysql://:hunter2@db/shop",
        "mysql://mill:hunter2@db",
        "mysql://mill:hunter2@db/",
        "mysql://mill:hunter2@/shop",
        "mysql://mill:hunter2@db:0/shop",
        "mysql://mill:hunter2@db:x/shop",
        "mysql://mill:hunter2@::1/shop",
        "mysql://mill:hunter2@d b/shop",
        "mysql://mill:hunter2@db/shop/orders",
        "mysql://mill:hunter2@db/shop?tls=1",
        "mysql://mill:hunter2@db/shop?socket=/s",
        "mysql://mill:hunter2@/shop?socket=s",
        "mysql://mill:hunter2@/shop?socket=",
        "mysql://mill:hunter2%@db/shop",
        "mysql://mill:hunter2%0a@db/shop",
        "mysql://mill:hunter2@db/shop%00",
        "mysql://mill:hunter2@db/shop%4",
        "mysql://mill:hunter2@db/shop%zz",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct database_url url;
        struct err err = {0};

        if (database_url_parse(cases[i], arena, &url, &err))
            fail_msg("%s was taken", cases[i]);
        assert_int_equal(err.kind, ERR_REJECT);
        assert_null(strstr(err.msg, "hunter2"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_address_names_user_server_and_database, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            an_address_that_cannot_be_is_refused_without_its_password, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("database_url", tests, NULL, NULL);
}
