/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * The fuse of an index: F13, F14, F15 and F30 of the fault scenarios, and what they must not do
 * to others.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/random.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define A_WHILE_MS 300
#define NEVER_MS   3600000

static const struct delivery_options quick = {
    .settings = {.failures = 3, .reset_after_ms = A_WHILE_MS}};
/* Nothing goes once it is blown, but by hand. */
static const struct delivery_options by_hand = {
    .settings = {.failures = 3, .reset_after_ms = NEVER_MS}};

static void refuse_all(struct rig *r, unsigned times, int status)
{
    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .times = times, .status = status, .type = "x"});
}

/* From here on nothing goes but by hand; one document waits. */
static void blow(struct rig *r)
{
    refuse_all(r, 3, 500);
    rig_start(r, &by_hand);
    rig_index(r, 1, 10, "body");
    rig_wait_held(r, true);
}

static size_t items_of(struct rig *r, uint64_t request)
{
    size_t n = 0;

    for (size_t i = 0; i < fake_search_items(r->fake); i++)
        n += fake_search_item(r->fake, i).request == request;
    return n;
}

/* F14 */
static void a_burst_of_errors_blows_the_fuse_and_one_small_request_heals_it(void **state)
{
    struct rig *r = *state;

    refuse_all(r, 3, 500);
    rig_start(r, &by_hand);
    rig_index_many(r, 0, 2000, 100, "first");
    rig_wait_held(r, true);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 1);
    assert_int_equal(fake_search_requests(r->fake), 3);
    rig_index_many(r, 0, 2000, 10000, "second");
    rig_sleep(A_WHILE_MS);
    assert_int_equal(fake_search_requests(r->fake), 3);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_events(r, DELIVERY_HEALED), 1);
    assert_int_equal(items_of(r, 4), 20);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2000);
    for (int i = 0; i < 2000; i += 100)
        rig_check(r, i, 10000 + (uint64_t)i, "second");
}

static void a_blown_fuse_is_tried_after_the_reset_time_until_it_heals(void **state)
{
    struct rig *r = *state;
    const int64_t begin_ms = clock_mono_ms();

    refuse_all(r, 6, 503);
    rig_start(r, &quick);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_true(clock_mono_ms() - begin_ms >= 4 * A_WHILE_MS);
    assert_in_range(fake_search_requests(r->fake) - 6, 1, 3); /* the first is a small one */
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 1);
    assert_int_equal(rig_events(r, DELIVERY_HEALED), 1);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 100);
}

/* F15 */
static void an_engine_that_is_always_too_slow_blows_the_fuse(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT});
    rig_start(r, &(struct delivery_options){.settings = {.failures = 3,
                                                         .failure_window_ms = 1,
                                                         .reset_after_ms = NEVER_MS,
                                                         .request_timeout_ms = 200}});
    rig_index(r, 1, 10, "body");
    rig_wait_held(r, true);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 1);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_check(r, 1, 10, "body");
}

/* F13 */
static void an_engine_that_is_busy_for_long_melts_nothing(void **state)
{
    struct rig *r = *state;

    refuse_all(r, 8, 429);
    rig_start(r, &by_hand);
    rig_index_many(r, 0, 500, 100, "body");
    rig_wait_done(r);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 0);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 500);
    assert_int_equal(delivery_status(r->delivery).rejections_429, 8);
}

/* It is the hold that says when it is tried. */
static void requests_that_fail_while_the_index_is_held_melt_nothing(void **state)
{
    struct rig *r = *state;

    refuse_all(r, 1, 403);
    refuse_all(r, 5, 500);
    rig_start(r, &by_hand);
    rig_index(r, 1, 10, "body");
    rig_wait_held(r, true);
    for (uint64_t n = 2; n <= 6; n++) {
        delivery_probe(r->delivery);
        rig_wait_requests(r, n);
    }
    rig_wait_done(r);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 0);
    assert_int_equal(rig_metric(r, "millrace_fuse_melts_total{cluster=\"search\"} "), 0);
}

static void a_request_that_heals_need_not_be_a_good_one(void **state)
{
    struct rig *r = *state;

    refuse_all(r, 3, 500);
    refuse_all(r, 1, 429);
    rig_start(r, &quick);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_done(r);
    assert_int_equal(rig_events(r, DELIVERY_HEALED), 1);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 100);
}

