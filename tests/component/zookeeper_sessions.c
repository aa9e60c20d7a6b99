#include "config.h"

#include "tests/component/zookeeper_rig.h"

#include "src/base/clock.h"

#include <stdio.h>

static const struct seat_options plainly = {0};

static void a_cut_connection_suspends_and_the_same_session_comes_back(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a, b;
    const int64_t begun_ms = clock_mono_ms();

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    take_seat(&b, &plainly);
    join(&a, NODE(1), "");

    const struct coordination_state before = state_of(&a);
    const int64_t cut_ms = clock_mono_ms();

    proxy_set(p, PROXY_CUT);
    wait_for_event(&a, COORDINATION_STATE, "");

    const struct coordination_state away = state_of(&a);

    assert_int_equal(away.status, COORDINATION_SUSPENDED);
    assert_true(away.since_ms >= before.since_ms && away.since_ms <= clock_mono_ms());
    assert_true(away.dead_ms >= begun_ms + TIMEOUT_MS);
    assert_true(away.dead_ms <= cut_ms + TIMEOUT_MS);
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_true(state_of(&a).session == before.session);
    assert_int_equal(count_nodes(&b), 1);
    leave_seat(&a);
    leave_seat(&b);
    proxy_stop(p);
}

static void what_changes_before_it_is_taken_is_one_event(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});

    const unsigned before = a.n_events[COORDINATION_STATE];

    proxy_set(p, PROXY_CUT);
    wait_untaken(&a, COORDINATION_SUSPENDED);
    proxy_set(p, PROXY_PASS);
    wait_untaken(&a, COORDINATION_CONNECTED);
    take_all_events(&a);
    assert_int_equal(a.n_events[COORDINATION_STATE], before + 1);
    leave_seat(&a);
    proxy_stop(p);
}

