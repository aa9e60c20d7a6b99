/* How searches turn from one version to another, and which older ones stay current. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/base/buf.h"
#include "src/store/reset.h"
#include "src/store/turn.h"

#define ORDERS STR("orders")
#define TABLE  STR("shop.orders")

static uint64_t begin(void)
{
    struct stored_version v = {.index = ORDERS, .topic = STR("shop"), .definition = STR("{}")};
    struct stored_job job = {.kind = STR("index"),
                             .index = ORDERS,
                             .table = TABLE,
                             .buckets = 1,
                             .state = STR("init")};

    ok(store_new_version(f.s, &v, &f.err));
    job.version = v.number;
    ok(store_new_job(f.s, &job, &f.err));
    return v.number;
}

/* Build and promote the next version at this time. */
static void build(int64_t at_ms, uint64_t keep)
{
    const struct promotion p = {.index = ORDERS,
                                .number = begin(),
                                .finished_ms = at_ms,
                                .at_ms = at_ms,
                                .keep = {keep, 1000}};

    ok(store_promote_version(f.s, &p, &f.err));
}

static const struct stored_version *version(uint64_t number)
{
    struct stored_version *out;
    size_t n;

    ok(store_load_versions(f.s, f.a, ORDERS, &out, &n, &f.err));
    for (size_t i = 0; i < n; i++)
        if (out[i].number == number)
            return &out[i];
    fail_msg("no version %d", (int)number);
    return NULL;
}

/* The states of the versions from 1 on, separated by spaces. */
static void states_are(const char *wanted)
{
    struct stored_version *out;
    struct buf b = {0};
    size_t n;

    ok(store_load_versions(f.s, f.a, ORDERS, &out, &n, &f.err));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%" STR_FMT, i == 0 ? "" : " ", STR_ARG(out[i].state));
    assert_string_equal(b.ptr, wanted);
    buf_free(&b);
}

static void stop_table(void)
{
    const struct stored_stop stop = {.table = TABLE, .reason = STR("why")};

    ok(store_put_stop(f.s, &stop, &f.err));
}

static bool take_up(uint64_t number, int64_t at_ms)
{
    const struct version_return r = {{ORDERS, number}, {TABLE}, at_ms, 1000};

    return store_take_up_return(f.s, &r, &f.err);
}

static bool order(uint64_t number)
{
    return store_order_return(f.s, &(struct version_name){ORDERS, number}, &f.err);
}

static void roll_back(uint64_t number, int64_t at_ms)
{
    ok(order(number));
    ok(take_up(number, at_ms));
}

static void each_switch_keeps_as_many_as_it_asks_for(void **state)
{
    (void)state;
    build(10, 0);
    build(20, 0);
    states_are("history available");
    assert_int_equal(version(1)->retired_ms, 20);
    build(30, 1);
    states_are("history kept available");
    assert_int_equal(version(2)->kept_until_ms, 1030);
    assert_int_equal(version(2)->retired_ms, 0);
    build(40, 2);
    states_are("history kept kept available");
    build(50, 1);
    states_are("history history history kept available");
    build(60, 0);
    states_are("history history history history history available");
}

static void who_was_replaced_last_is_kept_whatever_its_number(void **state)
{
    (void)state;
    build(10, 0);
    build(20, 1);
    roll_back(1, 30);
    states_are("available kept");
    build(40, 1);
    states_are("kept history available");
}

static void a_version_of_a_stopped_table_is_not_kept(void **state)
{
    const struct stored_rebuild wish = {TABLE, STR("why"), 1};

    (void)state;
    build(10, 0);
    stop_table();
    build(20, 1);
    states_are("history available");
    assert_true(version(1)->error.len > 0);
    ok(store_put_rebuild(f.s, &wish, &f.err));
    build(30, 1);
    states_are("history history available");
    build(40, 1);
    states_are("history history kept available");
}

static void a_return_needs_a_kept_version_and_nothing_on_its_way(void **state)
{
    struct stored_version other = {
        .index = ORDERS, .topic = STR("shop"), .definition = STR("{}")};

    (void)state;
    build(10, 0);
    build(20, 0);
    build(30, 1);
    build(40, 2);
    refused(order(1), ERR_REJECT);
    refused(order(4), ERR_REJECT);
    refused(order(9), ERR_REJECT);
    refused(take_up(2, 50), ERR_STOP);
    ok(order(2));
    refused(order(2), ERR_REJECT);
    refused(order(3), ERR_REJECT);
    states_are("history returning kept available");
    refused(store_new_version(f.s, &other, &f.err), ERR_REJECT);
    ok(store_cancel_return(f.s, &(struct version_name){ORDERS, 2}, &f.err));
    states_are("history kept kept available");
    (void)begin();
    refused(order(2), ERR_REJECT);
}

