#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/coordination/coordination_ops.h"
#include "rebalance/coordination/zookeeper_name.h"
#include "src/base/buf.h"

static void an_address_gives_servers_with_ports_and_a_root(void **state)
{
    static const struct {
        const char *text, *servers, *root;
    } cases[] = {
        {"h1", "h1:2181", "/search-center"},
        {"h1:2182,h2", "h1:2182,h2:2181", "/search-center"},
        {"h1/", "h1:2181", "/search-center"},
        {"h1,h2:1,h3:65535/mill", "h1:2181,h2:1,h3:65535", "/mill"},
        {"127.0.0.1:2181/a/b-c/d.e", "127.0.0.1:2181", "/a/b-c/d.e"},
    };
    struct buf servers = {0}, root = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};

        if (!zookeeper_name_address(str_from(cases[i].text), &servers, &root, &err))
            fail_msg("%s: %s", cases[i].text, err.msg);
        assert_string_equal(servers.ptr, cases[i].servers);
        assert_string_equal(root.ptr, cases[i].root);
    }
    buf_free(&servers);
    buf_free(&root);
}

static void an_address_that_is_none_is_refused(void **state)
{
    static const char *const cases[] = {
        "",         "/mill", "h1:",     "h1:0",      "h1:65536",   "h1:99999999999",
        "h1:x",     ",h1",   "h1,,h2",  "h 1",       "[::1]:2181", "h1:1:2",
        "h1/mill/", "h1//a", "h1/a//b", "h1/a/../b", "h1/a b",     "h1\n",
    };
    struct buf servers = {0}, root = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};

        if (zookeeper_name_address(str_from(cases[i]), &servers, &root, &err))
            fail_msg("%s was taken", cases[i]);
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "coordination"));
    }
    buf_free(&servers);
    buf_free(&root);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    char text[600] = "h1/";
    struct buf servers = {0}, root = {0};
    struct err err = {0};

    (void)state;
    memset(text + 3, 'x', 500);
    assert_false(zookeeper_name_address(str_from(text), &servers, &root, &err));
    text[3 + 499] = '\0';
    assert_true(zookeeper_name_address(str_from(text), &servers, &root, &err));
    buf_free(&servers);
    buf_free(&root);
}

static void names_are_printable_and_no_path(void **state)
{
    static const char *const bad[] = {"", ".", "..", "a/b", "a b", "a\n", "\x7f", "\xc3\xa4"};
    static const char *const good[] = {"a", "...", "0a1b-2c", "!~"};
    char name[202] = {0};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(zookeeper_name_check(str_from(bad[i]), &err));
        assert_int_equal(err.kind, ERR_REJECT);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(zookeeper_name_check(str_from(good[i]), &err));
    assert_false(zookeeper_name_check((struct str){"a\0b", 3}, &err));
    memset(name, 'x', 201);
    assert_false(zookeeper_name_check(str_from(name), &err));
    assert_true(zookeeper_name_check((struct str){name, 200}, &err));
}

static void data_has_a_limit(void **state)
{
    struct err err = {0};

    (void)state;
    assert_true(zookeeper_name_check_data((struct str){"", COORDINATION_DATA_MAX}, &err));
    assert_false(zookeeper_name_check_data((struct str){"", COORDINATION_DATA_MAX + 1}, &err));
    assert_int_equal(err.kind, ERR_REJECT);
}

static void a_waiter_has_the_number_that_its_name_ends_in(void **state)
{
    static const struct {
        const char *name;
        int32_t sequence;
    } cases[] = {
        {"guid-0000000000", 0},
        {"guid-0000000017", 17},
        {"guid-2147483647", INT32_MAX},
        {"guid--2147483648", INT32_MIN},
        {"guid--0000000001", -1},
        {"other__lock__0000000005", 5},
        {"-0000000003", 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int32_t sequence = 99;

        assert_true(zookeeper_name_sequence(str_from(cases[i].name), &sequence));
        assert_int_equal(sequence, cases[i].sequence);
    }
}

static void a_name_without_a_number_is_no_waiter(void **state)
{
    static const char *const cases[] = {
        "",
        "guid",
        "0000000001",
        "guid-000000001",
        "guid-000000000x",
        "guid-9999999999",
        "guid--2147483649",
    };
    int32_t sequence;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (zookeeper_name_sequence(str_from(cases[i]), &sequence))
            fail_msg("%s was taken", cases[i]);
}

static void the_order_goes_on_behind_the_largest_number(void **state)
{
    (void)state;
    assert_true(zookeeper_name_before(1, 2));
    assert_false(zookeeper_name_before(2, 1));
    assert_false(zookeeper_name_before(2, 2));
    assert_true(zookeeper_name_before(INT32_MAX, INT32_MIN));
    assert_false(zookeeper_name_before(INT32_MIN, INT32_MAX));
    assert_true(zookeeper_name_before(-1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_gives_servers_with_ports_and_a_root),
        cmocka_unit_test(an_address_that_is_none_is_refused),
        cmocka_unit_test(a_path_that_is_too_long_is_refused),
        cmocka_unit_test(names_are_printable_and_no_path),
        cmocka_unit_test(data_has_a_limit),
        cmocka_unit_test(a_waiter_has_the_number_that_its_name_ends_in),
        cmocka_unit_test(a_name_without_a_number_is_no_waiter),
        cmocka_unit_test(the_order_goes_on_behind_the_largest_number),
    };

    return cmocka_run_group_tests_name("zookeeper_name", tests, NULL, NULL);
}
