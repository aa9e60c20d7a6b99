#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/view/topic.h"

#include "rebalance/admin/questions.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/topic/orders.h"
#include "rebalance/view/known.h"
#include "rebalance/view/view.h"
#include "src/base/clock.h"
#include "src/search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY_S  INT64_C(86400)
#define NOW_MS INT64_C(1700000000000)

/* A node that was not started, with a topic and a store in a file. */
struct fixture {
    char path[40];
    struct coordinator_options opt;
    struct coordinator *co;
};

static int set_up(void **state)
{
    static const struct stored_definition topic = {
        STR("topic"), STR("shop"),
        STR("{\"name\":\"shop\",\"address\":\"127.0.0.1:1\",\"user\":\"mill\"}")};
    static struct fixture f;
    const char *nobody = "http://127.0.0.1:1";
    struct err err = {0};

    f = (struct fixture){.path = "/tmp/millrace-test.XXXXXX"};

    const int fd = mkstemp(f.path);

    assert_true(fd >= 0);
    close(fd);
    f.opt.search = search_new(&(struct search_options){.urls = &nobody, .n_urls = 1});
    assert_true(store_open_sqlite(&f.opt.store, f.path, &err));
    assert_true(store_save_definitions(f.opt.store, 0, &topic, 1,
                                       &(struct definition_effects){0}, &err));
    assert_true(coordinator_open(&f.co, &f.opt, &err));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char lock[sizeof(f->path) + 5];

    coordinator_close(f->co);
    search_free(f->opt.search);
    store_close(f->opt.store);
    snprintf(lock, sizeof(lock), "%s.lock", f->path);
    unlink(lock);
    unlink(f->path);
    return 0;
}

/* How many warnings of the log's retention the doctor finds; all begin with this. */
static size_t n_warnings(struct coordinator_view *v, const char *message, const char *fix)
{
    struct arena *a = arena_new();
    struct doctor_list l;
    size_t n = 0;

    doctor_init(&l, a);
    coordinator_check_known(v, &l);
    for (size_t i = 0; i < l.n; i++) {
        if (!str_equal(l.checks[i].id, STR("topic.retention")))
            continue;
        assert_int_equal(l.checks[i].status, DOCTOR_WARN);
        assert_true(str_equal(l.checks[i].group, STR("topic shop")));
        assert_ptr_equal(strstr(l.checks[i].message.ptr, message), l.checks[i].message.ptr);
        assert_non_null(strstr(l.checks[i].fix.ptr, fix));
        n++;
    }
    arena_free(a);
    return n;
}

static void expect_warned(struct fixture *f, const char *warning)
{
    struct buf json = {0};
    struct err err = {0};
    struct coordinator_view *v = coordinator_view_new(f->co);

    assert_int_equal(
        n_warnings(v, warning == NULL ? "" : warning, "millrace topic resume shop"),
        warning != NULL);
    coordinator_view_free(v);
    assert_true(coordinator_status(f->co, &json, &err));
    assert_int_equal(strstr(json.ptr, "the paused topic needs") != NULL, warning != NULL);
    assert_int_equal(strstr(json.ptr, "\"warnings\":[]") != NULL, warning == NULL);
    buf_free(&json);
}

/*
 * A pause that began so long ago, of a topic whose server kept its log for so long then and
 * whose oldest change was so old; -1: it had none.
 */
static void put_pause(struct fixture *f, int64_t age_s, uint64_t retention_s, int64_t lag_s)
{
    const int64_t at_ms = clock_wall_ms() - age_s * 1000;
    const struct pause p = {.kind = STR(PAUSE_TOPIC),
                            .name = STR("shop"),
                            .at_ms = at_ms,
                            .retention_s = retention_s,
                            .needs_ms = lag_s < 0 ? 0 : at_ms - lag_s * 1000};
    struct err err = {0};

    assert_true(pause_store(f->opt.store, &p, &err));
    assert_true(coordinator_refresh(f->co, &err));
}

static void expect_paused(struct fixture *f, int64_t age_s, uint64_t retention_s,
                          const char *warning)
{
    put_pause(f, age_s, retention_s, -1);
    expect_warned(f, warning);
}

