/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * An index that takes nothing is held, and the others go on.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/search/search.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define A_WHILE_MS 300

static void a_server_that_refuses_everything_holds_the_index_soon(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .status = 400,
                                                      .type = "bad_request",
                                                      .reason = "this port speaks TLS"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 5000, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_REQUESTS);
    assert_non_null(strstr(r->reports.last_why, "this port speaks TLS"));
    rig_sleep(200);
    assert_true(fake_search_requests(r->fake) < 300);
    assert_int_equal(r->dead.n, 0);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 5000);
}

static void missing_rights_hold_the_index_until_they_are_back(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .status = 401, .type = "security_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_ACCESS);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 0);
    assert_non_null(strstr(r->reports.last_why, "security_exception"));
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 100);
    assert_int_equal(r->dead.n, 0);
}

static void a_block_of_the_index_holds_it_and_it_goes_on_alone(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake, &(struct fake_rule){.times = 2,
                                     .status = 429,
                                     .type = "cluster_block_exception",
                                     .reason = "blocked by: [TOO_MANY_REQUESTS/12/disk]"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_DISK);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 100);
}

static void a_missing_alias_holds_the_index_and_creates_nothing(void **state)
{
    struct rig *r = *state;

    fake_search_delete(r->fake, "orders_v2");
    rig_start(r, NULL);
    rig_index_many(r, 0, 10, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_MISSING);
    fake_search_create(r->fake, "orders_v2", "orders_v2_write");
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 10);
}

static void what_holds_an_index_is_told_again_when_it_changes(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .status = 401, .type = "security_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 10, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_ACCESS);
    fake_search_clear_rules(r->fake);
    fake_search_delete(r->fake, "orders_v2");
    delivery_probe(r->delivery);
    rig_wait_events(r, DELIVERY_HELD, 2);
    assert_int_equal(r->reports.last_cure, CURE_MISSING);
}

static void an_index_that_takes_nothing_for_long_is_told_of_until_it_goes_on(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .status = 503, .type = "no_shard_available"});
    rig_start(r, &(struct delivery_options){.failing_ms = 200});
    rig_index_many(r, 0, 10, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_ENGINE);
    assert_non_null(strstr(r->reports.last_why, "no_shard_available"));
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 10);
}

/* Engines ask require_alias of writes only. */

static void deletes_of_a_missing_alias_hold_the_index_and_create_nothing(void **state)
{
    struct rig *r = *state;
    bool exists, is_alias;
    struct err err = {0};

    fake_search_delete(r->fake, "orders_v2");
    rig_start(r, NULL);
    rig_delete(r, 1, 10);
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_MISSING);
    assert_true(
        search_index_exists(r->search, STR("orders_v2_write"), &exists, &is_alias, &err));
    assert_false(exists);
    fake_search_create(r->fake, "orders_v2", "orders_v2_write");
    fake_search_put(r->fake, "orders_v2", "1", 9, "{}");
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_check_gone(r, 1);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

static void a_broken_mapping_holds_the_index_instead_of_a_dead_letter_each(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake, &(struct fake_rule){.status = 400, .type = "mapper_parsing_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 1000, 100, "body");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_MAPPING);
    delivery_probe(r->delivery);
    rig_sleep(300);
    assert_true(rig_is_held(r));
    assert_true(r->dead.n < 20);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2") + r->dead.n, 1000);
    assert_false(rig_is_held(r));
}

#define TRICKLE 100

/* One change after the other, each in a request of its own, until the index is held. */
static void trickle_until_held(struct rig *r, bool with_deletes)
{
    for (int i = 0; !rig_is_held(r); i++) {
        assert_true(i < TRICKLE);
        rig_index(r, i, 100 + (uint64_t)i, "body");
        if (with_deletes)
            rig_delete(r, 1000 + i, 100);
        while (!rig_is_held(r) && rig_done(r, OUTCOME_DEAD) <= (uint64_t)i)
            rig_sleep(1);
    }
}

static void break_mapping(struct rig *r)
{
    for (int i = 0; i < TRICKLE; i++) {
        char id[16];

        snprintf(id, sizeof(id), "%d", i);
        fake_search_add_rule(
            r->fake,
            &(struct fake_rule){.id = id, .status = 400, .type = "mapper_parsing_exception"});
    }
}

static void check_trickle(struct rig *r, bool with_deletes)
{
    break_mapping(r);
    rig_start(r, NULL);
    trickle_until_held(r, with_deletes);
    assert_true(r->dead.n < 20);
    assert_non_null(strstr(r->reports.last_why, "20 of 20 documents"));
    for (int i = 0; with_deletes && i < 3; i++) {
        const uint64_t n = rig_done(r, OUTCOME_DELIVERED);

        rig_delete(r, 2000 + i, 100);
        delivery_probe(r->delivery);
        while (rig_done(r, OUTCOME_DELIVERED) == n)
            rig_sleep(1);
        assert_true(rig_is_held(r));
    }
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 19);
}

