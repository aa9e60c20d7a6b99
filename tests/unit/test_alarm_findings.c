/* Which node sends the alarm of what is found. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
#include "rebalance/tell/alarms.h"
#include "rebalance/view/view.h"

#include <stdio.h>
#include <string.h>

/* Node 2 of two, which owns the topic `mine` with the table `mine.a`. */
static struct coordinator co;
static struct cluster_view cluster;
static struct topic_definition topics[2];
static struct table_definition tables[2];
static struct topic_view topic_views[2];
static struct table_view table_views[2];
static struct definitions definitions;
static struct coordinator_view v;
static struct doctor_list checks;

static int set_up(void **state)
{
    (void)state;
    topics[0].name = STR("mine");
    topics[1].name = STR("others");
    tables[0].table = STR("mine.a");
    tables[1].table = STR("others.a");
    for (size_t i = 0; i < 2; i++) {
        topic_views[i] = (struct topic_view){.d = &topics[i], .told = {.is_others = i == 1}};
        table_views[i] = (struct table_view){.d = &tables[i], .told = {.is_others = i == 1}};
    }
    definitions.topics = topics;
    definitions.n_topics = 2;
    definitions.tables = tables;
    definitions.n_tables = 2;
    cluster = (struct cluster_view){.is_connected = true};
    (void)name_set_add(&cluster.live, STR("node-1"));
    (void)name_set_add(&cluster.live, STR("node-2"));
    snprintf(co.identity.uuid, sizeof(co.identity.uuid), "node-2");
    snprintf(co.identity.name, sizeof(co.identity.name), "db2");
    v = (struct coordinator_view){.arena = arena_new(),
                                  .definitions = &definitions,
                                  .cluster = &cluster,
                                  .topics = topic_views,
                                  .tables = table_views};
    doctor_init(&checks, v.arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    name_set_free(&cluster.live);
    arena_free(v.arena);
    return 0;
}

/* What becomes of one check: "left out", "others", or the object of the alarm. */
static const char *goes_to(const char *id, const char *group, enum doctor_status status)
{
    struct alarm_finding *list;
    size_t n;

    checks.n = 0;
    doctor_add(&checks, &(struct doctor_check){.id = str_from(id),
                                               .group = str_from(group),
                                               .status = status,
                                               .message = STR("message"),
                                               .fix = STR("fix")});
    list = alarm_findings(&co, &v, &checks, &n);
    if (n == 0)
        return "left out";
    assert_int_equal(list[0].is_failure, status == DOCTOR_FAIL);
    return list[0].is_others ? "others" : list[0].object.ptr;
}

static void a_node_alone_sends_all(void **state)
{
    (void)state;
    v.cluster = NULL;
    assert_string_equal(goes_to("topic.runs", "topic others", DOCTOR_FAIL), "topic others");
    assert_string_equal(goes_to("search.reach", "search engine", DOCTOR_FAIL), "search engine");
    assert_string_equal(goes_to("dead_letters", "table mine.a", DOCTOR_WARN), "table mine.a");
}

static void what_is_well_or_was_chosen_is_no_alarm(void **state)
{
    (void)state;
    assert_string_equal(goes_to("topic.runs", "topic mine", DOCTOR_OK), "left out");
    assert_string_equal(goes_to("topic.gtid", "topic mine", DOCTOR_WARN), "left out");
    assert_string_equal(goes_to("table.definition", "table mine.a", DOCTOR_WARN), "left out");
    assert_string_equal(goes_to("table.definition", "table mine.a", DOCTOR_FAIL),
                        "table mine.a");
}

static void the_owner_of_a_topic_sends_what_concerns_it(void **state)
{
    (void)state;
    assert_string_equal(goes_to("topic.runs", "topic mine", DOCTOR_FAIL), "topic mine");
    assert_string_equal(goes_to("topic.runs", "topic others", DOCTOR_FAIL), "others");
    assert_string_equal(goes_to("table.runs", "table mine.a", DOCTOR_FAIL), "table mine.a");
    assert_string_equal(goes_to("dead_letters", "table others.a", DOCTOR_WARN), "others");
}

static void each_node_sends_what_it_alone_may_see(void **state)
{
    (void)state;
    assert_string_equal(goes_to("search.reach", "search engine", DOCTOR_FAIL),
                        "search engine, seen from db2");
    assert_string_equal(goes_to("store.write", "store", DOCTOR_FAIL), "store, seen from db2");
    assert_string_equal(goes_to("cluster.reach", "cluster", DOCTOR_FAIL),
                        "cluster, seen from db2");
}

static void the_node_with_the_least_id_sends_what_concerns_all(void **state)
{
    (void)state;
    assert_string_equal(goes_to("cluster.away", "cluster", DOCTOR_WARN), "others");
    assert_string_equal(goes_to("topic.told", "topic others", DOCTOR_FAIL), "others");
    (void)name_set_remove(&cluster.live, STR("node-1"));
    assert_string_equal(goes_to("cluster.away", "cluster", DOCTOR_WARN), "cluster");
    assert_string_equal(goes_to("topic.told", "topic others", DOCTOR_FAIL), "topic others");
    cluster.is_connected = false;
    assert_string_equal(goes_to("cluster.away", "cluster", DOCTOR_WARN), "others");
}

static void what_tells_of_one_document_is_left_out(void **state)
{
    struct alarm_finding *list;
    size_t n;

    (void)state;
    doctor_add(&checks,
               &(struct doctor_check){
                   .id = STR("table.runs"),
                   .group = STR("table mine.a"),
                   .status = DOCTOR_FAIL,
                   .message = STR("failed to parse field [a] of type [long] in document with "
                                  "id '7'. Preview of field's value: 'secret'")});
    list = alarm_findings(&co, &v, &checks, &n);
    assert_int_equal(n, 1);
    assert_true(str_equal(list[0].text, STR("failed to parse field [a] of type [long]")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_alone_sends_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_well_or_was_chosen_is_no_alarm, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_owner_of_a_topic_sends_what_concerns_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_node_sends_what_it_alone_may_see, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_node_with_the_least_id_sends_what_concerns_all,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_tells_of_one_document_is_left_out, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
