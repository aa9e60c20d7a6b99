#include "config.h"

#include "tests/unit/unit.h"

#include "src/address_set.h"

#include <stdbool.h>

static const char *const urls[] = {"http://a:9200", "http://b:9200", "http://c:9200"};

static void healthy_addresses_take_turns(void **state)
{
    struct address_set *s = address_set_new(urls, 3);

    (void)state;
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(address_set_pick(s, 0), i % 3);
    assert_int_equal(address_set_healthy(s), 3);
    address_set_free(s);
}

static void a_failed_address_is_left_out_until_it_is_due(void **state)
{
    struct address_set *s = address_set_new(urls, 3);

    (void)state;
    address_set_failed(s, 1, 0);
    assert_int_equal(address_set_healthy(s), 2);
    for (int i = 0; i < 10; i++)
        assert_int_not_equal(address_set_pick(s, 0), 1);

    /* After the longest first wait one request tries it, and only one. */
    size_t n_tries = 0;

    for (int i = 0; i < 10; i++)
        n_tries += address_set_pick(s, 1000) == 1;
    assert_int_equal(n_tries, 1);
    address_set_worked(s, 1);
    assert_int_equal(address_set_healthy(s), 3);
    address_set_free(s);
}

static void many_failures_at_once_count_as_one(void **state)
{
    struct address_set *s = address_set_new(urls, 2);

    (void)state;
    for (int i = 0; i < 100; i++)
        address_set_failed(s, 0, 0);

    bool tried = false;

    for (int i = 0; i < 4; i++)
        tried |= address_set_pick(s, 1000) == 0;
    assert_true(tried);
    address_set_free(s);
}

static void repeated_failures_are_waited_for_longer(void **state)
{
    struct address_set *s = address_set_new(urls, 1);
    int64_t now = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        address_set_failed(s, 0, now);
        now += 30000;
        assert_int_equal(address_set_pick(s, now), 0);
    }
    address_set_free(s);
}

static void when_all_are_aside_the_first_that_is_due_is_used(void **state)
{
    struct address_set *s = address_set_new(urls, 3);

    (void)state;
    address_set_failed(s, 0, 100000);
    address_set_failed(s, 1, 0);
    address_set_failed(s, 2, 50000);
    assert_int_equal(address_set_healthy(s), 0);
    assert_int_equal(address_set_pick(s, 0), 1);
    assert_int_equal(address_set_pick(s, 0), 2);
    assert_int_equal(address_set_pick(s, 0), 0);
    address_set_free(s);
}

static void names_do_not_show_the_password(void **state)
{
    static const char *const given[] = {
        "https://user:p@ss@host:9200/path/",
        "host:9200",
        "http://host/a@b",
        "https://u:p@[::1]:9200//",
    };
    struct address_set *s = address_set_new(given, 4);

    (void)state;
    assert_string_equal(address_set_name(s, 0), "https://host:9200/path");
    assert_string_equal(address_set_url(s, 0), "https://user:p@ss@host:9200/path");
    assert_string_equal(address_set_name(s, 1), "http://host:9200");
    assert_string_equal(address_set_name(s, 2), "http://host/a@b");
    assert_string_equal(address_set_name(s, 3), "https://[::1]:9200");
    address_set_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_addresses_take_turns),
        cmocka_unit_test(a_failed_address_is_left_out_until_it_is_due),
        cmocka_unit_test(many_failures_at_once_count_as_one),
        cmocka_unit_test(repeated_failures_are_waited_for_longer),
        cmocka_unit_test(when_all_are_aside_the_first_that_is_due_is_used),
        cmocka_unit_test(names_do_not_show_the_password),
    };
    return cmocka_run_group_tests_name("address_set", tests, NULL, NULL);
}