static void a_trickle_of_changes_to_a_broken_mapping_holds_the_index_soon(void **state)
{
    check_trickle(*state, false);
}

static void deletes_that_go_through_do_not_hide_a_broken_mapping(void **state)
{
    check_trickle(*state, true);
}

/* A proxy in the way, say: a good row is not to be given up for what that says. */
static void a_whole_request_that_is_refused_is_no_dead_letter_of_its_one_document(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .status = 400,
                                                      .type = "bad_request",
                                                      .reason = "what is this"});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "body");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->reports.last_why, "what is this"));
    for (uint64_t n = 2; n < 5; n++) {
        delivery_probe(r->delivery);
        rig_wait_requests(r, n);
    }
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(r->dead.n, 0);
}

static void a_held_index_that_is_tried_through_such_a_proxy_stays_held(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .status = 401, .type = "security_exception"});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "body");
    rig_wait_held(r, true);
    fake_search_clear_rules(r->fake);
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 400});

    const uint64_t n = fake_search_requests(r->fake);

    delivery_probe(r->delivery);
    rig_wait_requests(r, n + 1);
    delivery_probe(r->delivery);
    rig_wait_requests(r, n + 2);
    assert_int_equal(rig_events(r, DELIVERY_RELEASED), 0);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_events(r, DELIVERY_RELEASED), 1);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

static void a_document_that_spoils_its_request_is_found_when_another_one_comes(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake, &(struct fake_rule){
                     .act = FAKE_STATUS, .id = "1", .status = 400, .type = "parse_exception"});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "body");
    rig_wait_held(r, true);
    rig_index(r, 2, 101, "body");
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
    rig_index(r, 1, 102, "body"); /* it is known now */
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 2);
    assert_false(rig_is_held(r));
}

static void what_is_in_flight_while_its_index_is_dropped_is_let_go(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .delay_ms = 200,
                                                      .status = 404,
                                                      .type = "index_not_found_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 100, "body");
    rig_wait_requests(r, 1);
    rig_index(r, 3, 200, "behind it");
    delivery_drop(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    rig_index(r, 4, 300, "after it");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 22);
    assert_false(rig_is_held(r));
    assert_true(delivery_drain(r->delivery, 20000));
}

static void a_held_index_that_is_dropped_is_held_no_more(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .status = 404,
                                                      .type = "index_not_found_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 100, "body");
    rig_wait_held(r, true);
    delivery_drop(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 20);
}

static void a_hold_of_an_index_that_another_daemon_writes_to_ends_quietly(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .status = 401, .type = "security_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 1, 100, "body");
    rig_wait_held(r, true);
    delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
    delivery_end_hold(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    rig_wait_let_go(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 1);
    fake_search_clear_rules(r->fake);
    rig_index_many(r, 1, 1, 100, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 1);
}

static void move_alias(struct rig *r, const char *alias, const char *index)
{
    struct err err;

    assert_true(search_move_alias(r->search, str_from(alias), str_from(index), &err));
}

static void move_write_alias(struct rig *r, const char *index)
{
    move_alias(r, "orders_v2_write", index);
}

static void f29_an_alias_that_somebody_moved_holds_the_index_until_it_is_back(void **state)
{
    struct rig *r = *state;

    fake_search_create(r->fake, "foreign", "foreign_write");
    rig_start(r, NULL);
    rig_index(r, 1, 10, "body");
    rig_wait_done(r);
    move_write_alias(r, "foreign");
    rig_index(r, 2, 20, "body"); /* it shows where it went */
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_ALIAS);
    assert_non_null(strstr(r->reports.last_why, "points to foreign, not to orders_v2"));
    assert_non_null(strstr(r->reports.last_why, "fix: move it back"));
    rig_wait_failed(r, 1); /* which is counted after it was told */
    rig_index_many(r, 100, 50, 100, "body");
    rig_sleep(A_WHILE_MS);
    assert_int_equal(fake_search_count(r->fake, "foreign"), 1);
    assert_int_equal(delivery_status(r->delivery).requests_failed, 1);
    move_write_alias(r, "orders_v2");
    delivery_end_astray(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    rig_wait_held(r, false);
    rig_check(r, 2, 20, "body");
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 52);
    assert_int_equal(fake_search_count(r->fake, "foreign"), 1);
}