static void an_index_that_says_no_when_it_is_tried_is_held(void **state)
{
    struct rig *r = *state;

    refuse_all(r, 3, 500);
    refuse_all(r, 1, 403);
    rig_start(r, &quick);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 1);
    assert_int_equal(rig_events(r, DELIVERY_HEALED), 1);
    assert_int_equal(rig_events(r, DELIVERY_HELD), 1);
    assert_int_equal(rig_events(r, DELIVERY_RELEASED), 1);
}

/* What no engine takes is a dead letter without a request. */
static void what_cannot_be_sent_does_not_use_up_the_try(void **state)
{
    static char id[600];
    struct rig *r = *state;

    memset(id, 'x', sizeof(id) - 1);
    blow(r);
    delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
    rig_submit(r, &(struct doc_write){.target = target_ref(r->target),
                                      .ticket = ticket_new(NULL, 0, &r->tickets),
                                      .op = DOC_INDEX,
                                      .version = 1,
                                      .id = str_from(id),
                                      .body = STR("{}")});
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_index(r, 2, 11, "body");
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_check(r, 2, 11, "body");
}

static void a_blown_index_with_nothing_but_reads_comes_back(void **state)
{
    struct rig *r = *state;

    blow(r);
    delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
    for (int i = 100; i < 200; i++) {
        rig_set_row(r, i, "read");
        rig_refresh(r, i, 20);
    }
    rig_sleep(A_WHILE_MS);
    assert_int_equal(r->reads.n_batches, 0);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 100);
}

static void a_held_index_with_nothing_but_reads_comes_back(void **state)
{
    struct rig *r = *state;

    refuse_all(r, 1, 403);
    rig_start(r, NULL);
    rig_index(r, 1, 10, "body");
    rig_wait_held(r, true);
    delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
    for (int i = 100; i < 200; i++) {
        rig_set_row(r, i, "read");
        rig_refresh(r, i, 20);
    }
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 100);
}

static void a_blown_index_gets_nothing_and_the_others_all(void **state)
{
    struct rig *r = *state;
    struct target *sick =
        target_new(STR("sick_v1"), STR("sick_v1_write"), STR("shop.sick"), STR("shop"));
    char id[16];
    uint64_t n_sick = 0;

    fake_search_create(r->fake, "sick_v1", "sick_v1_write");
    fake_search_add_rule(
        r->fake, &(struct fake_rule){.index = "sick_v1", .act = FAKE_STATUS, .status = 500});
    rig_start(r, &by_hand);
    for (int i = 0; i < 500; i++) {
        snprintf(id, sizeof(id), "%d", i);
        rig_submit(r, &(struct doc_write){.target = target_ref(sick),
                                          .op = DOC_INDEX,
                                          .id = str_from(id),
                                          .body = STR("{}"),
                                          .version = 1});
    }
    rig_wait_held(r, true);
    n_sick = fake_search_requests(r->fake);
    for (int i = 0; i < 20; i++) {
        rig_index_many(r, 100 * i, 100, 100, "body");
        rig_wait_done(r);
    }
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2000);
    assert_true(n_sick <= 3 + 4); /* what was in flight when it blew */
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_count(r, "sick_v1", 500);
    target_unref(sick);
}

static void reject_id(struct rig *r, const char *id)
{
    fake_search_add_rule(
        r->fake, &(struct fake_rule){
                     .act = FAKE_STATUS, .id = id, .status = 400, .type = "parse_exception"});
}

/* Also where what waits are the parts of a request that is malformed. */
static void a_blown_index_is_tried_with_a_small_part_of_a_bisection(void **state)
{
    struct rig *r = *state;

    reject_id(r, "7");
    refuse_all(r, 4, 500);
    rig_start(r, &(struct delivery_options){.settings = {.failures = 3,
                                                         .reset_after_ms = NEVER_MS,
                                                         .batch_min = 1000,
                                                         .flush_ms = NEVER_MS,
                                                         .workers = 1,
                                                         .helpers = 1}});
    rig_index_many(r, 0, 1000, 100, "body");
    while (rig_events(r, DELIVERY_BLOWN) == 0)
        rig_sleep(1);

    const uint64_t n_before = fake_search_requests(r->fake);

    delivery_probe(r->delivery);
    rig_wait_requests(r, n_before + 1);
    while (rig_events(r, DELIVERY_BLOWN) == 1 && items_of(r, n_before + 1) == 0)
        rig_sleep(1);
    assert_true(items_of(r, n_before + 1) <= 20);
    fake_search_clear_rules(r->fake);
    reject_id(r, "7");
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 999);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
}

