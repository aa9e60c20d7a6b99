#include "config.h"

#include "tests/component/zookeeper_rig.h"

#include <inttypes.h>
#include <stdio.h>

static const struct seat_options plainly = {0};

static enum written write_node(struct seat *s, const char *id, const char *data,
                               int32_t version, struct err *err)
{
    return coordination_write(s->c,
                              &(struct coordination_write){.what = COORDINATION_NODE,
                                                           .name = str_from(id),
                                                           .data = str_from(data),
                                                           .version = version},
                              err);
}

static void a_node_that_joins_is_listed_with_data_version_and_session(void **state)
{
    struct seat a, b;
    struct coordination_state of_a;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    assert_int_equal(count_nodes(&b), 0);
    join(&a, NODE(1), "{\"id\":1}");
    wait_for_event(&b, COORDINATION_NODES, "");

    const struct coordination_node n = find_node(&b, NODE(1));

    coordination_state(a.c, &of_a);
    assert_true(str_equal(n.data, STR("{\"id\":1}")));
    assert_int_equal(n.version, 0);
    assert_true(n.session == of_a.session && n.session != 0);
    leave_seat(&a);
    leave_seat(&b);
}

static void closing_takes_the_node_away_at_once_with_one_event(void **state)
{
    struct seat a, b;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    join(&a, NODE(1), "");
    assert_int_equal(count_nodes(&b), 1);
    leave_seat(&a);
    wait_for_event(&b, COORDINATION_NODES, "");
    assert_int_equal(count_nodes(&b), 0);
    settle_seat(&b);
    assert_int_equal(b.n_events[COORDINATION_NODE], 0);
    leave_seat(&b);
}

static void a_write_of_an_older_version_differs_and_one_to_nothing_is_gone(void **state)
{
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &plainly);
    join(&a, NODE(1), "old");
    assert_int_equal(write_node(&a, NODE(1), "new", 0, &err), WRITTEN_DONE);
    assert_int_equal(write_node(&a, NODE(1), "late", 0, &err), WRITTEN_DIFFERS);
    assert_int_equal(write_node(&a, NODE(2), "lost", 0, &err), WRITTEN_GONE);
    assert_true(str_equal(find_node(&a, NODE(1)).data, STR("new")));
    assert_int_equal(find_node(&a, NODE(1)).version, 1);
    leave_seat(&a);
}

/* The others' reads are counted at a proxy. */
static void a_change_of_one_node_is_one_wake_one_event_and_one_read(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a, b;
    struct err err = {0};
    char id[40];

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &(struct seat_options){.port = proxy_port(p)});
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof(id), "00000000-0000-4000-8000-%012d", i);
        join(&a, id, "x");
    }
    assert_int_equal(count_nodes(&b), 20);
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof(id), "00000000-0000-4000-8000-%012d", i);
        find_node(&b, id);
    }
    settle_seat(&b);

    const unsigned wakes = wakes_of(&b), requests = proxy_requests(p);

    assert_int_equal(write_node(&a, NODE(7), "y", 0, &err), WRITTEN_DONE);
    wait_for_event(&b, COORDINATION_NODE, NODE(7));
    assert_true(str_equal(find_node(&b, NODE(7)).data, STR("y")));
    assert_int_equal(wakes_of(&b), wakes + 1);
    assert_int_equal(proxy_requests(p), requests + 1);
    assert_int_equal(b.n_events[COORDINATION_NODE], 1);
    assert_int_equal(b.n_events[COORDINATION_NODES], 0);
    leave_seat(&a);
    leave_seat(&b);
    proxy_stop(p);
}

static void a_list_is_one_read_however_many_nodes_there_are(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a, b;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &(struct seat_options){.port = proxy_port(p)});
    join(&a, NODE(1), "x");
    join(&a, NODE(2), "x");
    assert_int_equal(count_nodes(&b), 2);

    const unsigned requests = proxy_requests(p);

    join(&a, NODE(3), "x");
    wait_for_event(&b, COORDINATION_NODES, "");
    assert_int_equal(count_nodes(&b), 3);
    assert_int_equal(proxy_requests(p), requests + 1);
    leave_seat(&a);
    leave_seat(&b);
    proxy_stop(p);
}

