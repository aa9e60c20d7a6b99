/* What people see of a cluster, and what their wishes would move. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/cluster/cluster_change.h"
#include "rebalance/cluster/cluster_survey.h"

#define NODE(id, status, session, jobs)                                     \
    "{\"id\":\"" id "\",\"name\":\"shop-" id "\",\"node_status\":\"" status \
    "\",\"session\":" session ",\"jobs\":[" jobs "]}"

static struct cluster_survey s;
static const struct barrier_thing things[] = {{.name = STR("topic/a")},
                                              {.name = STR("topic/b"), .group = STR("g")},
                                              {.name = STR("topic/c"), .group = STR("g")},
                                              {.name = STR("topic/d")}};

/* Two nodes with two topics each, in session 5. */
static int set_up(void **state)
{
    struct err err;

    (void)state;
    assert_true(cluster_state_parse(
        &s.state, STR("{\"session\":5,\"running\":false,\"members\":[\"1\",\"2\"]}"), &err));
    cluster_survey_add(&s, STR("1"), STR(NODE("1", "NORMAL", "5", "\"topic/a\",\"topic/d\"")));
    cluster_survey_add(&s, STR("2"), STR(NODE("2", "NORMAL", "5", "\"topic/b\",\"topic/c\"")));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cluster_survey_free(&s);
    return 0;
}

static struct cluster_change change(enum barrier_ask ask, const char *node, const char *thing)
{
    return (struct cluster_change){.ask = ask,
                                   .node = str_from(node),
                                   .thing = str_from(thing),
                                   .things = things,
                                   .n_things = ARRAY_LEN(things)};
}

static void assert_moves(struct cluster_change c, const char *wanted)
{
    struct buf out = {0};

    (void)cluster_change_list(&out, &c, &s);
    assert_string_equal(out.len > 0 ? out.ptr : "", wanted);
    buf_free(&out);
}

static void a_wish_shows_what_it_would_move(void **state)
{
    (void)state;
    assert_moves(change(BARRIER_ASK_REBALANCE, "", ""), "");
    assert_moves(change(BARRIER_ASK_EVACUATE, "2", ""),
                 "topic/b: shop-2 -> shop-1\ntopic/c: shop-2 -> shop-1\n");
    assert_moves(change(BARRIER_ASK_MOVE, "2", "topic/a"), "topic/a: shop-1 -> shop-2\n");
    assert_int_equal(s.state.asked, 0); /* the survey stays as it is */
}

static void a_topic_moves_with_its_group_wherever_others_of_it_were_sent(void **state)
{
    struct cluster_change first = change(BARRIER_ASK_MOVE, "2", "topic/b");
    struct cluster_change back = change(BARRIER_ASK_MOVE, "", "topic/c");

    (void)state;
    cluster_change_make(&first, &s.state);
    assert_true(str_equal(cluster_state_wished(&s.state, STR("2"), 0), STR("topic/b")));
    assert_int_equal(cluster_state_wished(&s.state, STR("2"), 1).len, 0);
    assert_int_equal(cluster_state_wished(&s.state, STR("1"), 0).len, 0);
    assert_moves(change(BARRIER_ASK_MOVE, "1", "topic/c"), /* and the others make room */
                 "topic/a: shop-1 -> shop-2\ntopic/b: shop-2 -> shop-1\n"
                 "topic/c: shop-2 -> shop-1\ntopic/d: shop-1 -> shop-2\n");
    cluster_change_make(&back, &s.state);
    assert_int_equal(s.state.moves.n, 0);
}

static void what_was_asked_of_a_forgotten_node_is_gone(void **state)
{
    struct cluster_change out = change(BARRIER_ASK_EVACUATE, "9", "");
    struct cluster_change there = change(BARRIER_ASK_MOVE, "9", "topic/a");
    struct cluster_change other = change(BARRIER_ASK_MOVE, "2", "topic/b");
    struct cluster_change forget = change(BARRIER_ASK_FORGET, "9", "");

    (void)state;
    cluster_change_make(&out, &s.state);
    cluster_change_make(&there, &s.state);
    cluster_change_make(&other, &s.state);
    assert_moves(forget, "");
    cluster_change_make(&forget, &s.state);
    assert_false(name_set_has(&s.state.evacuated, STR("9")));
    assert_int_equal(cluster_state_wish(&s.state, STR("topic/a")).len, 0);
    assert_true(str_equal(cluster_state_wish(&s.state, STR("topic/b")), STR("2")));
}