#define ROOM  ((size_t)256 << 10) /* a tenth of what is to be sent */
#define LINES 4                   /* of the log, and events */

static FILE *log_file;

/* Whoever may say that the alias is back does so again and again; the most bytes held. */
static size_t say_that_it_is_back(struct rig *r)
{
    size_t peak = 0;

    for (int i = 0; i < 100; i++) {
        const size_t held = delivery_status(r->delivery).bytes_held;

        peak = held > peak ? held : peak;
        delivery_end_astray(r->delivery, STR("orders_v2"));
        rig_sleep(20);
    }
    return peak;
}

/* As from a proxy that rewrites answers: the alias is right, whoever looks at it. */
static void an_engine_that_names_another_index_is_sent_one_document_now_and_then(void **state)
{
    struct rig *r = *state;
    const off_t from = lseek(fileno(log_file), 0, SEEK_END);
    struct rig_pusher pusher;
    char text[501];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    fake_search_create(r->fake, "foreign", "foreign_write");
    rig_start(r,
              &(struct delivery_options){.settings = {.bytes_max = ROOM, .purge = PURGE_OFF}});
    move_write_alias(r, "foreign");
    rig_index(r, 6000, 10, "body");
    rig_wait_held(r, true);
    rig_push(r, &pusher, 5000, text);
    assert_in_range(say_that_it_is_back(r), ROOM / 2, 2 * ROOM);
    assert_in_range(fake_search_requests(r->fake), 1, 20);
    assert_in_range(fake_search_items(r->fake), 1, 20);
    assert_in_range(fake_search_count(r->fake, "foreign"), 1, 20);
    assert_int_equal(rig_events(r, DELIVERY_HELD), 1);
    assert_int_equal(rig_events(r, DELIVERY_RELEASED), 0);
    move_write_alias(r, "orders_v2");
    say_that_it_is_back(r); /* what was said before may have been used up */
    rig_wait_pushed(&pusher);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_in_range(rig_lines(r, fileno(log_file), from), 2, LINES);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 5001);
}

/* Neither by hand nor because another one is back. */
static void f29_of_several_that_were_led_astray_each_is_tried_only_when_it_is_back(void **state)
{
    struct rig *r = *state;
    struct target *other =
        target_new(STR("items_v1"), STR("items_v1_write"), STR("shop.items"), STR("shop"));

    fake_search_create(r->fake, "foreign", "foreign_write");
    fake_search_create(r->fake, "items_v1", "items_v1_write");
    rig_start(r, NULL);
    move_write_alias(r, "foreign");
    move_alias(r, "items_v1_write", "foreign");
    rig_index(r, 1, 10, "body");
    rig_wait_events(r, DELIVERY_HELD, 1);
    rig_index_to(r, other, 2, 10, "body");
    rig_wait_events(r, DELIVERY_HELD, 2);
    move_write_alias(r, "orders_v2");
    delivery_probe(r->delivery);
    rig_sleep(A_WHILE_MS);
    assert_int_equal(fake_search_requests(r->fake), 2);
    delivery_end_astray(r->delivery, STR("orders_v2"));
    rig_wait_count(r, "orders_v2", 1);
    rig_wait_events(r, DELIVERY_RELEASED, 1);
    delivery_probe(r->delivery);
    rig_sleep(A_WHILE_MS);
    assert_int_equal(fake_search_requests(r->fake), 3);
    move_alias(r, "items_v1_write", "items_v1");
    delivery_end_astray(r->delivery, STR("items_v1"));
    rig_wait_done(r);
    rig_wait_events(r, DELIVERY_RELEASED, 2);
    rig_wait_count(r, "items_v1", 1);
    assert_int_equal(fake_search_count(r->fake, "foreign"), 2);
    target_unref(other);
}

static void a_dead_address_stops_nothing(void **state)
{
    struct rig *r = *state;

    rig_start_with_dead_address(r, NULL);
    for (int i = 0; i < 20; i++) {
        rig_index_many(r, 100 * i, 50, 100, "body");
        rig_wait_done(r);
    }
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 1000);
}

static void a_sick_index_does_not_stop_the_healthy_one(void **state)
{
    struct rig *r = *state;
    struct target *sick;

    fake_search_create(r->fake, "sick_v1", "sick_v1_write");
    fake_search_add_rule(r->fake, &(struct fake_rule){.index = "sick_v1", .act = FAKE_SILENT});
    sick = target_new(STR("sick_v1"), STR("sick_v1_write"), STR("shop.sick"), STR("shop"));
    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 60000}});
    for (int i = 0; i < 500; i++)
        rig_submit(r, &(struct doc_write){.target = target_ref(sick),
                                          .op = DOC_DELETE,
                                          .id = STR("1"),
                                          .version = 1 + (uint64_t)i});
    rig_index_many(r, 0, 2000, 100, "body");
    rig_wait_count(r, "orders_v2", 2000);
    target_unref(sick);
}