static void who_reads_a_node_is_told_that_it_went(void **state)
{
    struct coordination_node n;
    struct err err = {0};
    struct seat a, b;
    bool found = true;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    join(&a, NODE(1), "x");
    find_node(&b, NODE(1));
    leave_seat(&a);
    wait_for_event(&b, COORDINATION_NODE, NODE(1));
    assert_true(coordination_read_node(b.c, STR(NODE(1)), &n, &found, &err));
    assert_false(found);
    leave_seat(&b);
}

static void who_comes_back_under_its_id_is_read_anew(void **state)
{
    struct seat a, again, b;
    struct coordination_state now;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    join(&a, NODE(1), "first");
    assert_int_equal(count_nodes(&b), 1);
    leave_seat(&a);
    take_seat(&again, &plainly);
    join(&again, NODE(1), "second");
    settle_seat(&b);
    coordination_state(again.c, &now);
    assert_true(str_equal(find_node(&b, NODE(1)).data, STR("second")));
    assert_true(find_node(&b, NODE(1)).session == now.session);
    leave_seat(&again);
    leave_seat(&b);
}

static void an_id_of_a_living_session_is_to_be_tried_again_and_names_it(void **state)
{
    struct seat a, b;
    struct err err = {0};
    struct coordination_state of_a;
    char session[32];

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    join(&a, NODE(1), "");
    assert_false(coordination_join(b.c, STR(NODE(1)), STR(""), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    coordination_state(a.c, &of_a);
    snprintf(session, sizeof(session), "0x%" PRIx64, of_a.session);
    assert_non_null(strstr(err.msg, session));
    assert_non_null(strstr(err.msg, "our last run"));
    assert_non_null(strstr(err.msg, "delete the file node"));
    leave_seat(&a);
    join(&b, NODE(1), "");
    leave_seat(&b);
}

static void joining_again_in_the_same_session_replaces_the_data(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &plainly);
    join(&a, NODE(1), "old");
    join(&a, NODE(1), "new");
    assert_true(str_equal(find_node(&a, NODE(1)).data, STR("new")));
    leave_seat(&a);
}

static void a_join_whose_answer_was_lost_is_found_again(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    proxy_lose_answer(p);
    assert_false(coordination_join(a.c, STR(NODE(1)), STR("x"), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_int_not_equal(status_of(&a), COORDINATION_CONNECTED);
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_int_equal(plain_count("/nodes"), 1);
    join(&a, NODE(1), "x");
    leave_seat(&a);
    proxy_stop(p);
}

static bool is_there(struct seat *s, const char *id)
{
    struct coordination_node n;
    struct err err = {0};
    bool found;

    if (!coordination_read_node(s->c, str_from(id), &n, &found, &err))
        fail_msg("%s", err.msg);
    return found;
}

static void what_no_session_ends_is_no_node(void **state)
{
    struct seat a, b;
    struct err err = {0};

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    plain_create("/nodes/" NODE(1), "foreign", NULL, ZOO_PERSISTENT);
    assert_false(coordination_join(a.c, STR(NODE(1)), STR(""), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "delete it"));
    count_nodes(&b);
    assert_false(is_there(&b, NODE(1)));
    wait_for_event(&b, COORDINATION_NODES, "");
    assert_int_equal(count_nodes(&b), 0);
    plain_delete("/nodes/" NODE(1));
    join(&a, NODE(1), "");
    wait_for_event(&b, COORDINATION_NODES, "");
    settle_seat(&b);
    take_all_events(&b);
    assert_int_equal(count_nodes(&b), 1);
    assert_true(is_there(&b, NODE(1)));
    assert_int_equal(b.n_events[COORDINATION_NODE], 0);
    leave_seat(&a);
    leave_seat(&b);
}

static void what_has_no_name_of_a_node_is_not_listed(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &plainly);
    plain_create("/nodes/n\303\266", "foreign", NULL, ZOO_EPHEMERAL);
    plain_create("/nodes/n1", "foreign", NULL, ZOO_EPHEMERAL);
    join(&a, NODE(1), "");
    assert_int_equal(count_nodes(&a), 1);
    plain_delete("/nodes/n\303\266");
    plain_delete("/nodes/n1");
    leave_seat(&a);
}

static void data_that_is_too_large_is_refused_and_foreign_one_is_marked(void **state)
{
    struct seat a;
    struct err err = {0};
    char *large = mem_alloc(1, COORDINATION_DATA_MAX + 2);

    (void)state;
    memset(large, 'x', COORDINATION_DATA_MAX + 1);
    take_seat(&a, &plainly);
    assert_false(coordination_join(a.c, STR(NODE(1)), str_from(large), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    plain_create("/nodes/" NODE(2), large, NULL, ZOO_EPHEMERAL);
    assert_true(find_node(&a, NODE(2)).is_too_large);
    assert_int_equal(find_node(&a, NODE(2)).data.len, 0);
    plain_delete("/nodes/" NODE(2));
    large[COORDINATION_DATA_MAX] = '\0';
    join(&a, NODE(3), large);
    assert_int_equal(find_node(&a, NODE(3)).data.len, COORDINATION_DATA_MAX);
    assert_false(find_node(&a, NODE(3)).is_too_large);
    leave_seat(&a);
    free(large);
}

static void a_name_that_will_not_do_is_refused(void **state)
{
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &plainly);
    assert_false(coordination_join(a.c, STR("a/b"), STR(""), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_int_equal(write_node(&a, "..", "", 0, &err), WRITTEN_FAILED);
    assert_int_equal(err.kind, ERR_REJECT);
    leave_seat(&a);
}

static void a_root_that_somebody_deletes_is_made_again(void **state)
{
    struct seat a;
    struct err err = {0};
    const struct str *ids;
    size_t n;

    (void)state;
    take_seat(&a, &plainly);
    join(&a, NODE(1), "");
    assert_int_equal(count_nodes(&a), 1);
    plain_delete("/nodes/" NODE(1));
    plain_delete("/nodes");
    plain_delete("/locks");
    plain_delete("");
    wait_for_event(&a, COORDINATION_NODES, "");
    assert_false(coordination_list(a.c, &ids, &n, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_int_equal(count_nodes(&a), 0);
    join(&a, NODE(1), "");
    leave_seat(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(a_node_that_joins_is_listed_with_data_version_and_session, new_root),
    cmocka_unit_test_setup(closing_takes_the_node_away_at_once_with_one_event, new_root),
    cmocka_unit_test_setup(a_write_of_an_older_version_differs_and_one_to_nothing_is_gone,
                           new_root),
    cmocka_unit_test_setup(a_change_of_one_node_is_one_wake_one_event_and_one_read, new_root),
    cmocka_unit_test_setup(a_list_is_one_read_however_many_nodes_there_are, new_root),
    cmocka_unit_test_setup(who_reads_a_node_is_told_that_it_went, new_root),
    cmocka_unit_test_setup(who_comes_back_under_its_id_is_read_anew, new_root),
    cmocka_unit_test_setup(an_id_of_a_living_session_is_to_be_tried_again_and_names_it,
                           new_root),
    cmocka_unit_test_setup(joining_again_in_the_same_session_replaces_the_data, new_root),
    cmocka_unit_test_setup(a_join_whose_answer_was_lost_is_found_again, new_root),
    cmocka_unit_test_setup(what_no_session_ends_is_no_node, new_root),
    cmocka_unit_test_setup(what_has_no_name_of_a_node_is_not_listed, new_root),
    cmocka_unit_test_setup(data_that_is_too_large_is_refused_and_foreign_one_is_marked,
                           new_root),
    cmocka_unit_test_setup(a_name_that_will_not_do_is_refused, new_root),
    cmocka_unit_test_setup(a_root_that_somebody_deletes_is_made_again, new_root),
};

const struct test_part nodes_part = {tests, ARRAY_LEN(tests)};
