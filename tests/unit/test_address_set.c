#include "config.h"

#include "tests/unit/unit.h"

#include "src/net/address_set.h"

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

static void a_failed_address_has_no_request_until_it_has_answered_a_question(void **state)
{
    struct address_set *s = address_set_new(urls, 3);
    size_t asked;

    (void)state;
    address_set_failed(s, 1, 0, "");
    assert_int_equal(address_set_healthy(s), 2);
    assert_false(address_set_ask(s, 0, &asked));

    /* After the longest first wait it is asked, and once only. */
    assert_true(address_set_ask(s, 1000, &asked));
    assert_int_equal(asked, 1);
    assert_false(address_set_ask(s, 1000, &asked));
    for (int i = 0; i < 10; i++)
        assert_int_not_equal(address_set_pick(s, 1000), 1);
    address_set_answered(s, 1, 1000);
    assert_int_equal(address_set_healthy(s), 3);

    bool used = false;

    for (int i = 0; i < 3; i++)
        used |= address_set_pick(s, 1000) == 1;
    assert_true(used);
    address_set_free(s);
}

static void an_address_that_is_alone_is_found_out_about_by_requests(void **state)
{
    struct address_set *s = address_set_new(urls, 1);
    size_t asked;

    (void)state;
    address_set_failed(s, 0, 0, "");
    assert_false(address_set_ask(s, 1000, &asked));
    assert_int_equal(address_set_pick(s, 1000), 0);
    address_set_free(s);
}

static void what_is_told_of_an_address_says_since_when_and_why(void **state)
{
    struct address_set *s = address_set_new(urls, 2);
    struct address_view v;
    size_t i = 0;

    (void)state;
    address_set_failed(s, 0, 100, "refused");
    address_set_failed(s, 0, 200, "refused again");
    assert_true(address_set_next(s, &i, &v));
    assert_string_equal(v.name, "http://a:9200");
    assert_true(v.is_known && !v.is_up && v.is_seed && !v.is_found);
    assert_int_equal(v.since_ms, 100);
    assert_string_equal(v.why, "refused again");
    assert_true(address_set_next(s, &i, &v));
    assert_true(v.is_up && !v.is_known);
    assert_false(address_set_next(s, &i, &v));

    address_set_answered(s, 0, 300);
    address_set_worked(s, 0, 400);
    i = 0;
    assert_true(address_set_next(s, &i, &v));
    assert_true(v.is_known && v.is_up);
    assert_int_equal(v.since_ms, 300);
    assert_string_equal(v.why, "");
    address_set_free(s);
}

/* The longest first wait is a second. */
static void one_that_answers_questions_and_fails_requests_is_asked_ever_less_often(void **state)
{
    struct address_set *s = address_set_new(urls, 2);
    struct address_view v = {0};
    int64_t longest_ms = 0;

    (void)state;
    for (int k = 0; k < 40; k++) {
        size_t i = 0;

        address_set_failed(s, 0, 0, "");
        assert_true(address_set_next(s, &i, &v));
        longest_ms = v.due_ms > longest_ms ? v.due_ms : longest_ms;
        address_set_answered(s, 0, 0);
    }
    assert_true(longest_ms > 1000);
    address_set_worked(s, 0, 0);
    address_set_failed(s, 0, 0, "");
    assert_true(address_set_next(s, &(size_t){0}, &v));
    assert_true(v.due_ms <= 1000);
    address_set_free(s);
}

static void many_failures_at_once_count_as_one(void **state)
{
    struct address_set *s = address_set_new(urls, 2);

    (void)state;
    size_t asked;

    for (int i = 0; i < 100; i++)
        address_set_failed(s, 0, 0, "");
    assert_true(address_set_ask(s, 1000, &asked));
    address_set_free(s);
}

static void repeated_failures_are_waited_for_longer(void **state)
{
    struct address_set *s = address_set_new(urls, 1);
    int64_t now = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        address_set_failed(s, 0, now, "");
        now += 30000;
        assert_int_equal(address_set_pick(s, now), 0);
    }
    address_set_free(s);
}

