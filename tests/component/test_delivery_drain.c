/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Drains: what goes, what waits apart, and how they end.  Names begin with the check or the
 * fault scenario that they are (docs/reliability.md).
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/thread.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/write.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define INDEX   "orders_v2"
#define FOREVER 600000 /* ms: longer than a test may last */
#define AT_ONCE 5000   /* ms: far less than what is not waited for */

/* A drain that a thread waits for. */
struct drainer {
    struct rig *rig;
    pthread_t thread;
    int64_t timeout_ms;
    enum drain_end end;
};

static void *drain_all(void *arg)
{
    struct drainer *x = arg;

    x->end = delivery_drain_partition(x->rig->delivery, DRAIN_ALL, x->timeout_ms);
    return NULL;
}

static void start(struct drainer *x, struct rig *r, int64_t timeout_ms)
{
    *x = (struct drainer){.rig = r, .timeout_ms = timeout_ms};
    x->thread = thread_start("drainer", drain_all, x);
}

static enum drain_end join(struct drainer *x)
{
    pthread_join(x->thread, NULL);
    return x->end;
}

/* Everything waits for a drain. */
static const struct delivery_options reluctant = {
    .settings = {.batch_min = 1000, .flush_ms = FOREVER, .drain_cancel_timeout_ms = FOREVER}};

/* A drain that has sent document 1 and waits for the answer. */
static void start_slow(struct drainer *x, struct rig *r)
{
    fake_search_add_rule(r->fake, &(struct fake_rule){.times = 1, .delay_ms = 300});
    rig_start(r, &reluctant);
    rig_index(r, 1, 100, "old");
    start(x, r, FOREVER);
    rig_wait_requests(r, 1);
}

static void t3_a_drain_sends_fewer_than_the_minimum(void **state)
{
    struct rig *r = *state;

    rig_start(r, &reluctant);
    rig_index_many(r, 0, 3, 100, "body");
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, FOREVER), DRAIN_DONE);
    assert_int_equal(fake_search_count(r->fake, INDEX), 3);
}

static void what_is_counted_when_a_drain_is_done_is_what_is_left(void **state)
{
    struct rig *r = *state;

    rig_start(r, &reluctant);
    for (uint64_t i = 1; i <= 50; i++) {
        rig_index_many(r, 0, 100, i * 1000, "body");
        assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, FOREVER), DRAIN_DONE);

        const struct delivery_status left = delivery_status(r->delivery);

        assert_int_equal(left.queued + left.loading + left.in_flight, 0);
    }
}

static void what_waits_for_a_drain_to_end_is_queued(void **state)
{
    struct rig *r = *state;
    struct drainer x;

    fake_search_add_rule(r->fake, &(struct fake_rule){.until_cleared = true});
    rig_start(r, &reluctant);
    rig_index(r, 1, 100, "old");
    start(&x, r, FOREVER);
    rig_wait_requests(r, 1);
    rig_index(r, 2, 100, "new");
    rig_index(r, 3, 100, "new");
    rig_wait_queued(r, 2);
    fake_search_clear_rules(r->fake);
    assert_int_equal(join(&x), DRAIN_DONE);
}

static void what_arrives_while_a_drain_goes_waits_apart_and_follows(void **state)
{
    struct rig *r = *state;
    struct drainer x;

    start_slow(&x, r);
    rig_index(r, 1, 200, "new");
    rig_index(r, 2, 200, "new");
    assert_int_equal(join(&x), DRAIN_DONE);
    rig_check(r, 1, 100, "old");
    assert_int_equal(fake_search_count(r->fake, INDEX), 1);
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, FOREVER), DRAIN_DONE);
    rig_check(r, 1, 200, "new");
    rig_check(r, 2, 200, "new");
}

static void what_is_thrown_away_does_not_follow_a_drain(void **state)
{
    struct rig *r = *state;
    struct drainer x;

    start_slow(&x, r);
    rig_index(r, 2, 200, "new");
    delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
    rig_index(r, 3, 300, "newer");
    assert_int_equal(join(&x), DRAIN_DONE);
    assert_true(delivery_drain(r->delivery, FOREVER));
    rig_check(r, 1, 100, "old");
    rig_check(r, 3, 300, "newer");
    assert_int_equal(fake_search_count(r->fake, INDEX), 2);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 1);
}