static void while_suspended_calls_fail_at_once_and_are_to_be_tried_again(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};
    const struct str *ids;
    size_t n;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    proxy_set(p, PROXY_CUT);
    wait_for_status(&a, COORDINATION_SUSPENDED);
    assert_false(coordination_list(a.c, &ids, &n, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_false(coordination_join(a.c, STR(NODE(1)), STR(""), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_false(coordination_lock(a.c, STR("plan"), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    leave_seat(&a);
    proxy_stop(p);
}

static void what_changed_while_we_were_away_is_told_when_we_are_back(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a, b, c;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    take_seat(&b, &plainly);
    take_seat(&c, &plainly);
    join(&b, NODE(1), "old");
    join(&c, NODE(2), "");
    assert_int_equal(count_nodes(&a), 2);
    find_node(&a, NODE(1));
    proxy_set(p, PROXY_CUT);
    wait_for_status(&a, COORDINATION_SUSPENDED);
    plain_set("/nodes/" NODE(1), "new");
    leave_seat(&c);
    take_seat(&c, &plainly);
    join(&c, NODE(2), "back");
    proxy_set(p, PROXY_PASS);
    wait_for_event(&a, COORDINATION_NODE, NODE(1));
    settle_seat(&a);
    assert_true(str_equal(find_node(&a, NODE(1)).data, STR("new")));
    assert_true(str_equal(find_node(&a, NODE(2)).data, STR("back")));
    assert_true(find_node(&a, NODE(2)).session == state_of(&c).session);
    leave_seat(&a);
    leave_seat(&b);
    leave_seat(&c);
    proxy_stop(p);
}

/* The client gives up after two thirds of the time, and the servers after all of it. */
static void a_server_that_is_silent_suspends_before_it_can_end_the_session(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p), .timeout_ms = 1500});
    join(&a, NODE(1), "");
    assert_int_equal(state_of(&a).timeout_ms, 1500);

    const int64_t frozen_ms = clock_mono_ms();

    proxy_set(p, PROXY_FREEZE);
    wait_for_event(&a, COORDINATION_STATE, "");
    assert_int_equal(status_of(&a), COORDINATION_SUSPENDED);
    assert_true(state_of(&a).since_ms >= frozen_ms);
    assert_true(state_of(&a).dead_ms >= frozen_ms + 1000);
    proxy_set(p, PROXY_CUT);
    leave_seat(&a);
    proxy_stop(p);
}

static void a_call_to_a_silent_server_ends(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p), .timeout_ms = 1500});
    proxy_set(p, PROXY_FREEZE);
    assert_false(coordination_join(a.c, STR(NODE(1)), STR(""), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_int_equal(status_of(&a), COORDINATION_SUSPENDED);
    proxy_set(p, PROXY_CUT);
    leave_seat(&a);
    proxy_stop(p);
}

/* The seat is away meanwhile, or it would take its session back before that is ended. */
static void lose_session_untold(struct proxy *p, struct seat *s)
{
    char password[16];
    const int64_t session = proxy_session(p, password);

    proxy_set(p, PROXY_CUT);
    wait_for_status(s, COORDINATION_SUSPENDED);
    end_session(session, password);
    proxy_set(p, PROXY_PASS);
    wait_untaken(s, COORDINATION_LOST);
}

static void lose_session(struct proxy *p, struct seat *s)
{
    lose_session_untold(p, s);
    wait_for_status(s, COORDINATION_LOST);
}

static void a_session_that_ends_takes_node_and_locks_and_the_next_one_is_new(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a, b;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    take_seat(&b, &plainly);
    join(&a, NODE(1), "");
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");

    const uint64_t session = state_of(&a).session;

    lose_session(p, &a);
    assert_false(holds(&a, "plan"));
    wait_for_event(&a, COORDINATION_TAKEN, "plan");
    wait_for_event(&a, COORDINATION_STATE, "");
    assert_int_equal(status_of(&a), COORDINATION_LOST);
    assert_int_equal(count_nodes(&b), 0);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_true(state_of(&a).session != session);
    assert_int_equal(count_nodes(&a), 0);
    join(&a, NODE(1), "");
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    leave_seat(&a);
    leave_seat(&b);
    proxy_stop(p);
}

static void the_end_of_a_session_is_told_before_the_next_one_begins(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct coordination_event e;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    lose_session(p, &a);
    assert_true(coordination_next(a.c, &e));
    assert_int_equal(e.change, COORDINATION_STATE);
    assert_int_equal(status_of(&a), COORDINATION_LOST);
    while (coordination_next(a.c, &e))
        assert_int_equal(e.change, COORDINATION_STATE);
    assert_int_not_equal(status_of(&a), COORDINATION_LOST);
    leave_seat(&a);
    proxy_stop(p);
}

static void the_end_of_a_session_is_told_before_its_client_is_closed(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct coordination_event e;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    proxy_set(p, PROXY_CUT);
    wait_for_status(&a, COORDINATION_SUSPENDED);
    hold_wakes(&a, true);
    lose_session_untold(p, &a);

    const int64_t lost_ms = clock_mono_ms();

    assert_true(coordination_next(a.c, &e));
    assert_int_equal(e.change, COORDINATION_STATE);
    assert_int_equal(status_of(&a), COORDINATION_LOST);
    assert_true(clock_mono_ms() < lost_ms + LIMIT_MS / 4);
    hold_wakes(&a, false);
    wait_for_status(&a, COORDINATION_CONNECTED);
    leave_seat(&a);
    proxy_stop(p);
}

static void the_first_of_several_servers_may_be_dead(void **state)
{
    struct proxy *dead = proxy_start(server_port());
    struct seat a;
    char servers[64];

    (void)state;
    proxy_set(dead, PROXY_CUT);
    snprintf(servers, sizeof(servers), "127.0.0.1:1,127.0.0.1:%u,127.0.0.1:%u",
             proxy_port(dead), server_port());
    for (int i = 0; i < 3; i++) { /* the client chooses the first by chance */
        take_seat(&a, &(struct seat_options){.servers = servers});
        leave_seat(&a);
    }
    proxy_stop(dead);
}

static void without_a_server_it_goes_on_connecting_and_says_why(void **state)
{
    struct seat a;
    struct coordination_event e;
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;

    (void)state;
    open_seat(&a, &(struct seat_options){.servers = "127.0.0.1:1"});
    while (strstr(state_of(&a).why.msg, "refused") == NULL && clock_mono_ms() < until_ms)
        coordination_next(a.c, &e);
    assert_int_equal(status_of(&a), COORDINATION_CONNECTING);
    assert_non_null(strstr(state_of(&a).why.msg, "127.0.0.1:1"));
    leave_seat(&a);
}

/* Neither the session nor a write would survive it. */
static void a_server_that_only_reads_is_none(void **state)
{
    struct seat a;
    struct coordination_event e;
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    const char *alone = getenv("ZOOKEEPER_TEST_ALONE_PORT");
    char servers[64];

    (void)state;
    snprintf(servers, sizeof(servers), "127.0.0.1:%s", alone);
    open_seat(&a, &(struct seat_options){.servers = servers});
    while (strstr(state_of(&a).why.msg, servers) == NULL && clock_mono_ms() < until_ms)
        coordination_next(a.c, &e);
    assert_non_null(strstr(state_of(&a).why.msg, servers));
    assert_int_equal(status_of(&a), COORDINATION_CONNECTING);
    leave_seat(&a);
    snprintf(servers, sizeof(servers), "127.0.0.1:%s,127.0.0.1:%u", alone, server_port());
    take_seat(&a, &(struct seat_options){.servers = servers});
    leave_seat(&a);
}

static void a_server_whose_name_is_unknown_is_said(void **state)
{
    struct seat a;

    (void)state;
    open_seat(&a, &(struct seat_options){.servers = "no-such-host.invalid:2181"});
    assert_int_equal(status_of(&a), COORDINATION_CONNECTING);
    assert_true(state_of(&a).why.msg[0] != '\0');
    leave_seat(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(a_cut_connection_suspends_and_the_same_session_comes_back, new_root),
    cmocka_unit_test_setup(what_changes_before_it_is_taken_is_one_event, new_root),
    cmocka_unit_test_setup(while_suspended_calls_fail_at_once_and_are_to_be_tried_again,
                           new_root),
    cmocka_unit_test_setup(what_changed_while_we_were_away_is_told_when_we_are_back, new_root),
    cmocka_unit_test_setup(a_server_that_is_silent_suspends_before_it_can_end_the_session,
                           new_root),
    cmocka_unit_test_setup(a_call_to_a_silent_server_ends, new_root),
    cmocka_unit_test_setup(a_session_that_ends_takes_node_and_locks_and_the_next_one_is_new,
                           new_root),
    cmocka_unit_test_setup(the_end_of_a_session_is_told_before_the_next_one_begins, new_root),
    cmocka_unit_test_setup(the_end_of_a_session_is_told_before_its_client_is_closed, new_root),
    cmocka_unit_test_setup(the_first_of_several_servers_may_be_dead, new_root),
    cmocka_unit_test_setup(without_a_server_it_goes_on_connecting_and_says_why, new_root),
    cmocka_unit_test_setup(a_server_that_only_reads_is_none, new_root),
    cmocka_unit_test_setup(a_server_whose_name_is_unknown_is_said, new_root),
};

const struct test_part session_part = {tests, ARRAY_LEN(tests)};
