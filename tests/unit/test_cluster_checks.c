/* What the doctor and the status say of a cluster. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/view/away.h"
#include "rebalance/view/cluster.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/format/json.h"
#include "src/store/told.h"

#include <string.h>

static struct cluster_view v;
static struct arena *a;

/* Two nodes, and all is well. */
static int set_up(void **state)
{
    (void)state;
    a = arena_new();
    v = (struct cluster_view){.is_connected = true,
                              .is_normal = true,
                              .session = 12,
                              .timeout_ms = 10000,
                              .asked_ms = 10000,
                              .since_ms = clock_mono_ms()};
    (void)name_set_add(&v.live, STR("1"));
    (void)name_set_add(&v.live, STR("2"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cluster_view_free(&v);
    arena_free(a);
    return 0;
}

/* Asserts the worst check of all: its id, message and fix contain these texts. */
static void assert_says(enum doctor_status status, const char *id, const char *message,
                        const char *fix)
{
    const struct doctor_check *worst = NULL;
    struct doctor_list l;

    doctor_init(&l, a);
    coordinator_check_cluster(&v, &l);
    for (size_t i = 0; i < l.n; i++) {
        assert_true(str_equal(l.checks[i].group, STR("cluster")));
        assert_true(l.checks[i].status == DOCTOR_OK || l.checks[i].fix.len > 0);
        if (worst == NULL || l.checks[i].status > worst->status)
            worst = &l.checks[i];
    }
    if (worst == NULL) {
        fail_msg("there is no check");
        return;
    }
    assert_int_equal(worst->status, status);
    assert_true(str_equal(worst->id, str_from(id)));
    assert_non_null(memmem(worst->message.ptr, worst->message.len, message, strlen(message)));
    if (fix[0] != '\0')
        assert_non_null(memmem(worst->fix.ptr, worst->fix.len, fix, strlen(fix)));
}

static void a_cluster_that_is_well_is_normal(void **state)
{
    (void)state;
    assert_says(DOCTOR_OK, "cluster.normal", "normal, 2 nodes", "");
}

static void a_cluster_that_waits_is_not_well(void **state)
{
    (void)state;
    v.is_normal = false;
    assert_says(DOCTOR_WARN, "cluster.normal", "not normal", "node list");
    buf_append(&v.waits, STR("waits for shop-2 to end rebalance 12"));
    assert_says(DOCTOR_WARN, "cluster.normal", "waits for shop-2", "node list");
}

static void topics_that_nobody_may_have_are_a_failure(void **state)
{
    (void)state;
    buf_append(&v.waits, STR("waits for a person: topics have no owner"));
    assert_says(DOCTOR_FAIL, "cluster.normal", "no owner", "node admit");
}

static void a_coordination_that_is_away_or_refuses_is_a_failure(void **state)
{
    (void)state;
    err_set(&v.trouble, ERR_REJECT, "no rights at /millrace; fix: give them");
    assert_says(DOCTOR_FAIL, "cluster.reach", "no rights at /millrace", "give them");
    v.is_connected = v.is_normal = false;
    v.trouble = (struct err){0};
    assert_says(DOCTOR_FAIL, "cluster.reach", "not answered", "start the ZooKeeper servers");
}

static void a_zookeeper_that_is_open_to_all_is_a_warning(void **state)
{
    (void)state;
    v.is_open_to_all = true;
    assert_says(DOCTOR_WARN, "cluster.rights", "whoever", "coordination_auth_file");
}

/* Told in this order; the first two live. */
static const struct stored_told_node told[] = {
    {.node = STR("1"), .node_name = STR("shop-1")},
    {.node = STR("2"), .node_name = STR("shop-2")},
    {.node = STR("3000000000000000"), .node_name = STR("shop-2"), .at_ms = 1764200000000},
    {.node = STR("4"),
     .node_name = STR("shop-4"),
     .at_ms = 1764200000000,
     .body = STR("{\"stopped\":\"2025-11-26T23:33:20Z\"}")},
};

static struct doctor_list away(size_t n)
{
    struct doctor_list l;

    doctor_init(&l, a);
    away_check(&v, told, n, 1764200065000, &l);
    return l;
}

static void assert_fix(const struct doctor_list *l, size_t i, const char *text)
{
    assert_non_null(memmem(l->checks[i].fix.ptr, l->checks[i].fix.len, text, strlen(text)));
}

static void a_node_that_is_gone_or_was_stopped_is_a_warning(void **state)
{
    const struct doctor_list l = away(4);

    (void)state;
    assert_int_equal(l.n, 2);
    assert_int_equal(l.checks[0].status, DOCTOR_WARN);
    assert_true(str_equal(l.checks[0].id, STR("cluster.away")));
    assert_true(
        str_equal(l.checks[0].message,
                  STR("shop-2 is gone: it last told of itself at 2025-11-26 23:33:20 UTC "
                      "(1 min 5 s ago)")));
    assert_fix(&l, 0, "start it again, or see in its log");
    /* Another node has its name. */
    assert_fix(&l, 0, "millrace node forget 30000000");
    assert_true(
        str_equal(l.checks[1].message,
                  STR("shop-4 was shut down at 2025-11-26 23:33:20 UTC (1 min 5 s ago)")));
    assert_fix(&l, 1, "millrace node evacuate shop-4");
    assert_string_equal(away_word(&v, &told[0]), "lives");
    assert_string_equal(away_word(&v, &told[2]), "gone");
    assert_string_equal(away_word(&v, &told[3]), "shut down");
}

static void nobody_warns_of_an_evacuated_node_or_of_what_nobody_knows(void **state)
{
    (void)state;
    (void)name_set_add(&v.evacuated, STR("3000000000000000"));
    assert_int_equal(away(3).n, 0);
    v.is_connected = false;
    assert_int_equal(away(4).n, 0);
    assert_string_equal(away_word(&v, &told[2]), "unknown");
}

static void another_time_out_than_the_wanted_one_is_a_warning(void **state)
{
    (void)state;
    v.timeout_ms = 4000;
    assert_says(DOCTOR_WARN, "cluster.timeout", "a session of 4", "maxSessionTimeout");
    v.timeout_ms = 0; /* there is no session yet */
    assert_says(DOCTOR_OK, "cluster.normal", "normal", "");
}

static void programs_see_the_same(void **state)
{
    struct buf out = {0};
    struct json_writer w = {.out = &out};

    (void)state;
    json_open_object(&w);
    coordinator_put_cluster(&w, &v);
    json_close_object(&w);
    assert_non_null(strstr(out.ptr,
                           "{\"cluster\":{\"normal\":true,\"nodes\":2,\"waits_for\":\"\","
                           "\"session\":12,\"connected\":true,\"since\":\"2"));
    buf_clear(&out);
    w = (struct json_writer){.out = &out};
    json_open_object(&w);
    coordinator_put_cluster(&w, NULL);
    json_close_object(&w);
    assert_string_equal(out.ptr, "{\"cluster\":null}");
    buf_free(&out);
}

#define CHECKS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECKS_TEST(a_cluster_that_is_well_is_normal),
        CHECKS_TEST(a_cluster_that_waits_is_not_well),
        CHECKS_TEST(topics_that_nobody_may_have_are_a_failure),
        CHECKS_TEST(a_coordination_that_is_away_or_refuses_is_a_failure),
        CHECKS_TEST(a_zookeeper_that_is_open_to_all_is_a_warning),
        CHECKS_TEST(a_node_that_is_gone_or_was_stopped_is_a_warning),
        CHECKS_TEST(nobody_warns_of_an_evacuated_node_or_of_what_nobody_knows),
        CHECKS_TEST(another_time_out_than_the_wanted_one_is_a_warning),
        CHECKS_TEST(programs_see_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