/* An index that takes all requests that it gets, and answers none. */

static void check_hanging(struct rig *r, unsigned helpers)
{
    struct target *sick =
        target_new(STR("sick_v1"), STR("sick_v1_write"), STR("shop.sick"), STR("shop"));
    char id[16];

    fake_search_create(r->fake, "sick_v1", "sick_v1_write");
    fake_search_add_rule(r->fake, &(struct fake_rule){.index = "sick_v1", .act = FAKE_SILENT});
    rig_start(
        r, &(struct delivery_options){
               .settings = {.request_timeout_ms = 60000, .helpers = helpers, .batch_max = 5}});
    rig_index_many(r, 0, 1, 1, "body"); /* so that there are two indexes */
    rig_wait_count(r, "orders_v2", 1);
    for (int i = 0; i < 500; i++) {
        snprintf(id, sizeof(id), "%d", i);
        rig_submit(r, &(struct doc_write){.target = target_ref(sick),
                                          .op = DOC_DELETE,
                                          .id = str_from(id),
                                          .version = 1});
    }
    rig_wait_requests(r, 2);
    rig_sleep(100);
    rig_index_many(r, 0, 2000, 100, "body");
    rig_wait_count(r, "orders_v2", 2000);
    target_unref(sick);
}

static void an_index_that_hangs_leaves_a_request_to_the_others(void **state)
{
    check_hanging(*state, 4);
}

static void what_an_index_that_hangs_has_is_lent_to_the_others(void **state)
{
    check_hanging(*state, 2);
}

static void draining_does_not_wait_for_a_held_index(void **state)
{
    struct rig *r = *state;
    const int64_t start_ms = clock_mono_ms();

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 403});
    rig_start(r, NULL);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_held(r, true);
    assert_false(delivery_drain(r->delivery, 30000));
    assert_true(clock_mono_ms() - start_ms < 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_server_that_refuses_everything_holds_the_index_soon),
        RIG_TEST(missing_rights_hold_the_index_until_they_are_back),
        RIG_TEST(a_block_of_the_index_holds_it_and_it_goes_on_alone),
        RIG_TEST(a_missing_alias_holds_the_index_and_creates_nothing),
        RIG_TEST(what_holds_an_index_is_told_again_when_it_changes),
        RIG_TEST(an_index_that_takes_nothing_for_long_is_told_of_until_it_goes_on),
        RIG_TEST(deletes_of_a_missing_alias_hold_the_index_and_create_nothing),
        RIG_TEST(a_broken_mapping_holds_the_index_instead_of_a_dead_letter_each),
        RIG_TEST(a_trickle_of_changes_to_a_broken_mapping_holds_the_index_soon),
        RIG_TEST(deletes_that_go_through_do_not_hide_a_broken_mapping),
        RIG_TEST(a_whole_request_that_is_refused_is_no_dead_letter_of_its_one_document),
        RIG_TEST(a_held_index_that_is_tried_through_such_a_proxy_stays_held),
        RIG_TEST(a_document_that_spoils_its_request_is_found_when_another_one_comes),
        RIG_TEST(what_is_in_flight_while_its_index_is_dropped_is_let_go),
        RIG_TEST(a_held_index_that_is_dropped_is_held_no_more),
        RIG_TEST(a_hold_of_an_index_that_another_daemon_writes_to_ends_quietly),
        RIG_TEST(f29_an_alias_that_somebody_moved_holds_the_index_until_it_is_back),
        RIG_TEST(an_engine_that_names_another_index_is_sent_one_document_now_and_then),
        RIG_TEST(f29_of_several_that_were_led_astray_each_is_tried_only_when_it_is_back),
        RIG_TEST(a_dead_address_stops_nothing),
        RIG_TEST(a_sick_index_does_not_stop_the_healthy_one),
        RIG_TEST(an_index_that_hangs_leaves_a_request_to_the_others),
        RIG_TEST(what_an_index_that_hangs_has_is_lent_to_the_others),
        RIG_TEST(draining_does_not_wait_for_a_held_index),
    };

    int n_failed;

    log_file = tmpfile();
    if (log_file == NULL)
        return 1;
    log_set_fd(fileno(log_file));
    n_failed = cmocka_run_group_tests_name("delivery_held", tests, NULL, NULL);
    fclose(log_file);
    return n_failed;
}
