/*
 * One barrier, event by event: what a node does with old sessions, damaged data, a coordination
 * that does not answer, and people's wishes. Clusters are in test_cluster_simulation.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/cluster/barrier.h"
#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/node_data.h"

#include <string.h>

#define SUSPEND_MS 6000

static struct barrier *b;
static struct barrier_actions out;
static int64_t now_ms;
static int64_t version;

static const struct barrier_thing things[] = {{.name = STR("topic/a")},
                                              {.name = STR("topic/b")}};
static const struct str both[] = {STR("a"), STR("b")};

static void take(struct barrier_event e)
{
    e.now_ms = now_ms;
    barrier_take(b, &e, &out);
}

static const struct barrier_action *find(enum barrier_action_kind kind, const char *thing)
{
    for (size_t i = 0; i < out.n; i++)
        if (out.list[i].kind == kind &&
            (thing == NULL || str_equal(out.list[i].thing, str_from(thing))))
            return &out.list[i];
    return NULL;
}

/* The text that the node writes about itself. */
static bool says(const char *part)
{
    const struct barrier_action *a = find(BARRIER_WRITE, NULL);

    return a != NULL && memmem(a->text.ptr, a->text.len, part, strlen(part)) != NULL;
}

/* Tokens of the reads that were not answered. */
static uint64_t node_token, state_token;

static void note_tokens(void)
{
    const struct barrier_action *a = find(BARRIER_READ, NULL);

    node_token = a != NULL ? a->token : node_token;
    a = find(BARRIER_READ_STATE, NULL);
    state_token = a != NULL ? a->token : state_token;
}

static void read_node(const char *text)
{
    take((struct barrier_event){.kind = BARRIER_NODE_CHANGED, .node = STR("b")});
    note_tokens();
    take((struct barrier_event){.kind = BARRIER_NODE,
                                .node = STR("b"),
                                .token = node_token,
                                .version = ++version,
                                .text = str_from(text)});
}

static void read_state(const char *text)
{
    take((struct barrier_event){.kind = BARRIER_STATE_CHANGED});
    note_tokens();
    take((struct barrier_event){
        .kind = BARRIER_STATE, .token = state_token, .text = str_from(text)});
}

/* Our write was carried out. */
static void write_is_done(void)
{
    assert_non_null(find(BARRIER_WRITE, NULL));
    take((struct barrier_event){
        .kind = BARRIER_WRITTEN, .node = STR("b"), .version = ++version});
}

#define STATE(session, running)                     \
    "{\"session\":" session ",\"running\":" running \
    ",\"leader\":\"a\",\"revision\":1,\"members\":[\"a\",\"b\"]}"
#define NODE(session, status, jobs) \
    "{\"id\":\"b\",\"node_status\":\"" status "\",\"session\":" session ",\"jobs\":[" jobs "]}"

/* Node b of a and b, which was told to begin topic/a in session 5 and has. */
static void set_up(void)
{
    const struct barrier_options options = {.id = STR("b"),
                                            .name = STR("host"),
                                            .version = STR("1"),
                                            .suspend_ms = SUSPEND_MS,
                                            .stop_limit_ms = 8000,
                                            .start_limit_ms = 8000,
                                            .settle_ms = 300,
                                            .stagger_ms = 100};

    now_ms = 1000;
    version = 0;
    b = barrier_new(&options);
    take((struct barrier_event){
        .kind = BARRIER_THINGS, .things = things, .n = 2, .revision = 1});
    take((struct barrier_event){.kind = BARRIER_CONNECTED, .is_new = true});
    assert_non_null(find(BARRIER_REGISTER, NULL));
    note_tokens();
    take((struct barrier_event){.kind = BARRIER_NODES, .list = both, .n = 2});
    take((struct barrier_event){.kind = BARRIER_WRITTEN, .node = STR("b")});
    note_tokens();
    read_node(NODE("0", "CLEAN_OK", ""));
    read_state(STATE("5", "true"));
    read_node(NODE("5", "CLEAN", ""));
    assert_true(says("\"CLEAN_OK\""));
    write_is_done();
    read_node(NODE("5", "INIT", "\"topic/a\""));
    assert_non_null(find(BARRIER_START, "topic/a"));
    take((struct barrier_event){.kind = BARRIER_STARTED, .thing = STR("topic/a")});
    assert_true(says("\"FINISH\""));
    write_is_done();
    read_state(STATE("5", "false"));
    assert_true(says("\"NORMAL\""));
    write_is_done();
    assert_true(barrier_is_normal(b));
    assert_int_equal(barrier_session(b), 5);
}