/* F30 */
static void a_red_shard_does_not_blow_the_fuse(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.id = "7", .status = 503, .type = "unavailable_shards_exception"});
    rig_start(r, &by_hand);
    rig_index(r, 7, 10, "red");
    for (int i = 0; i < 50; i++) {
        rig_index_many(r, 100, 10, 100 + 100 * (uint64_t)i, "green");
        while (rig_done(r, OUTCOME_DELIVERED) < 10 * ((uint64_t)i + 1))
            rig_sleep(1);
    }
    rig_sleep(A_WHILE_MS); /* the red one is tried again and again */
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 0);
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    rig_check(r, 7, 10, "red");
}

/* Documents from `from` to `to` are of a shard that is red. */
static void make_red(struct rig *r, int from, int to)
{
    for (int i = from; i < to; i++) {
        char id[16];

        snprintf(id, sizeof(id), "%d", i);
        fake_search_add_rule(r->fake,
                             &(struct fake_rule){.id = id,
                                                 .status = 503,
                                                 .type = "unavailable_shards_exception",
                                                 .reason = "[orders_v2][0] is red"});
    }
}

static void
f30_an_index_with_a_red_shard_is_shown_as_held_while_its_other_documents_go(void **state)
{
    struct rig *r = *state;

    make_red(r, 7, 8);
    rig_start(r, &(struct delivery_options){.failing_ms = A_WHILE_MS});
    rig_index(r, 7, 10, "red");
    rig_index(r, 8, 10, "green");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_SHARDS);
    assert_true(rig_is_partly(r));
    assert_non_null(
        strstr(r->reports.last_why, "the engine refuses some of its documents (1 wait)"));
    assert_non_null(strstr(r->reports.last_why, "[orders_v2][0] is red"));
    rig_index_many(r, 100, 100, 100, "green");
    while (rig_done(r, OUTCOME_DELIVERED) < 101)
        rig_sleep(1);
    assert_true(rig_is_held(r));
    assert_int_equal(rig_events(r, DELIVERY_HELD), 1);
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_events(r, DELIVERY_RELEASED), 1);
    rig_check(r, 7, 10, "red");
}

/* Nothing but the document of the red shard was there to try it with. */
static void f30_an_index_that_took_nothing_and_takes_a_part_is_shown_as_that(void **state)
{
    struct rig *r = *state;

    make_red(r, 7, 8);
    rig_start(r, &(struct delivery_options){.failing_ms = A_WHILE_MS});
    rig_index(r, 7, 10, "red");
    rig_wait_held(r, true);
    assert_false(rig_is_partly(r));
    rig_index(r, 8, 10, "green");
    rig_wait_partly(r);
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    rig_wait_held(r, false);
}

/* Those of the red shard are read again by key when it is back. */
static void f30_what_a_red_shard_does_not_take_does_not_fill_the_queue(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    make_red(r, 0, 40);
    for (int i = 0; i < 40; i++)
        rig_set_row(r, i, "text");
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1, .high_water_mark = 10},
                                            .failing_ms = A_WHILE_MS});
    rig_push(r, &p, 80, "text"); /* each waits while there are more than 10 */
    rig_wait_pushed(&p);
    rig_wait_count(r, "orders_v2", 40);
    rig_wait_purged(r, 30);
    fake_search_clear_rules(r->fake);
    rig_wait_held(r, false);                /* until then they are purged again */
    for (int i = 0; r->purged.n > 0; i++) { /* what comes back may need room as well */
        assert_true(i < 10);
        rig_repair(r, 1000);
        rig_wait_done(r);
    }
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 80);
    assert_int_equal(r->dead.n, 0);
}

/* A document that is written, or one that is to be read. */
static void change(struct rig *r, int id, const char *text, bool is_read)
{
    rig_set_row(r, id, text);
    if (is_read)
        rig_refresh(r, id, 10);
    else
        rig_index(r, id, 10, text);
}