static void t5_a_drain_that_is_out_of_time_waits_for_what_is_in_flight(void **state)
{
    struct rig *r = *state;
    struct delivery_options opt = reluctant;

    fake_search_add_rule(r->fake, &(struct fake_rule){.delay_ms = 1000});
    opt.settings.batch_max = 10;
    opt.settings.batch_min = 10;
    opt.settings.helpers = 1;
    rig_start(r, &opt);
    rig_index_many(r, 0, 1000, 100, "body");
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, 250), DRAIN_TIMED_OUT);
    assert_true(fake_search_count(r->fake, INDEX) > 0);
    assert_true(fake_search_count(r->fake, INDEX) < 1000);
    fake_search_clear_rules(r->fake);
    assert_true(delivery_drain(r->delivery, FOREVER));
    assert_int_equal(fake_search_count(r->fake, INDEX), 1000);
}

/* Nobody waits for room that only a person can make. */
static void a_drain_ends_at_once_where_only_dead_letters_wait_for_room(void **state)
{
    struct rig *r = *state;
    const int64_t start_ms = clock_mono_ms();

    r->dead.is_full = true;
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "1",
                                                      .status = 400,
                                                      .type = "mapper_parsing_exception",
                                                      .reason = "no date"});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "bad");
    rig_wait_held(r, true);
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, FOREVER), DRAIN_BLOCKED);
    for (unsigned worker = 0; worker < 10; worker++) {
        const enum drain_end end = delivery_drain_partition(r->delivery, worker, FOREVER);

        assert_true(end == DRAIN_BLOCKED || end == DRAIN_DONE);
    }
    assert_true(clock_mono_ms() - start_ms < FOREVER);
}

static void t6_a_request_that_is_stuck_is_given_up_after_the_cancel_timeout(void **state)
{
    struct rig *r = *state;
    struct delivery_options opt = reluctant;
    const int64_t start_ms = clock_mono_ms();

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT});
    opt.settings.drain_cancel_timeout_ms = 100;
    rig_start(r, &opt);
    rig_index_many(r, 0, 3, 100, "body");
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, 100),
                     DRAIN_CANCEL_TIMED_OUT);
    assert_true(clock_mono_ms() - start_ms >= 200);
}

static void f63_while_one_drain_goes_a_second_is_told_so_g2(void **state)
{
    struct rig *r = *state;
    struct drainer x;

    fake_search_add_rule(r->fake, &(struct fake_rule){.until_cleared = true});
    rig_start(r, &reluctant);
    rig_index_many(r, 0, 3, 100, "body");
    start(&x, r, FOREVER);
    rig_wait_requests(r, 1);
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, FOREVER),
                     DRAIN_IN_PROGRESS);
    assert_int_equal(delivery_drain_partition(r->delivery, 3, FOREVER), DRAIN_IN_PROGRESS);
    fake_search_clear_rules(r->fake);
    assert_int_equal(join(&x), DRAIN_DONE);
    assert_int_equal(delivery_drain_partition(r->delivery, 3, FOREVER), DRAIN_DONE);
}

static void f63_a_drain_of_what_takes_nothing_is_blocked_at_once_g9(void **state)
{
    struct rig *r = *state;
    const int64_t start_ms = clock_mono_ms();

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 403});
    rig_start(r, NULL);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, FOREVER), DRAIN_BLOCKED);
    assert_true(clock_mono_ms() - start_ms < AT_ONCE);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, INDEX), 100);
}

/* Of document id, with the default number of workers. */
static unsigned worker_of(int id)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", id);
    return (unsigned)(write_hash(STR(INDEX), (struct str){0}, str_from(text)) % 10);
}

static void a_drain_of_one_partition_minds_no_other(void **state)
{
    struct rig *r = *state;
    const unsigned its = worker_of(1);

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 403});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "body");
    rig_wait_held(r, true);
    for (unsigned worker = 0; worker < 10; worker++)
        assert_int_equal(delivery_drain_partition(r->delivery, worker, FOREVER),
                         worker == its ? DRAIN_BLOCKED : DRAIN_DONE);
}

/* What one index waits for is nothing to a drain of another one, and it goes on meanwhile. */
static void a_drain_of_one_index_minds_no_other(void **state)
{
    struct rig *r = *state;
    struct target *other =
        target_new(STR("well_v1"), STR("well_v1_write"), STR("shop.well"), STR("shop"));

    fake_search_create(r->fake, "well_v1", "well_v1_write");
    fake_search_add_rule(
        r->fake, &(struct fake_rule){.index = INDEX, .act = FAKE_STATUS, .status = 403});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "body");
    rig_wait_held(r, true);
    rig_index_to(r, other, 1, 100, "body");
    assert_int_equal(delivery_drain_index(r->delivery, STR("well_v1"), FOREVER), DRAIN_DONE);
    assert_int_equal(fake_search_count(r->fake, "well_v1"), 1);
    assert_int_equal(delivery_drain_index(r->delivery, STR(INDEX), FOREVER), DRAIN_BLOCKED);
    assert_int_equal(delivery_drain_index(r->delivery, STR("none_v1"), FOREVER), DRAIN_DONE);
    target_unref(other);
}