static void tear_down(void)
{
    barrier_free(b);
    barrier_actions_free(&out);
}

static void a_command_of_an_older_session_is_ignored(void **state)
{
    (void)state;
    set_up();
    read_state(STATE("7", "true"));
    read_node(NODE("6", "CLEAN", ""));
    assert_int_equal(out.n, 0);
    read_node(NODE("6", "INIT", "\"topic/a\",\"topic/b\""));
    assert_null(find(BARRIER_START, "topic/b"));
    read_node(NODE("7", "CLEAN", ""));
    assert_non_null(find(BARRIER_STOP, "topic/a"));
    assert_false(says("CLEAN_OK"));
    take((struct barrier_event){.kind = BARRIER_STOPPED, .thing = STR("topic/a")});
    assert_true(says("\"CLEAN_OK\",\"session\":7"));
    tear_down();
}

static void what_is_kept_goes_on(void **state)
{
    (void)state;
    set_up();
    read_state(STATE("6", "true"));
    read_node(NODE("6", "CLEAN", "\"topic/a\""));
    assert_null(find(BARRIER_STOP, NULL));
    assert_true(says("\"CLEAN_OK\",\"session\":6"));
    write_is_done();
    read_node(NODE("6", "INIT", "\"topic/a\",\"topic/b\""));
    assert_null(find(BARRIER_START, "topic/a"));
    assert_non_null(find(BARRIER_START, "topic/b"));
    tear_down();
}

static void an_init_that_this_life_did_not_answer_is_not_obeyed(void **state)
{
    (void)state;
    set_up();
    read_state(STATE("6", "true"));
    read_node(NODE("6", "INIT", "\"topic/a\",\"topic/b\""));
    assert_null(find(BARRIER_START, NULL));
    assert_non_null(find(BARRIER_HALT, "topic/a"));
    take((struct barrier_event){.kind = BARRIER_STOPPED, .thing = STR("topic/a")});
    assert_true(says("\"CLEAN_OK\"") && says("\"jobs\":[]"));
    tear_down();
}

static void whoever_is_left_out_ends_its_work_at_once(void **state)
{
    (void)state;
    set_up();
    read_state("{\"session\":6,\"members\":[\"a\"],\"left_out\":[\"b\"],\"revision\":1}");
    assert_non_null(find(BARRIER_HALT, "topic/a"));
    assert_null(find(BARRIER_STOP, NULL));
    take((struct barrier_event){.kind = BARRIER_STOPPED, .thing = STR("topic/a")});
    assert_true(says("\"CLEAN_OK\",\"session\":6"));
    write_is_done();
    now_ms += 200;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_non_null(find(BARRIER_ENTER, NULL));
    tear_down();
}

static void a_lost_session_ends_all_work_at_once(void **state)
{
    (void)state;
    set_up();
    take((struct barrier_event){.kind = BARRIER_LOST});
    assert_non_null(find(BARRIER_HALT, "topic/a"));
    take((struct barrier_event){.kind = BARRIER_CONNECTED, .is_new = true});
    assert_non_null(find(BARRIER_REGISTER, NULL));
    assert_null(find(BARRIER_START, NULL));
    tear_down();
}

