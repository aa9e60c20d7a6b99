#include "config.h"

#include "tests/unit/unit.h"

#include "sync/checkpoint/lag.h"

#define NOW 1000000000LL

static double seconds(const struct lag_facts *f)
{
    return lag_seconds(lag_of(f), f->now_ms);
}

static void a_transaction_that_is_not_done_is_the_lag_whatever_the_server_says(void **state)
{
    struct lag_facts f = {.now_ms = NOW, .undone_ms = NOW - 7000, .done_ms = NOW - 90000};

    (void)state;
    assert_int_equal((int)seconds(&f), 7);
    assert_false(lag_of(&f).at_most);
    f.asked_ms = NOW - 100;
    assert_int_equal((int)seconds(&f), 7);
    f.asked_ms = NOW - 900000;
    assert_int_equal((int)seconds(&f), 7);
    assert_false(lag_of(&f).at_most);
}

static void
a_server_that_has_nothing_more_has_no_lag_however_old_its_last_change_is(void **state)
{
    const struct lag_facts f = {.now_ms = NOW, .done_ms = NOW - 3600000, .asked_ms = NOW - 900};

    (void)state;
    assert_true(lag_of(&f).since_ms == LAG_NONE);
    assert_true(seconds(&f) == 0);
}

static void what_was_not_read_is_younger_than_all_that_is_done(void **state)
{
    const struct lag_facts f = {
        .now_ms = NOW, .done_ms = NOW - 30000, .asked_ms = NOW - 900, .bytes = 5};

    (void)state;
    assert_int_equal((int)seconds(&f), 30);
    assert_false(lag_of(&f).at_most);
}

static void a_server_that_cannot_be_asked_has_a_lag_that_grows_and_is_a_bound(void **state)
{
    struct lag_facts f = {.now_ms = NOW, .done_ms = NOW - 60000, .asked_ms = NOW - 60000};

    (void)state;
    assert_int_equal((int)seconds(&f), 60);
    assert_true(lag_of(&f).at_most);
    f.now_ms += 60000;
    assert_int_equal((int)seconds(&f), 120);
}

static void a_dump_that_waits_is_believed_until_it_breaks_or_the_server_is_silent(void **state)
{
    struct lag_facts f = {
        .now_ms = NOW, .done_ms = NOW - 60000, .asked_ms = NOW - 60000, .waits = true};

    (void)state;
    assert_true(lag_of(&f).since_ms == LAG_NONE);
    assert_true(lag_is_fresh(&f));
    f.asking_ms = NOW - 1000;
    assert_true(lag_of(&f).since_ms == LAG_NONE);
    f.asking_ms = NOW - 3000;
    assert_int_equal((int)seconds(&f), 60);
    assert_true(lag_of(&f).at_most);
    f.asking_ms = 0;
    f.waits = false;
    assert_int_equal((int)seconds(&f), 60);
    assert_true(lag_of(&f).at_most);
    f.waits = true;
    f.asked_ms = NOW - LAG_REST_MS - 3000;
    assert_true(lag_of(&f).at_most);
    f.asked_ms = 0;
    assert_false(lag_is_fresh(&f));
}

static void nothing_is_known_of_a_log_that_was_never_seen(void **state)
{
    const struct lag_facts never = {.now_ms = NOW};
    const struct lag_facts behind = {.now_ms = NOW, .asked_ms = NOW - 100, .bytes = 9};

    (void)state;
    assert_true(lag_of(&never).since_ms == LAG_UNKNOWN);
    assert_true(seconds(&never) < 0);
    assert_true(seconds(&behind) < 0);
}

static void a_clock_that_runs_ahead_makes_no_lag_below_nothing(void **state)
{
    const struct lag_facts f = {.now_ms = NOW, .undone_ms = NOW + 5000};

    (void)state;
    assert_true(seconds(&f) == 0);
}

static void of_two_the_older_change_counts_and_what_is_known_before_what_is_not(void **state)
{
    const struct lag none = {.since_ms = LAG_NONE}, unknown = {.since_ms = LAG_UNKNOWN};
    const struct lag old = {.since_ms = NOW - 9000},
                     young = {.since_ms = NOW - 10, .at_most = true};

    (void)state;
    assert_true(lag_worse(old, young).since_ms == old.since_ms);
    assert_true(lag_worse(young, old).since_ms == old.since_ms);
    assert_true(lag_worse(none, young).at_most);
    assert_true(lag_worse(young, none).since_ms == young.since_ms);
    assert_true(lag_worse(unknown, none).since_ms == LAG_UNKNOWN);
    assert_true(lag_worse(none, unknown).since_ms == LAG_UNKNOWN);
    assert_true(lag_worse(unknown, old).since_ms == old.since_ms);
    assert_true(lag_worse(old, unknown).since_ms == old.since_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transaction_that_is_not_done_is_the_lag_whatever_the_server_says),
        cmocka_unit_test(
            a_server_that_has_nothing_more_has_no_lag_however_old_its_last_change_is),
        cmocka_unit_test(what_was_not_read_is_younger_than_all_that_is_done),
        cmocka_unit_test(a_server_that_cannot_be_asked_has_a_lag_that_grows_and_is_a_bound),
        cmocka_unit_test(a_dump_that_waits_is_believed_until_it_breaks_or_the_server_is_silent),
        cmocka_unit_test(nothing_is_known_of_a_log_that_was_never_seen),
        cmocka_unit_test(a_clock_that_runs_ahead_makes_no_lag_below_nothing),
        cmocka_unit_test(of_two_the_older_change_counts_and_what_is_known_before_what_is_not),
    };

    return cmocka_run_group_tests_name("lag", tests, NULL, NULL);
}
