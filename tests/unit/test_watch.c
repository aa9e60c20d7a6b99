#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/watch/watch.h"

#include <string.h>

#define NOW 5000000LL

static const struct err none;

static void who_was_never_asked_is_asked_at_once_and_is_not_away(void **state)
{
    const struct watch w = {.who = "the store"};

    (void)state;
    assert_int_equal(watch_due_in_ms(&w, NOW), 0);
    assert_false(watch_heard(&w, NOW).is_away);
    assert_int_equal(watch_heard(&w, NOW).at_ms, 0);
}

static void who_is_looked_at_is_asked_each_second_and_else_now_and_then(void **state)
{
    struct watch w = {.who = "the store"};

    (void)state;
    watch_begin(&w, NOW);
    watch_end(&w, NOW + 10);
    assert_int_equal(watch_due_in_ms(&w, NOW + 20000), 10010);
    assert_int_equal(watch_due_in_ms(&w, NOW + 30010), 0);
    w.is_wanted = true;
    assert_int_equal(watch_due_in_ms(&w, NOW + 1009), 1);
    assert_int_equal(watch_due_in_ms(&w, NOW + 1010), 0);
    watch_begin(&w, NOW + 1010);
    assert_false(w.is_wanted);
}

static void who_takes_long_to_answer_is_asked_a_fifth_of_the_time_at_most(void **state)
{
    struct watch w = {.who = "the store"};

    (void)state;
    watch_begin(&w, NOW);
    watch_end(&w, NOW + 2000);
    w.is_wanted = true;
    assert_int_equal(watch_due_in_ms(&w, NOW + 9999), 1);
    assert_int_equal(watch_due_in_ms(&w, NOW + 10000), 0);
}

static void who_is_away_is_asked_again_soon_however_long_the_question_took(void **state)
{
    struct watch w = {.who = "the store"};

    (void)state;
    watch_begin(&w, NOW);
    watch_answer(&w, 77, &(struct err){.kind = ERR_RETRY});
    watch_end(&w, NOW + 30000);
    assert_int_equal(watch_due_in_ms(&w, NOW + 30000), 30000);
    w.is_wanted = true;
    assert_int_equal(watch_due_in_ms(&w, NOW + 30000), 5000);
}

static void who_does_not_answer_is_away_and_what_he_said_last_has_its_time(void **state)
{
    struct watch w = {.who = "the store"};

    (void)state;
    watch_ask(&w, NOW);
    watch_answer(&w, 77, &none);
    watch_ask(&w, NOW + 1000);
    assert_false(watch_heard(&w, NOW + 3000).is_away);
    assert_false(watch_heard(&w, NOW + 3000).is_silent);
    assert_true(watch_heard(&w, NOW + 3001).is_silent);
    assert_true(watch_heard(&w, NOW + 3001 + 4000).is_away);
    assert_string_equal(watch_heard(&w, NOW + 7001).why.msg,
                        "the store has not answered for 6 s");
    assert_int_equal(watch_heard(&w, NOW + 7001).at_ms, 77);
    watch_answer(&w, 99, &none);
    assert_false(watch_heard(&w, NOW + 7001).is_away);
    assert_int_equal(watch_heard(&w, NOW + 7001).at_ms, 99);
}

static void a_question_that_failed_says_why_until_the_next_one_is_answered(void **state)
{
    struct watch w = {.who = "the store"};
    struct err why = {0};

    (void)state;
    watch_answer(&w, 77, &none);
    err_set(&why, ERR_RETRY, "refused");
    watch_answer(&w, 99, &why);
    assert_true(watch_heard(&w, NOW).is_away);
    assert_false(watch_heard(&w, NOW).is_silent); /* he may be asked what nobody keeps */
    assert_string_equal(watch_heard(&w, NOW).why.msg, "refused");
    assert_int_equal(watch_heard(&w, NOW).at_ms, 77);
    watch_ask(&w, NOW);
    assert_true(watch_heard(&w, NOW + 1).is_away);
    watch_answer(&w, 100, &none);
    assert_false(watch_heard(&w, NOW).is_away);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_never_asked_is_asked_at_once_and_is_not_away),
        cmocka_unit_test(who_is_looked_at_is_asked_each_second_and_else_now_and_then),
        cmocka_unit_test(who_takes_long_to_answer_is_asked_a_fifth_of_the_time_at_most),
        cmocka_unit_test(who_is_away_is_asked_again_soon_however_long_the_question_took),
        cmocka_unit_test(who_does_not_answer_is_away_and_what_he_said_last_has_its_time),
        cmocka_unit_test(a_question_that_failed_says_why_until_the_next_one_is_answered),
    };

    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
