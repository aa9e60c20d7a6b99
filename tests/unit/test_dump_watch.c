#include "config.h"

#include "tests/unit/unit.h"

#include "sync/checkpoint/dump_watch.h"
#include "sync/server/server_info.h"

#define REST_MS 300000

static const struct log_backlog none = {.found = true}, more = {.found = true, .bytes = 100},
                                gone = {0};

/* A dump that waits at 7, with all of the log read, as of now_ms. */
static struct dump_watch at_rest(int64_t now_ms)
{
    struct dump_watch w = {0};

    assert_null(dump_watch_look(&w, &none, 7, true, now_ms));
    assert_false(w.is_doubted);
    return w;
}

static void an_event_that_is_on_its_way_after_a_long_rest_is_waited_for(void **state)
{
    struct dump_watch w = at_rest(1000);

    (void)state;
    assert_null(dump_watch_look(&w, &more, 7, true, 1000 + REST_MS));
    assert_true(w.is_doubted);
    assert_null(dump_watch_look(&w, &none, 8, true, 2000 + REST_MS));
    assert_false(w.is_doubted);
}

static void a_dump_that_stays_behind_is_stuck_after_fifteen_seconds(void **state)
{
    struct dump_watch w = at_rest(1000);

    (void)state;
    assert_null(dump_watch_look(&w, &more, 7, true, 2000));
    assert_null(dump_watch_look(&w, &more, 7, true, 17000));
    assert_non_null(dump_watch_look(&w, &more, 7, true, 17001));
    assert_null(
        dump_watch_look(&w, &more, 7, true, 18000)); /* the next one has its time, too */
}

static void a_position_that_the_log_does_not_hold_is_reported_after_three_seconds(void **state)
{
    struct dump_watch w = at_rest(1000);

    (void)state;
    assert_null(dump_watch_look(&w, &gone, 7, true, 1000 + REST_MS));
    assert_true(w.is_doubted);
    assert_null(dump_watch_look(&w, &gone, 7, true, 4000 + REST_MS));
    assert_non_null(dump_watch_look(&w, &gone, 7, true, 4001 + REST_MS));
}

static void a_dump_that_moves_or_is_worked_off_is_not_stuck(void **state)
{
    struct dump_watch w = at_rest(1000);

    (void)state;
    for (unsigned i = 1; i < 60; i++)
        assert_null(dump_watch_look(&w, &more, 7 + i, true, 1000 + 1000 * (int64_t)i));
    for (unsigned i = 60; i < 120; i++)
        assert_null(dump_watch_look(&w, &more, 66, false, 1000 + 1000 * (int64_t)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_that_is_on_its_way_after_a_long_rest_is_waited_for),
        cmocka_unit_test(a_dump_that_stays_behind_is_stuck_after_fifteen_seconds),
        cmocka_unit_test(a_position_that_the_log_does_not_hold_is_reported_after_three_seconds),
        cmocka_unit_test(a_dump_that_moves_or_is_worked_off_is_not_stuck),
    };

    return cmocka_run_group_tests_name("dump_watch", tests, NULL, NULL);
}