static void a_node_that_came_or_is_admitted_gets_topics(void **state)
{
    struct cluster_change out = change(BARRIER_ASK_EVACUATE, "3", "");

    (void)state;
    cluster_survey_add(&s, STR("3"), STR(NODE("3", "CLEAN_OK", "0", "")));
    assert_string_equal(cluster_survey_word(&s, STR("3")), "starting");
    assert_moves(change(BARRIER_ASK_REBALANCE, "", ""), "topic/a: shop-1 -> shop-3\n");
    cluster_change_make(&out, &s.state);
    assert_moves(change(BARRIER_ASK_REBALANCE, "", ""), "");
    assert_moves(change(BARRIER_ASK_ADMIT, "3", ""), "topic/a: shop-1 -> shop-3\n");
}

static void a_node_that_was_left_out_counts_once_it_has_ended_its_work(void **state)
{
    (void)state;
    (void)name_set_add(&s.state.left_out, STR("3"));
    cluster_survey_add(&s, STR("3"), STR(NODE("3", "CLEAN", "4", "\"topic/x\"")));
    assert_string_equal(cluster_survey_word(&s, STR("3")), "left out");
    assert_moves(change(BARRIER_ASK_REBALANCE, "", ""), "");
    node_data_free(&s.nodes[--s.n]);
    cluster_survey_add(&s, STR("3"), STR(NODE("3", "CLEAN_OK", "4", "")));
    assert_moves(change(BARRIER_ASK_REBALANCE, "", ""), "topic/a: shop-1 -> shop-3\n");
}

static void a_node_has_a_word_for_how_it_is(void **state)
{
    (void)state;
    assert_string_equal(cluster_survey_word(&s, STR("1")), "normal");
    assert_string_equal(cluster_survey_word(&s, STR("9")), "gone");
    (void)name_set_add(&s.state.evacuated, STR("2"));
    assert_string_equal(cluster_survey_word(&s, STR("2")), "evacuating");
    name_set_clear(&s.nodes[1].jobs);
    assert_string_equal(cluster_survey_word(&s, STR("2")), "evacuated");
    node_data_free(&s.nodes[--s.n]);
    cluster_survey_add(&s, STR("2"), STR(NODE("2", "CLEAN", "5", "")));
    assert_string_equal(cluster_survey_word(&s, STR("2")),
                        "evacuating"); /* it has not answered */
    name_set_clear(&s.state.evacuated);
    assert_string_equal(cluster_survey_word(&s, STR("2")), "rebalancing");
    s.nodes[1].status = NODE_CLEAN_OK;
    assert_string_equal(cluster_survey_word(&s, STR("2")), "waiting");
    s.state.session = 6;
    assert_string_equal(cluster_survey_word(&s, STR("1")), "rebalancing");
    cluster_survey_add(&s, STR("4"), STR("no data"));
    assert_string_equal(cluster_survey_word(&s, STR("4")), "starting");
}

static void assert_owner(const char *thing, const char *id)
{
    const struct node_data *owner = cluster_survey_owner(&s, str_from(thing));

    if (id == NULL)
        assert_null(owner);
    else if (owner == NULL)
        fail_msg("%s has no owner", thing);
    else
        assert_true(str_equal(buf_str(&owner->id), str_from(id)));
}

static void the_newest_session_says_who_owns_a_topic(void **state)
{
    (void)state;
    assert_owner("topic/a", "1");
    assert_owner("topic/x", NULL);
    cluster_survey_add(&s, STR("3"), STR(NODE("3", "CLEAN", "4", "\"topic/a\",\"topic/x\"")));
    assert_owner("topic/a", "1");
    assert_owner("topic/x", "3");
    (void)name_set_add(&s.state.left_out, STR("3"));
    assert_owner("topic/x", NULL);
    cluster_survey_add(&s, STR("4"), STR(NODE("4", "INIT", "6", "\"topic/a\"")));
    assert_owner("topic/a", "4");
}

static void a_copy_outlives_what_it_was_made_of(void **state)
{
    struct cluster_survey copy = {0};

    buf_append(&s.view.waits, STR("waits"));
    (void)state;
    cluster_survey_copy(&copy, &s);
    cluster_survey_free(&s);
    assert_string_equal(cluster_survey_word(&copy, STR("1")), "normal");
    assert_string_equal(copy.view.waits.ptr, "waits");
    cluster_survey_free(&copy);
}

#define CHANGE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHANGE_TEST(a_wish_shows_what_it_would_move),
        CHANGE_TEST(a_topic_moves_with_its_group_wherever_others_of_it_were_sent),
        CHANGE_TEST(what_was_asked_of_a_forgotten_node_is_gone),
        CHANGE_TEST(a_node_that_came_or_is_admitted_gets_topics),
        CHANGE_TEST(a_node_that_was_left_out_counts_once_it_has_ended_its_work),
        CHANGE_TEST(a_node_has_a_word_for_how_it_is),
        CHANGE_TEST(the_newest_session_says_who_owns_a_topic),
        CHANGE_TEST(a_copy_outlives_what_it_was_made_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