static void a_return_changes_the_two_and_ends_the_stop(void **state)
{
    struct stored_stop *stops;
    size_t n;

    (void)state;
    build(10, 0);
    build(20, 1);
    roll_back(1, 30);
    states_are("available kept");
    assert_int_equal(version(2)->kept_until_ms, 1030);
    assert_int_equal(version(1)->finished_ms, 10);
    stop_table();
    roll_back(2, 40);
    states_are("history available");
    assert_int_equal(version(1)->retired_ms, 40);
    ok(store_load_stops(f.s, f.a, &stops, &n, &f.err));
    assert_int_equal(n, 0);
}

static enum version_stopped stop_version(uint64_t number)
{
    const struct stored_rebuild wish = {TABLE, STR("truncated"), 1};
    const struct version_stop v = {.index = ORDERS,
                                   .number = number,
                                   .stop = {.table = TABLE, .reason = STR("truncated")},
                                   .rebuild = &wish,
                                   .at_ms = 77};
    enum version_stopped how;

    ok(store_stop_version(f.s, &v, &how, &f.err));
    return how;
}

static void a_kept_version_that_is_stopped_stops_nothing_else(void **state)
{
    struct stored_rebuild *rebuilds;
    struct stored_stop *stops;
    size_t n;

    (void)state;
    build(10, 0);
    build(20, 1);
    build(30, 2);
    assert_int_equal(stop_version(1), VERSION_KEPT);
    states_are("history kept available");
    same(version(1)->error, STR("truncated"));
    assert_int_equal(version(1)->retired_ms, 77);
    ok(order(2));
    assert_int_equal(stop_version(2), VERSION_KEPT);
    states_are("history returning available");
    refused(take_up(2, 50), ERR_STOP);
    ok(store_end_kept(f.s, &(struct version_name){ORDERS, 2}, version(2)->error, 60, &f.err));
    states_are("history history available");
    same(version(2)->error, STR("truncated"));
    ok(store_load_stops(f.s, f.a, &stops, &n, &f.err));
    assert_int_equal(n, 0);
    ok(store_load_rebuilds(f.s, f.a, &rebuilds, &n, &f.err));
    assert_int_equal(n, 0);
}

static uint64_t n_letters(void)
{
    uint64_t n;

    ok(store_n_dead_letters(f.s, STR("orders_v1"), &n, &f.err));
    return n;
}

static void work_of_a_kept_version_stays_until_it_is_history(void **state)
{
    struct stored_dead_letter letter = some_letter("1");

    (void)state;
    letter.index = STR("orders_v1");
    build(10, 0);
    ok(store_put_dead_letters(f.s, &letter, 1, &f.err));
    build(20, 1);
    assert_int_equal(n_letters(), 1);
    ok(store_end_kept(f.s, &(struct version_name){ORDERS, 2}, STR(""), 30, &f.err));
    states_are("kept available");
    ok(store_end_kept(f.s, &(struct version_name){ORDERS, 1}, STR("over"), 30, &f.err));
    states_are("history available");
    assert_int_equal(n_letters(), 0);
}

static void a_topic_that_begins_anew_keeps_no_version(void **state)
{
    const struct version_name kept = {ORDERS, 1};
    const struct topic_reset r = {.topic = STR("shop"),
                                  .kept = &kept,
                                  .n_kept = 1,
                                  .at_ms = 40,
                                  .start = {STR("start/shop"), STR("now")}};

    (void)state;
    build(10, 0);
    build(20, 1);
    ok(store_reset_topic(f.s, &r, &f.err));
    states_are("history available");
    assert_int_equal(version(1)->retired_ms, 40);
}

static void history_without_a_time_ages_from_the_start_on(void **state)
{
    (void)state;
    build(0, 0);
    build(0, 0);
    ok(store_date_history(f.s, 50, &f.err));
    ok(store_date_history(f.s, 60, &f.err));
    assert_int_equal(version(1)->retired_ms, 50);
    assert_int_equal(version(2)->retired_ms, 0);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(each_switch_keeps_as_many_as_it_asks_for),
    STORE_TEST(who_was_replaced_last_is_kept_whatever_its_number),
    STORE_TEST(a_version_of_a_stopped_table_is_not_kept),
    STORE_TEST(a_return_needs_a_kept_version_and_nothing_on_its_way),
    STORE_TEST(a_return_changes_the_two_and_ends_the_stop),
    STORE_TEST(a_kept_version_that_is_stopped_stops_nothing_else),
    STORE_TEST(work_of_a_kept_version_stays_until_it_is_history),
    STORE_TEST(a_topic_that_begins_anew_keeps_no_version),
    STORE_TEST(history_without_a_time_ages_from_the_start_on),
};
const struct test_part store_turns = {tests, ARRAY_LEN(tests)};
