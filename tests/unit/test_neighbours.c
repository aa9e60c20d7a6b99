#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/index/neighbours.h"

#define AT 1000000 /* the first moment of each test */

static void ask(struct neighbours *n, int64_t now_ms, uint64_t total)
{
    assert_true(neighbours_is_due(n, now_ms));
    neighbours_ask(n, now_ms);
    assert_false(neighbours_is_due(n, now_ms + 3600000)); /* one at a time */
    neighbours_answer(n, total, now_ms);
}

/* Answers alike, a second apart, until AT. */
static struct neighbours quiet(void)
{
    struct neighbours n = {0};

    for (int64_t ms = AT - NEIGHBOURS_FIRST_MS; ms <= AT; ms += 1000)
        ask(&n, ms, 7);
    return n;
}

static void who_was_not_told_for_a_while_that_others_are_still_is_not_alone(void **state)
{
    struct neighbours n = {0};

    (void)state;
    assert_true(neighbours_are_there(&n, AT));
    for (int64_t ms = 0; ms < NEIGHBOURS_FIRST_MS; ms += 1000) {
        ask(&n, AT + ms, 7);
        assert_true(neighbours_are_there(&n, AT + ms));
    }
    ask(&n, AT + NEIGHBOURS_FIRST_MS, 7);
    assert_false(neighbours_are_there(&n, AT + NEIGHBOURS_FIRST_MS));
}

static void a_document_of_the_stream_is_somebody_for_a_while(void **state)
{
    struct neighbours n = quiet();

    (void)state;
    neighbours_note_stream(&n, AT + 1);
    assert_true(neighbours_are_there(&n, AT + 1));
    ask(&n, AT + 9000, 7);
    assert_true(neighbours_are_there(&n, AT + NEIGHBOURS_QUIET_MS));
    assert_false(neighbours_are_there(&n, AT + NEIGHBOURS_QUIET_MS + 1));
}

static void whatever_another_index_took_is_somebody_for_a_while(void **state)
{
    static const uint64_t totals[] = {8, 6, 0, UINT64_MAX}; /* an index may be deleted */

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(totals); i++) {
        struct neighbours n = quiet();

        ask(&n, AT + 1000, totals[i]);
        assert_true(neighbours_are_there(&n, AT + 1000));
        for (int64_t ms = 2000; ms < 1000 + NEIGHBOURS_QUIET_MS; ms += 1000) {
            ask(&n, AT + ms, totals[i]);
            assert_true(neighbours_are_there(&n, AT + ms));
        }
        ask(&n, AT + 1000 + NEIGHBOURS_QUIET_MS, totals[i]);
        assert_false(neighbours_are_there(&n, AT + 1000 + NEIGHBOURS_QUIET_MS));
    }
}

static void after_a_long_pause_the_engine_must_say_it_for_a_while_again(void **state)
{
    const int64_t later = AT + 100000;
    struct neighbours n = quiet();

    (void)state;
    assert_false(neighbours_are_there(&n, AT + 1000 + NEIGHBOURS_QUIET_MS - 1));
    assert_true(neighbours_are_there(&n, AT + 1000 + NEIGHBOURS_QUIET_MS));
    for (int64_t ms = 0; ms < NEIGHBOURS_FIRST_MS; ms += 1000) {
        ask(&n, later + ms, 7);
        assert_true(neighbours_are_there(&n, later + ms));
    }
    ask(&n, later + NEIGHBOURS_FIRST_MS, 7);
    assert_false(neighbours_are_there(&n, later + NEIGHBOURS_FIRST_MS));
}

static void what_others_took_in_a_long_pause_counts_as_taken_now(void **state)
{
    const int64_t later = AT + 100000;
    struct neighbours n = quiet();

    (void)state;
    for (int64_t ms = 0; ms < NEIGHBOURS_QUIET_MS; ms += 1000) {
        ask(&n, later + ms, 8);
        assert_true(neighbours_are_there(&n, later + ms));
    }
    ask(&n, later + NEIGHBOURS_QUIET_MS, 8);
    assert_false(neighbours_are_there(&n, later + NEIGHBOURS_QUIET_MS));
}

static void an_engine_that_does_not_say_is_left_in_peace(void **state)
{
    struct neighbours n = quiet();

    (void)state;
    neighbours_ask(&n, AT + 1000);
    neighbours_no_answer(&n, AT + 1100);
    assert_true(neighbours_are_there(&n, AT + 1100));
    assert_false(neighbours_is_due(&n, AT + 1099 + NEIGHBOURS_LATER_MS));
    assert_true(neighbours_is_due(&n, AT + 1100 + NEIGHBOURS_LATER_MS));
}

static void an_engine_that_answers_late_is_asked_seldom(void **state)
{
    struct neighbours n = quiet();

    (void)state;
    neighbours_ask(&n, AT + 1000);
    neighbours_answer(&n, 7, AT + 1200);
    assert_false(neighbours_is_due(&n, AT + 1200 + 9999));
    assert_true(neighbours_is_due(&n, AT + 1200 + 10000));
    assert_false(neighbours_are_there(&n, AT + 1200 + 10000)); /* and is believed until then */
}

static void an_engine_that_answers_very_late_does_not_say(void **state)
{
    struct neighbours n = quiet();

    (void)state;
    neighbours_ask(&n, AT + 1000);
    neighbours_answer(&n, 7, AT + 1000 + NEIGHBOURS_SLOW_MS + 1);
    assert_true(neighbours_are_there(&n, AT + 1000 + NEIGHBOURS_SLOW_MS + 1));
    assert_false(neighbours_is_due(&n, AT + 1000 + NEIGHBOURS_LATER_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_not_told_for_a_while_that_others_are_still_is_not_alone),
        cmocka_unit_test(a_document_of_the_stream_is_somebody_for_a_while),
        cmocka_unit_test(whatever_another_index_took_is_somebody_for_a_while),
        cmocka_unit_test(after_a_long_pause_the_engine_must_say_it_for_a_while_again),
        cmocka_unit_test(what_others_took_in_a_long_pause_counts_as_taken_now),
        cmocka_unit_test(an_engine_that_does_not_say_is_left_in_peace),
        cmocka_unit_test(an_engine_that_answers_late_is_asked_seldom),
        cmocka_unit_test(an_engine_that_answers_very_late_does_not_say),
    };

    return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
