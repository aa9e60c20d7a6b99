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

static void found_addresses_take_turns_once_they_have_worked(void **state)
{
    static const char *const found[] = {"http://b:9200/", "d:9200"};
    struct address_set *s = address_set_new(urls, 3);
    size_t n_tries = 0;

    (void)state;
    assert_true(address_set_found(s, found, 2, 0));
    assert_false(address_set_found(s, found, 2, 0));
    assert_int_equal(address_set_count(s), 4);
    for (int i = 0; i < 10; i++) {
        const size_t a = address_set_pick(s, 0);

        assert_true(a == 1 || a == 3);
        n_tries += a == 3; /* never used yet: one request at a time */
    }
    assert_int_equal(n_tries, 1);
    assert_string_equal(address_set_url(s, 3), "http://d:9200");
    address_set_worked(s, 3);
    for (int i = 0; i < 10; i++)
        assert_int_equal(address_set_pick(s, 0), i % 2 == 0 ? 3 : 1);
    address_set_free(s);
}

static void seeds_help_out_while_no_found_address_can_be_used(void **state)
{
    static const char *const found[] = {"d", "e"};
    struct address_set *s = address_set_new(urls, 3);

    (void)state;
    assert_true(address_set_found(s, found, 2, 0));
    for (size_t i = 3; i < 5; i++) {
        assert_int_equal(address_set_pick(s, 0), i);
        address_set_failed(s, i, 0);
    }
    for (int i = 0; i < 10; i++)
        assert_true(address_set_pick(s, 0) < 3);
    address_set_worked(s, 4);
    for (int i = 0; i < 10; i++)
        assert_int_equal(address_set_pick(s, 0), 4);
    address_set_free(s);
}

static void an_address_that_vanished_is_not_used_and_is_tried_when_it_comes_back(void **state)
{
    static const char *const one[] = {"d"}, *const other[] = {"e"};
    struct address_set *s = address_set_new(urls, 1);

    (void)state;
    assert_true(address_set_found(s, one, 1, 0));
    assert_int_equal(address_set_pick(s, 0), 1);
    address_set_worked(s, 1);
    assert_true(address_set_found(s, other, 1, 0));
    assert_int_equal(address_set_count(s), 2);
    for (int i = 0; i < 10; i++)
        assert_int_not_equal(address_set_pick(s, 0), 1);
    /* A request of then ends now. */
    address_set_failed(s, 1, 0);
    assert_true(address_set_found(s, one, 1, 0));
    assert_int_equal(address_set_pick(s, 0), 1);
    assert_int_equal(address_set_pick(s, 0), 0);
    address_set_free(s);
}

static void without_found_addresses_the_seeds_take_turns_again(void **state)
{
    static const char *const found[] = {"d"};
    struct address_set *s = address_set_new(urls, 2);

    (void)state;
    assert_true(address_set_found(s, found, 1, 0));
    assert_true(address_set_found(s, NULL, 0, 0));
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(address_set_pick(s, 0), i % 2);
    address_set_free(s);
}

static void only_the_first_failure_of_a_healthy_address_is_news(void **state)
{
    struct address_set *s = address_set_new(urls, 2);

    (void)state;
    for (int i = 0; i < 3; i++)
        address_set_failed(s, 0, 0);
    assert_int_equal(address_set_failures(s), 1);
    address_set_worked(s, 0);
    address_set_failed(s, 0, 0);
    assert_int_equal(address_set_failures(s), 2);
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
        cmocka_unit_test(found_addresses_take_turns_once_they_have_worked),
        cmocka_unit_test(seeds_help_out_while_no_found_address_can_be_used),
        cmocka_unit_test(an_address_that_vanished_is_not_used_and_is_tried_when_it_comes_back),
        cmocka_unit_test(without_found_addresses_the_seeds_take_turns_again),
        cmocka_unit_test(only_the_first_failure_of_a_healthy_address_is_news),
    };
    return cmocka_run_group_tests_name("address_set", tests, NULL, NULL);
}