static void *drain_well(void *arg)
{
    struct drainer *x = arg;

    x->end = delivery_drain_index(x->rig->delivery, STR("well_v1"), x->timeout_ms);
    return NULL;
}

/* Document 1 of an index that does not answer is in flight; more than that waits for a drain.
 */
static struct target *start_slow_index(struct rig *r, const struct delivery_options *opt)
{
    struct target *slow =
        target_new(STR("well_v1"), STR("well_v1_write"), STR("shop.well"), STR("shop"));

    fake_search_create(r->fake, "well_v1", "well_v1_write");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.index = "well_v1", .until_cleared = true});
    rig_start(r, opt);
    rig_index_to(r, slow, 1, 100, "old");
    return slow;
}

static void a_drain_of_one_index_does_not_hurry_others(void **state)
{
    struct rig *r = *state;
    struct target *slow = start_slow_index(r, &reluctant);
    struct drainer x = {.rig = r, .timeout_ms = FOREVER};

    x.thread = thread_start("drainer", drain_well, &x);
    rig_wait_requests(r, 1);
    rig_index_many(r, 0, 3, 100, "body");
    rig_wait_queued(r, 3);
    rig_sleep(50);
    assert_int_equal(fake_search_count(r->fake, INDEX), 0);
    fake_search_clear_rules(r->fake);
    assert_int_equal(join(&x), DRAIN_DONE);
    target_unref(slow);
}

/* A person's drain, or the stop's, does not wait for one that Millrace wants by itself. */
static void a_drain_of_one_index_ends_for_any_other(void **state)
{
    struct rig *r = *state;
    struct delivery_options opt = reluctant;
    struct drainer one = {.rig = r, .timeout_ms = FOREVER}, all;

    opt.settings.drain_cancel_timeout_ms = 100;

    struct target *slow = start_slow_index(r, &opt);

    one.thread = thread_start("drainer", drain_well, &one);
    rig_wait_requests(r, 1);
    rig_index_many(r, 0, 3, 100, "body");
    start(&all, r, FOREVER);
    assert_int_equal(join(&one), DRAIN_CANCEL_TIMED_OUT);
    fake_search_clear_rules(r->fake);
    assert_int_equal(join(&all), DRAIN_DONE);
    assert_int_equal(fake_search_count(r->fake, INDEX), 3);
    target_unref(slow);
}

static void what_arrives_for_other_indexes_does_not_wait_for_a_drain_of_one(void **state)
{
    struct rig *r = *state;
    struct target *slow = start_slow_index(r, NULL);
    struct drainer x = {.rig = r, .timeout_ms = FOREVER};

    rig_wait_requests(r, 1);
    x.thread = thread_start("drainer", drain_well, &x);
    rig_index_many(r, 0, 10, 100, "body");
    rig_wait_count(r, INDEX, 10);
    rig_index_to(r, slow, 2, 100, "new");
    rig_wait_queued(r, 1);
    fake_search_clear_rules(r->fake);
    assert_int_equal(join(&x), DRAIN_DONE);
    assert_true(delivery_drain(r->delivery, FOREVER));
    assert_int_equal(fake_search_count(r->fake, "well_v1"), 2);
    target_unref(slow);
}

static void a_cancelled_drain_is_over_when_what_is_in_flight_is_answered(void **state)
{
    struct rig *r = *state;
    struct delivery_options opt = reluctant;
    char text[1001] = "";
    struct drainer x;

    /* Nothing goes before the drain, and one request of many at a time then. */
    fake_search_add_rule(r->fake, &(struct fake_rule){.until_cleared = true});
    opt.settings.batch_bytes = 64 * 1024;
    opt.settings.helpers = 1;
    rig_start(r, &opt);
    memset(text, 'x', sizeof(text) - 1);
    rig_index_many(r, 0, 999, 100, text);
    start(&x, r, FOREVER);
    rig_wait_requests(r, 1);
    delivery_drain_cancel(r->delivery);
    fake_search_clear_rules(r->fake);
    assert_int_equal(join(&x), DRAIN_STOPPED);
    assert_true(fake_search_count(r->fake, INDEX) < 999);
    assert_true(delivery_drain(r->delivery, FOREVER));
    assert_int_equal(fake_search_count(r->fake, INDEX), 999);
}