static void nothing_begins_while_the_coordination_is_silent_and_work_ends_in_time(void **state)
{
    struct buf text = {0};

    (void)state;
    set_up();
    take((struct barrier_event){.kind = BARRIER_SUSPENDED, .heard_ms = now_ms - 1000});
    assert_int_equal(out.n, 0);
    assert_int_equal(barrier_due(b), now_ms + SUSPEND_MS / 2);
    assert_true(barrier_waits_for(b, &text));
    assert_string_equal(text.ptr, "waits for the coordination to answer");
    now_ms += SUSPEND_MS - 1001;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_null(find(BARRIER_HALT, NULL));
    now_ms += 1;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_non_null(find(BARRIER_HALT, "topic/a"));
    take((struct barrier_event){.kind = BARRIER_STOPPED, .thing = STR("topic/a")});
    take((struct barrier_event){.kind = BARRIER_CONNECTED});
    note_tokens();
    assert_null(find(BARRIER_START, NULL));
    read_node(NODE("5", "NORMAL", "\"topic/a\""));
    assert_null(find(BARRIER_START, NULL)); /* the state may be newer */
    read_state(STATE("5", "false"));
    assert_non_null(find(BARRIER_START, "topic/a"));
    buf_free(&text);
    tear_down();
}

static void a_machine_that_slept_ends_its_work_and_reads_anew(void **state)
{
    uint64_t old;

    (void)state;
    set_up();
    take((struct barrier_event){.kind = BARRIER_NODE_CHANGED, .node = STR("b")});
    note_tokens();
    old = node_token;
    now_ms += SUSPEND_MS;
    take((struct barrier_event){.kind = BARRIER_NODE,
                                .node = STR("b"),
                                .token = old,
                                .version = ++version,
                                .text = STR(NODE("5", "NORMAL", "\"topic/a\",\"topic/b\""))});
    assert_non_null(find(BARRIER_HALT, "topic/a"));
    assert_non_null(find(BARRIER_READ, NULL));
    assert_non_null(find(BARRIER_READ_STATE, NULL));
    note_tokens();
    take((struct barrier_event){
        .kind = BARRIER_STATE, .token = state_token, .text = STR(STATE("5", "false"))});
    assert_null(find(BARRIER_START, NULL)); /* what came was read before the sleep */
    tear_down();
}

static void damaged_data_of_ours_is_written_again(void **state)
{
    (void)state;
    set_up();
    read_node("{\"id\":");
    assert_true(says("\"NORMAL\"") && says("topic/a"));
    assert_null(find(BARRIER_HALT, NULL));
    assert_null(find(BARRIER_STOP, NULL));
    tear_down();
}

static void a_thing_that_the_store_refuses_is_given_up(void **state)
{
    (void)state;
    set_up();
    take((struct barrier_event){.kind = BARRIER_REFUSED, .thing = STR("topic/a")});
    assert_true(says("\"jobs\":[]"));
    write_is_done();
    now_ms += 200;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_non_null(find(BARRIER_ENTER, NULL));
    tear_down();
}

static void what_a_newer_program_wrote_stays_in_our_data(void **state)
{
    (void)state;
    set_up();
    read_state(STATE("6", "true"));
    read_node("{\"id\":\"b\",\"node_status\":\"CLEAN\",\"session\":6,\"later\":[1]}");
    take((struct barrier_event){.kind = BARRIER_STOPPED, .thing = STR("topic/a")});
    assert_true(says("\"later\":[1]"));
    tear_down();
}

static void a_wish_that_nobody_takes_is_answered_within_its_limit(void **state)
{
    const struct barrier_action *a;

    (void)state;
    set_up();
    take((struct barrier_event){
        .kind = BARRIER_ASKED, .ask = BARRIER_ASK_EVACUATE, .node = STR("a"), .token = 3});
    assert_non_null(find(BARRIER_WRITE_STATE, NULL));
    for (int i = 0; i < 4; i++) {
        now_ms += 2500;
        take((struct barrier_event){.kind = BARRIER_TIME});
    }
    a = find(BARRIER_ANSWER, NULL);
    assert_true(a != NULL && !a->is_done && a->token == 3);
    tear_down();
}

