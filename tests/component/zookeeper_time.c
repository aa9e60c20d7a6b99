#include "config.h"

#include "tests/component/zookeeper_rig.h"
#include "tests/component/zookeeper_system.h"

#include "src/base/clock.h"

/* The client's patience ends sooner than the session's time, so its clock stands still. */
static void an_answer_may_come_after_its_caller_has_given_up(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p), .timeout_ms = 1500});
    stop_client_clock(true);
    proxy_set(p, PROXY_HOLD);

    const int64_t asked_ms = clock_mono_ms();

    assert_false(coordination_join(a.c, STR(NODE(1)), STR("x"), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_true(clock_mono_ms() >= asked_ms + 1500);
    assert_true(clock_mono_ms() < asked_ms + LIMIT_MS / 2);
    assert_int_equal(status_of(&a), COORDINATION_SUSPENDED);
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_int_equal(plain_count("/nodes"), 1);
    join(&a, NODE(1), "x");
    leave_seat(&a);
    stop_client_clock(false);
    proxy_stop(p);
}

/* The client forgets it without a word. */
static void an_answer_may_never_come(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p), .timeout_ms = 1500});
    stop_client_clock(true);
    proxy_set(p, PROXY_HOLD);
    assert_false(coordination_join(a.c, STR(NODE(1)), STR("x"), &err));
    leave_seat(&a);
    stop_client_clock(false);
    proxy_stop(p);
}

static void the_end_of_the_session_moves_on_while_it_is_heard(void **state)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){.timeout_ms = 1500});

    const int64_t before_ms = state_of(&a).dead_ms;

    while (state_of(&a).dead_ms == before_ms && clock_mono_ms() < until_ms)
        take_all_events(&a);
    assert_true(state_of(&a).dead_ms > before_ms);
    assert_true(state_of(&a).dead_ms <= clock_mono_ms() + 1500);
    assert_int_equal(a.n_events[COORDINATION_STATE], 1);
    leave_seat(&a);
}

/* The machine slept, and nobody knows yet whether the session has survived. */
static void after_a_sleep_nothing_is_held_until_the_server_answers(void **state)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){0});
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    let_machine_sleep(TIMEOUT_MS);
    assert_false(holds(&a, "plan"));
    assert_false(coordination_join(a.c, STR(NODE(1)), STR(""), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    while (!holds(&a, "plan") && clock_mono_ms() < until_ms)
        take_all_events(&a);
    assert_true(holds(&a, "plan"));
    join(&a, NODE(1), "");
    leave_seat(&a);
}

/* The client would wait for longer, as its clock stood still. */
static void after_a_sleep_without_an_answer_the_session_is_suspended(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    stop_client_clock(true);
    proxy_set(p, PROXY_HOLD);
    let_machine_sleep(TIMEOUT_MS);
    wait_for_status(&a, COORDINATION_SUSPENDED);
    assert_true(state_of(&a).dead_ms <= clock_mono_ms());
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_true(state_of(&a).dead_ms > clock_mono_ms());
    leave_seat(&a);
    stop_client_clock(false);
    proxy_stop(p);
}

/* Of the connection that has just begun, or begins. */
static void wait_for_sync(struct proxy *p, struct seat *s, unsigned seen)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;

    while (proxy_syncs(p) == seen && clock_mono_ms() < until_ms)
        take_all_events(s);
    assert_true(proxy_syncs(p) > seen);
}

static void nothing_is_read_before_the_server_has_caught_up(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};
    const struct str *ids;
    size_t n;

    (void)state;
    proxy_set(p, PROXY_HOLD);
    open_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    wait_for_sync(p, &a, 0);
    take_all_events(&a);
    assert_int_equal(status_of(&a), COORDINATION_CONNECTING);
    assert_int_equal(proxy_requests(p), 0);
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    proxy_set(p, PROXY_CUT);
    wait_for_status(&a, COORDINATION_SUSPENDED);

    const unsigned syncs = proxy_syncs(p);

    proxy_set(p, PROXY_HOLD);
    wait_for_sync(p, &a, syncs);
    assert_int_equal(status_of(&a), COORDINATION_SUSPENDED);
    assert_false(coordination_list(a.c, &ids, &n, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_int_equal(count_nodes(&a), 0);
    leave_seat(&a);
    proxy_stop(p);
}

/* The thread that would look them up hears nothing meanwhile. */
static void names_are_not_looked_up_while_we_are_connected(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){.timeout_ms = 60000});

    const unsigned lookups = count_lookups();

    let_client_age(10000);
    settle_seat(&a);
    settle_seat(&a);
    assert_int_equal(count_lookups(), lookups);
    leave_seat(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(an_answer_may_come_after_its_caller_has_given_up, new_root),
    cmocka_unit_test_setup(an_answer_may_never_come, new_root),
    cmocka_unit_test_setup(the_end_of_the_session_moves_on_while_it_is_heard, new_root),
    cmocka_unit_test_setup(after_a_sleep_nothing_is_held_until_the_server_answers, new_root),
    cmocka_unit_test_setup(after_a_sleep_without_an_answer_the_session_is_suspended, new_root),
    cmocka_unit_test_setup(nothing_is_read_before_the_server_has_caught_up, new_root),
    cmocka_unit_test_setup(names_are_not_looked_up_while_we_are_connected, new_root),
};

const struct test_part time_part = {tests, ARRAY_LEN(tests)};