static void stopping_ends_a_drain_and_abandons_what_waits_apart(void **state)
{
    struct rig *r = *state;
    struct drainer x;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT});
    rig_start(r, &reluctant);
    rig_index(r, 1, 100, "body");
    start(&x, r, FOREVER);
    rig_wait_requests(r, 1);
    rig_index(r, 2, 100, "body");
    delivery_stop(r->delivery);
    assert_int_equal(join(&x), DRAIN_STOPPED);
}

/* Drains that are asked for one after the other until they have to end. */
struct asker {
    struct rig *rig;
    pthread_t thread;
    bool is_over;                  /* atomic */
    unsigned n_asked, n_otherwise; /* atomic: all, and those that were not told of the stop */
};

static void *ask_on(void *arg)
{
    struct asker *a = arg;

    while (!__atomic_load_n(&a->is_over, __ATOMIC_RELAXED)) {
        if (delivery_drain_partition(a->rig->delivery, DRAIN_ALL, FOREVER) != DRAIN_STOPPED)
            __atomic_add_fetch(&a->n_otherwise, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&a->n_asked, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *stop_delivery(void *arg)
{
    delivery_stop(arg);
    return NULL;
}

/* Its thread does not look up before many drains were asked for, and has one that goes. */
static void stop_among_drains(struct rig *r)
{
    struct target *silent =
        target_new(STR("well_v1"), STR("well_v1_write"), STR("shop.well"), STR("shop"));
    struct asker asker = {.rig = r};
    struct drainer x;
    pthread_t stopper;

    fake_search_create(r->fake, "well_v1", "well_v1_write");
    fake_search_add_rule(r->fake, &(struct fake_rule){.index = "well_v1", .act = FAKE_SILENT});
    fake_search_add_rule(r->fake, &(struct fake_rule){.status = 400, .type = "refused"});
    rig_start(r, &reluctant);
    rig_index_to(r, silent, 1, 100, "body");
    rig_index(r, 1, 100, "body");
    pthread_mutex_lock(&r->lock);
    start(&x, r, FOREVER);
    rig_wait_burying(&r->dead);
    stopper = thread_start("stopper", stop_delivery, r->delivery);
    assert_int_equal(join(&x), DRAIN_STOPPED);
    asker.thread = thread_start("asker", ask_on, &asker);
    while (__atomic_load_n(&asker.n_asked, __ATOMIC_RELAXED) < 10)
        rig_sleep(1);
    pthread_mutex_unlock(&r->lock);
    pthread_join(stopper, NULL);
    __atomic_store_n(&asker.is_over, true, __ATOMIC_RELAXED);
    pthread_join(asker.thread, NULL);
    assert_int_equal(asker.n_otherwise, 0);
    target_unref(silent);
}

static void a_drain_that_is_asked_for_while_delivery_stops_is_told_so(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct rig *r = rig_new();

        stop_among_drains(r);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(t3_a_drain_sends_fewer_than_the_minimum),
        RIG_TEST(what_is_counted_when_a_drain_is_done_is_what_is_left),
        RIG_TEST(what_waits_for_a_drain_to_end_is_queued),
        RIG_TEST(what_arrives_while_a_drain_goes_waits_apart_and_follows),
        RIG_TEST(what_is_thrown_away_does_not_follow_a_drain),
        RIG_TEST(t5_a_drain_that_is_out_of_time_waits_for_what_is_in_flight),
        RIG_TEST(a_drain_ends_at_once_where_only_dead_letters_wait_for_room),
        RIG_TEST(t6_a_request_that_is_stuck_is_given_up_after_the_cancel_timeout),
        RIG_TEST(f63_while_one_drain_goes_a_second_is_told_so_g2),
        RIG_TEST(f63_a_drain_of_what_takes_nothing_is_blocked_at_once_g9),
        RIG_TEST(a_drain_of_one_partition_minds_no_other),
        RIG_TEST(a_drain_of_one_index_minds_no_other),
        RIG_TEST(a_drain_of_one_index_does_not_hurry_others),
        RIG_TEST(a_drain_of_one_index_ends_for_any_other),
        RIG_TEST(what_arrives_for_other_indexes_does_not_wait_for_a_drain_of_one),
        RIG_TEST(a_cancelled_drain_is_over_when_what_is_in_flight_is_answered),
        RIG_TEST(stopping_ends_a_drain_and_abandons_what_waits_apart),
        cmocka_unit_test(a_drain_that_is_asked_for_while_delivery_stops_is_told_so),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_drain", tests, NULL, NULL);
}