/* The document was sent, and what became of it was judged. */
static void wait_judged(struct rig *r, int id)
{
    const int64_t end_ms = clock_mono_ms() + 20000;
    bool has_come = false;

    for (size_t i = 0; !has_come || delivery_status(r->delivery).in_flight > 0;) {
        assert_true(clock_mono_ms() < end_ms);
        for (; i < fake_search_items(r->fake); i++)
            has_come = has_come || strtol(fake_search_item(r->fake, i).id, NULL, 10) == id;
        rig_sleep(1);
    }
}

static void check_try_beside_lost(struct rig *r, bool is_read)
{
    uint64_t n_requests;

    make_red(r, 0, 10);
    rig_start(r, &by_hand);
    for (int i = 0; rig_events(r, DELIVERY_BLOWN) == 0; i++) {
        assert_true(i < 10);
        change(r, i, "red", is_read);
        wait_judged(r, i);
        rig_sleep(60); /* longer than the first pause */
    }
    rig_sleep(A_WHILE_MS); /* it is time to try them again */
    n_requests = fake_search_requests(r->fake);
    change(r, 100, "green", is_read);
    delivery_probe(r->delivery);
    rig_wait_held(r, false);
    assert_int_equal(items_of(r, n_requests + 1), 1);
    rig_check(r, 100, 0, "green");
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
}

static void f30_a_blown_fuse_is_not_tried_with_what_a_red_shard_did_not_take(void **state)
{
    check_try_beside_lost(*state, false);
}

static void f30_nor_where_all_else_is_still_to_be_read(void **state)
{
    check_try_beside_lost(*state, true);
}

static void a_dead_address_does_not_count_for_the_fuse_while_another_answers(void **state)
{
    struct rig *r = *state;

    rig_start_with_dead_address(r, &(struct delivery_options){.settings = {.failures = 1}});
    for (int i = 0; i < 20; i++) {
        rig_index(r, i, 10, "body");
        rig_wait_done(r);
    }
    assert_true(delivery_status(r->delivery).requests_failed > 0);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 0);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 20);
}

/* An engine that is restarted node by node says so with a 500 for each document. */
static void documents_of_a_node_that_goes_are_no_dead_letters(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake, &(struct fake_rule){
                     .id = "7", .times = 6, .status = 500, .type = "node_closed_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 100, "body");
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 0);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 20);
}

static void errors_without_a_reason_of_most_documents_hold_the_index(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.status = 500, .type = "null_pointer_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 1000, 100, "body");
    while (rig_events(r, DELIVERY_HELD) == 0)
        rig_sleep(1);
    assert_true(r->dead.n < 20);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2") + r->dead.n, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_burst_of_errors_blows_the_fuse_and_one_small_request_heals_it),
        RIG_TEST(a_blown_fuse_is_tried_after_the_reset_time_until_it_heals),
        RIG_TEST(an_engine_that_is_always_too_slow_blows_the_fuse),
        RIG_TEST(an_engine_that_is_busy_for_long_melts_nothing),
        RIG_TEST(requests_that_fail_while_the_index_is_held_melt_nothing),
        RIG_TEST(a_request_that_heals_need_not_be_a_good_one),
        RIG_TEST(an_index_that_says_no_when_it_is_tried_is_held),
        RIG_TEST(what_cannot_be_sent_does_not_use_up_the_try),
        RIG_TEST(a_blown_index_with_nothing_but_reads_comes_back),
        RIG_TEST(a_held_index_with_nothing_but_reads_comes_back),
        RIG_TEST(a_blown_index_gets_nothing_and_the_others_all),
        RIG_TEST(a_blown_index_is_tried_with_a_small_part_of_a_bisection),
        RIG_TEST(a_red_shard_does_not_blow_the_fuse),
        RIG_TEST(f30_an_index_with_a_red_shard_is_shown_as_held_while_its_other_documents_go),
        RIG_TEST(f30_an_index_that_took_nothing_and_takes_a_part_is_shown_as_that),
        RIG_TEST(f30_what_a_red_shard_does_not_take_does_not_fill_the_queue),
        RIG_TEST(f30_a_blown_fuse_is_not_tried_with_what_a_red_shard_did_not_take),
        RIG_TEST(f30_nor_where_all_else_is_still_to_be_read),
        RIG_TEST(a_dead_address_does_not_count_for_the_fuse_while_another_answers),
        RIG_TEST(documents_of_a_node_that_goes_are_no_dead_letters),
        RIG_TEST(errors_without_a_reason_of_most_documents_hold_the_index),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_fuse", tests, NULL, NULL);
}