static void a_server_hangs_once_it_has_not_answered_for_ten_seconds(void **state)
{
    static const struct {
        enum source_state state;
        int64_t since_ms, asked_ms, asking_ms, hangs_ms;
    } cases[] = {
        {SOURCE_RUNNING, 0, 0, 0, 0},
        {SOURCE_RUNNING, 0, NOW_MS - 300000, 0, 0}, /* at rest: nobody has asked since */
        {SOURCE_RUNNING, 0, NOW_MS - 300000, NOW_MS - 9999, 0},
        {SOURCE_RUNNING, 0, NOW_MS - 300000, NOW_MS - 10000, NOW_MS - 10000},
        {SOURCE_CONNECTING, NOW_MS - 9999, NOW_MS - 60000, 0, 0},
        {SOURCE_CONNECTING, NOW_MS - 10000, NOW_MS - 60000, 0, NOW_MS - 10000},
        {SOURCE_WAITING, NOW_MS - 60000, 0, NOW_MS - 60000,
         0}, /* it has failed, and says why */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct pipeline_status s = {
            .source = {.state = cases[i].state, .since_ms = cases[i].since_ms},
            .asked_ms = cases[i].asked_ms,
            .asking_ms = cases[i].asking_ms};

        if (coordinator_silent_since_ms(&s, NOW_MS) != cases[i].hangs_ms)
            fail_msg("case %zu", i);
    }
}

static void a_pause_of_half_the_time_that_the_server_keeps_its_log_is_a_warning(void **state)
{
    struct fixture *f = *state;

    expect_paused(f, 0, 2 * DAY_S, NULL);
    expect_paused(f, DAY_S - 60, 2 * DAY_S, NULL);
    expect_paused(f, DAY_S + 1, 2 * DAY_S, "the paused topic needs the log of the last 8640");
    expect_paused(f, 1000 * DAY_S, 2 * DAY_S,
                  "the paused topic needs the log of the last 864000");
    expect_paused(f, 1000 * DAY_S, 0, NULL); /* for ever, or not known */
}

static void what_was_not_delivered_before_the_pause_is_needed_too(void **state)
{
    struct fixture *f = *state;

    put_pause(f, DAY_S / 2, 2 * DAY_S, DAY_S / 2 - 60);
    expect_warned(f, NULL);
    put_pause(f, DAY_S / 2, 2 * DAY_S, DAY_S / 2 + 1);
    expect_warned(f, "the paused topic needs the log of the last 8640");
}

static void another_reason_for_a_pause_does_not_end_its_warning(void **state)
{
    struct fixture *f = *state;
    struct buf json = {0};
    struct err err = {0};

    put_pause(f, DAY_S, 2 * DAY_S, 60);
    assert_true(
        coordinator_topic_pause(f->co, STR("shop"), STR("another reason"), false, &json, &err));
    expect_warned(f, "the paused topic needs the log of the last 8646");
    buf_clear(&json);
    assert_true(coordinator_status(f->co, &json, &err));
    assert_non_null(strstr(json.ptr, "another reason"));
    buf_free(&json);
}

/* What a topic is warned of that runs and whose oldest change waits so long. */
static void expect_lag(struct fixture *f, int64_t since_ms, struct source_status source,
                       const char *warning)
{
    struct coordinator_view *v = coordinator_view_new(f->co);
    struct topic_view *t = &v->topics[0];

    v->now_ms = NOW_MS;
    t->status = (struct pipeline_status){.source = source, .lag = {.since_ms = since_ms}};
    coordinator_warn_of_topic(v, t);
    assert_int_equal(coordinator_lag_threatens(&t->status, NOW_MS), warning != NULL);
    assert_int_equal(
        n_warnings(v, warning == NULL ? "" : warning, "raise binlog_expire_logs_seconds"),
        warning != NULL);
    coordinator_view_free(v);
}

static void a_lag_of_half_the_time_that_the_server_keeps_its_log_is_a_warning(void **state)
{
    struct fixture *f = *state;
    const int64_t half_ms = DAY_S * 1000;
    struct source_status s = {
        .state = SOURCE_RUNNING,
        .server_known = true,
        .server = {.gtid = true, .retention_s = 2 * DAY_S},
    };

    expect_lag(f, LAG_NONE, s, NULL);
    expect_lag(f, LAG_UNKNOWN, s, NULL);
    expect_lag(f, NOW_MS - half_ms, s, NULL);
    expect_lag(f, NOW_MS - half_ms - 1000, s,
               "the lag of 86401 s is more than half of the 172800 s that the server keeps");
    s.server.retention_s = 0; /* for ever */
    expect_lag(f, NOW_MS - 100 * half_ms, s, NULL);
    s.server.retention_s = 1;
    s.server_known = false;
    expect_lag(f, NOW_MS - half_ms, s, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_hangs_once_it_has_not_answered_for_ten_seconds),
        cmocka_unit_test_setup_teardown(
            a_pause_of_half_the_time_that_the_server_keeps_its_log_is_a_warning, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(what_was_not_delivered_before_the_pause_is_needed_too,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_reason_for_a_pause_does_not_end_its_warning,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_lag_of_half_the_time_that_the_server_keeps_its_log_is_a_warning, set_up,
            tear_down),
    };

    return cmocka_run_group_tests_name("topic_warnings", tests, NULL, NULL);
}