static void whoever_has_an_older_list_of_things_leads_nothing(void **state)
{
    struct buf text = {0};

    (void)state;
    set_up();
    read_state("{\"session\":5,\"members\":[\"a\",\"b\"],\"revision\":2,\"asked\":1}");
    now_ms += 2000;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_null(find(BARRIER_ENTER, NULL));
    assert_true(barrier_waits_for(b, &text));
    assert_string_equal(text.ptr,
                        "waits for the newest definitions from the store, for 14 s at most: "
                        "then it goes on with those that it has");
    take((struct barrier_event){
        .kind = BARRIER_THINGS, .things = things, .n = 2, .revision = 2});
    now_ms += 200;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_non_null(find(BARRIER_ENTER, NULL));
    buf_free(&text);
    tear_down();
}

/* Node b holds the lock, and has asked for the data of a. */
static void hold_the_lock(void)
{
    read_state("{\"session\":5,\"members\":[\"a\",\"b\"],\"revision\":1,\"asked\":1}");
    now_ms += 200;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_non_null(find(BARRIER_ENTER, NULL));
    take((struct barrier_event){.kind = BARRIER_LOCK_GRANTED});
    note_tokens();
    assert_non_null(find(BARRIER_READ, NULL));
}

static void
a_node_that_is_gone_and_still_listed_is_not_read_again_before_the_next_list(void **state)
{
    (void)state;
    set_up();
    hold_the_lock();
    take((struct barrier_event){
        .kind = BARRIER_NODE, .node = STR("a"), .token = node_token, .version = -1});
    assert_null(find(BARRIER_READ, NULL));
    now_ms += 1000;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_null(find(BARRIER_READ, NULL));
    take((struct barrier_event){.kind = BARRIER_NODES, .list = both, .n = 2});
    assert_non_null(find(BARRIER_READ, NULL));
    tear_down();
}

static void whoever_cannot_learn_what_it_needs_gives_the_lock_to_another(void **state)
{
    (void)state;
    set_up();
    hold_the_lock();
    for (int i = 0; i < 4; i++) {
        assert_null(find(BARRIER_LEAVE, NULL));
        now_ms += 2000;
        take((struct barrier_event){.kind = BARRIER_TIME});
    }
    assert_non_null(find(BARRIER_LEAVE, NULL));
    tear_down();
}

static void a_member_that_the_last_rebalance_passed_over_asks_for_another(void **state)
{
    (void)state;
    set_up();
    read_state("{\"session\":6,\"members\":[\"a\",\"b\"],\"revision\":1}");
    assert_false(barrier_is_normal(b));
    now_ms += 200;
    take((struct barrier_event){.kind = BARRIER_TIME});
    assert_non_null(find(BARRIER_ENTER, NULL));
    tear_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_of_an_older_session_is_ignored),
        cmocka_unit_test(what_is_kept_goes_on),
        cmocka_unit_test(an_init_that_this_life_did_not_answer_is_not_obeyed),
        cmocka_unit_test(whoever_is_left_out_ends_its_work_at_once),
        cmocka_unit_test(a_lost_session_ends_all_work_at_once),
        cmocka_unit_test(nothing_begins_while_the_coordination_is_silent_and_work_ends_in_time),
        cmocka_unit_test(a_machine_that_slept_ends_its_work_and_reads_anew),
        cmocka_unit_test(damaged_data_of_ours_is_written_again),
        cmocka_unit_test(a_thing_that_the_store_refuses_is_given_up),
        cmocka_unit_test(what_a_newer_program_wrote_stays_in_our_data),
        cmocka_unit_test(a_wish_that_nobody_takes_is_answered_within_its_limit),
        cmocka_unit_test(whoever_has_an_older_list_of_things_leads_nothing),
        cmocka_unit_test(
            a_node_that_is_gone_and_still_listed_is_not_read_again_before_the_next_list),
        cmocka_unit_test(whoever_cannot_learn_what_it_needs_gives_the_lock_to_another),
        cmocka_unit_test(a_member_that_the_last_rebalance_passed_over_asks_for_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