static void when_all_are_away_the_first_that_is_due_is_used(void **state)
{
    struct address_set *s = address_set_new(urls, 3);

    (void)state;
    address_set_failed(s, 0, 100000, "");
    address_set_failed(s, 1, 0, "");
    address_set_failed(s, 2, 50000, "");
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
    size_t asked;

    (void)state;
    assert_true(address_set_found(s, found, 2, 0));
    assert_false(address_set_found(s, found, 2, 0));
    assert_int_equal(address_set_count(s), 4);
    for (int i = 0; i < 10; i++)
        assert_int_equal(address_set_pick(s, 0), 1);
    assert_true(address_set_ask(s, 0, &asked)); /* never used yet */
    assert_int_equal(asked, 3);
    assert_string_equal(address_set_url(s, 3), "http://d:9200");
    address_set_worked(s, 3, 0);
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
        size_t asked;

        assert_true(address_set_ask(s, 0, &asked));
        assert_int_equal(asked, i);
        address_set_failed(s, i, 0, "");
    }
    for (int i = 0; i < 10; i++)
        assert_true(address_set_pick(s, 0) < 3);
    address_set_worked(s, 4, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(address_set_pick(s, 0), 4);
    address_set_free(s);
}

static void an_address_that_vanished_is_not_used_and_is_tried_when_it_comes_back(void **state)
{
    static const char *const one[] = {"d"}, *const other[] = {"e"};
    struct address_set *s = address_set_new(urls, 1);
    size_t asked;

    (void)state;
    assert_true(address_set_found(s, one, 1, 0));
    assert_true(address_set_ask(s, 0, &asked));
    assert_int_equal(asked, 1);
    address_set_worked(s, 1, 0);
    assert_int_equal(address_set_pick(s, 0), 1);
    assert_true(address_set_found(s, other, 1, 0));
    assert_int_equal(address_set_count(s), 2);
    for (int i = 0; i < 10; i++)
        assert_int_not_equal(address_set_pick(s, 0), 1);
    /* A request of then ends now. */
    address_set_failed(s, 1, 0, "");
    assert_true(address_set_found(s, one, 1, 0));
    assert_true(address_set_ask(s, 0, &asked));
    assert_int_equal(asked, 1);
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
        address_set_failed(s, 0, 0, "");
    assert_int_equal(address_set_failures(s), 1);
    address_set_worked(s, 0, 0);
    address_set_failed(s, 0, 0, "");
    assert_int_equal(address_set_failures(s), 2);
    address_set_free(s);
}

static void an_address_is_no_other_than_itself(void **state)
{
    struct address_set *one = address_set_new(urls, 1), *two = address_set_new(urls, 2);

    (void)state;
    assert_true(address_set_has_other(one, ""));
    assert_false(address_set_has_other(one, "http://a:9200"));
    assert_true(address_set_has_other(two, "http://a:9200"));
    address_set_failed(two, 1, 0, "");
    assert_false(address_set_has_other(two, "http://a:9200"));
    assert_true(address_set_has_other(two, "http://b:9200"));
    address_set_free(one);
    address_set_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_addresses_take_turns),
        cmocka_unit_test(a_failed_address_has_no_request_until_it_has_answered_a_question),
        cmocka_unit_test(an_address_that_is_alone_is_found_out_about_by_requests),
        cmocka_unit_test(what_is_told_of_an_address_says_since_when_and_why),
        cmocka_unit_test(
            one_that_answers_questions_and_fails_requests_is_asked_ever_less_often),
        cmocka_unit_test(many_failures_at_once_count_as_one),
        cmocka_unit_test(repeated_failures_are_waited_for_longer),
        cmocka_unit_test(when_all_are_away_the_first_that_is_due_is_used),
        cmocka_unit_test(names_do_not_show_the_password),
        cmocka_unit_test(found_addresses_take_turns_once_they_have_worked),
        cmocka_unit_test(seeds_help_out_while_no_found_address_can_be_used),
        cmocka_unit_test(an_address_that_vanished_is_not_used_and_is_tried_when_it_comes_back),
        cmocka_unit_test(without_found_addresses_the_seeds_take_turns_again),
        cmocka_unit_test(only_the_first_failure_of_a_healthy_address_is_news),
        cmocka_unit_test(an_address_is_no_other_than_itself),
    };
    return cmocka_run_group_tests_name("address_set", tests, NULL, NULL);
}
