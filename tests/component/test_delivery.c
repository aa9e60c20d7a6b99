/*
 * Delivery, with real threads and real sockets, against a search engine in memory that has bad
 * days.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/base/thread.h"
#include "src/metric.h"
#include "src/search.h"
#include "sync/checkpoint.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_up(void **state)
{
    *state = rig_new();
    return 0;
}

static int tear_down(void **state)
{
    rig_free(*state);
    return 0;
}

static void every_document_arrives_and_every_ticket_is_done(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    for (int i = 0; i < 3000; i++)
        rig_index(r, i, 100 + (uint64_t)i, "first");
    for (int i = 0; i < 3000; i += 3)
        rig_delete(r, i, 10000 + (uint64_t)i);
    for (int i = 0; i < 3000; i += 2)
        rig_index(r, i, 20000 + (uint64_t)i, "second");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2500);
    rig_check(r, 0, 20000, "second");
    rig_check_gone(r, 3);
    rig_check(r, 5, 105, "first");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 5500);
}

static void a_busy_item_is_sent_again_alone(void **state)
{
    struct rig *r = *state;
    const struct fake_rule rule = {
        .id = "7", .times = 1, .status = 429, .type = "rejected_execution_exception"};

    fake_search_add_rule(r->fake, &rule);
    rig_start(r, NULL);
    rig_index_many(r, 0, 50, 100, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 50);
    assert_int_equal(fake_search_items(r->fake), 51);
    assert_int_equal(delivery_status(r->delivery).rejections_429, 1);
}

static void an_answer_with_every_kind_of_item_is_taken_item_by_item(void **state)
{
    struct rig *r = *state;

    fake_search_put(r->fake, "orders_v2", "1", 150, "{\"newer\":1}");
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "2", .times = 1, .status = 429});
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "3",
                                                      .times = 1,
                                                      .status = 503,
                                                      .type = "unavailable_shards_exception"});
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "4", .status = 400});
    fake_search_add_rule(
        r->fake, &(struct fake_rule){
                     .id = "5", .times = 2, .status = 500, .type = "null_pointer_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 6, 100, "body");
    rig_wait_done(r);
    rig_check(r, 0, 100, "body");
    rig_check(r, 1, 150, NULL);
    rig_check(r, 2, 102, "body");
    rig_check(r, 3, 103, "body");
    rig_check(r, 5, 105, "body");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 4);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
    assert_int_equal(r->n_dead, 1);
    assert_string_equal(r->last_dead_id, "4");
}

static void what_always_fails_without_a_reason_is_a_dead_letter_in_the_end(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.id = "1", .status = 500, .type = "null_pointer_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 3, 100, "body");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
    assert_int_equal(r->last_dead_attempts, 5);
}

/* A fault that leaves it open whether the request was applied. */
static void check_ambiguous(struct rig *r, enum fake_act act, bool applied)
{
    const uint64_t v = 1000 * (uint64_t)act + 500 * applied + 1;
    const struct fake_rule rule = {
        .act = act, .times = 1, .applied = applied, .status = 503, .type = "scripted"};

    fake_search_clear_rules(r->fake);
    fake_search_add_rule(r->fake, &rule);
    rig_index(r, 1, v, "body");
    rig_wait_done(r);
    rig_check(r, 1, v, "body");
}

static void whatever_happens_to_an_answer_the_same_write_is_repeated(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.request_timeout_ms = 300});
    for (unsigned act = FAKE_STATUS; act < FAKE_ITEMS_MIXED; act++) {
        check_ambiguous(r, (enum fake_act)act, false);
        check_ambiguous(r, (enum fake_act)act, true);
    }
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 2 * (FAKE_ITEMS_MIXED - FAKE_STATUS));
    assert_int_equal(fake_search_requests(r->fake), 4 * (FAKE_ITEMS_MIXED - FAKE_STATUS));
}

static void nothing_is_believed_of_an_answer_that_does_not_match(void **state)
{
    static const enum fake_act acts[] = {FAKE_TRUNCATED, FAKE_ITEM_LESS, FAKE_ITEM_MORE,
                                         FAKE_ITEMS_MIXED};
    struct rig *r = *state;

    rig_start(r, NULL);
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        const struct fake_rule rule = {.act = acts[i], .times = 1};

        fake_search_add_rule(r->fake, &rule);
        rig_index_many(r, 100 * (int)i, 20, 100, "body");
        rig_wait_done(r);
    }
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 80);
    assert_int_equal(delivery_status(r->delivery).bad_responses, 4);
}

static void an_unknown_result_keeps_newer_writes_of_the_document_back(void **state)
{
    struct rig *r = *state;
    size_t n;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT, .times = 2});
    rig_start(r, &(struct delivery_options){.request_timeout_ms = 200});
    rig_index(r, 1, 10, "old");
    rig_wait_requests(r, 1);
    rig_index(r, 1, 11, "newer");
    rig_delete(r, 1, 12);
    rig_wait_done(r);
    rig_check_gone(r, 1);
    n = fake_search_items(r->fake);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(fake_search_item(r->fake, i).version, 10);
    assert_int_equal(fake_search_item(r->fake, 3).version, 12);
}

static void a_zombie_does_not_bring_back_a_deleted_document(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 600});
    rig_start(r, &(struct delivery_options){.request_timeout_ms = 100});
    rig_index(r, 1, 10, "old");
    rig_wait_requests(r, 1);
    rig_delete(r, 1, 12);
    rig_wait_done(r);
    rig_sleep(700);
    rig_check_gone(r, 1);
}

static void a_body_that_is_too_large_is_split(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake, &(struct fake_rule){.act = FAKE_STATUS, .body_max = 20000, .status = 413});
    rig_start(r, NULL);
    rig_index_many(r, 0, 2000, 100, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2000);
    assert_true(fake_search_largest_body(r->fake) <= 20000);
    assert_true(delivery_status(r->delivery).splits > 0);
    assert_int_equal(r->n_dead, 0);
}

static void submit_id(struct rig *r, struct str id, enum doc_op op, uint64_t version)
{
    rig_submit(r, &(struct doc_write){.target = target_ref(r->target),
                                      .ticket = ticket_new(NULL, 0, &r->tickets),
                                      .op = op,
                                      .version = version,
                                      .id = id,
                                      .key = STR("1"),
                                      .body = op == DOC_INDEX ? STR("{}") : (struct str){0}});
}

static void an_id_that_no_engine_takes_is_a_dead_letter_and_holds_nothing_up(void **state)
{
    struct rig *r = *state;
    static char name[100000];

    memset(name, 'x', sizeof(name));
    rig_start(r, NULL);
    submit_id(r, (struct str){name, 512}, DOC_INDEX, 10);
    submit_id(r, (struct str){name, 513}, DOC_INDEX, 11);
    submit_id(r, (struct str){name, sizeof(name)}, DOC_INDEX, 12);
    rig_index(r, 1, 13, "body");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 2);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 2);
    assert_int_equal(r->n_dead, 2);
    assert_non_null(strstr(r->last_dead_reason, "512"));
    assert_int_equal(fake_search_items(r->fake), 2);
    assert_true(delivery_drain(r->delivery, 20000));
    assert_int_equal(delivery_status(r->delivery).in_flight, 0);

    submit_id(r, (struct str){name, 513}, DOC_DELETE, 20);
    rig_wait_done(r);
    rig_wait_cleared(r, 1);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 3);
    assert_int_equal(fake_search_items(r->fake), 2);
}

static void a_single_document_that_is_too_large_is_a_dead_letter(void **state)
{
    struct rig *r = *state;
    char *large = mem_alloc(30001, 1);

    memset(large, 'x', 30000);
    fake_search_add_rule(
        r->fake, &(struct fake_rule){.act = FAKE_STATUS, .body_max = 20000, .status = 413});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 100, "body");
    rig_index(r, 100, 1, large);
    rig_index_many(r, 200, 20, 100, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 40);
    assert_int_equal(r->n_dead, 1);
    assert_int_equal(r->last_dead_status, 413);
    free(large);
}

static void one_poison_document_among_500_is_one_dead_letter(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "250",
                                                      .status = 400,
                                                      .type = "mapper_parsing_exception",
                                                      .reason = "not a date"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 500, 100, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 499);
    assert_int_equal(r->n_dead, 1);
    assert_string_equal(r->last_dead_id, "250");
    assert_string_equal(r->last_dead_reason, "mapper_parsing_exception: not a date");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 499);
}

static void a_document_that_spoils_the_whole_request_is_found(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_STATUS,
                                             .id = "77",
                                             .status = 400,
                                             .type = "action_request_validation_exception"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 500, 100, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 499);
    assert_int_equal(r->n_dead, 1);
    assert_string_equal(r->last_dead_id, "77");
    assert_non_null(strstr(r->last_dead_reason, "action_request_validation_exception"));
}

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
    assert_non_null(strstr(r->last_why, "this port speaks TLS"));
    rig_sleep(200);
    assert_true(fake_search_requests(r->fake) < 300);
    assert_int_equal(r->n_dead, 0);
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
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 0);
    assert_non_null(strstr(r->last_why, "security_exception"));
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 100);
    assert_int_equal(r->n_dead, 0);
}

static void a_block_of_the_index_holds_it_and_it_goes_on_alone(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.times = 2,
                                             .status = 429,
                                             .type = "cluster_block_exception",
                                             .reason = "blocked by: [TOO_MANY_REQUESTS/12"});
    rig_start(r, NULL);
    rig_index_many(r, 0, 100, 100, "body");
    rig_wait_held(r, true);
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
    fake_search_create(r->fake, "orders_v2", "orders_v2_write");
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 10);
}

static void an_index_that_takes_nothing_for_long_is_told_of_until_it_goes_on(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .status = 503,
                                                      .type = "no_shard_available"});
    rig_start(r, &(struct delivery_options){.failing_ms = 200});
    rig_index_many(r, 0, 10, 100, "body");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->last_why, "no_shard_available"));
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
    assert_true(search_index_exists(r->search, STR("orders_v2_write"), &exists, &is_alias, &err));
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
    delivery_probe(r->delivery);
    rig_sleep(300);
    assert_true(rig_is_held(r));
    assert_true(r->n_dead < 20);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2") + r->n_dead, 1000);
    assert_false(rig_is_held(r));
}

static void a_few_bad_documents_do_not_hold_the_index(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.status = 400});
    rig_start(r, NULL);
    rig_index_many(r, 0, 15, 100, "body");
    rig_wait_done(r);
    assert_int_equal(r->n_dead, 15);
    assert_false(rig_is_held(r));
}

static void a_dead_letter_is_stored_before_its_ticket_is_done(void **state)
{
    struct rig *r = *state;

    r->dead_fails = 2;
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "1", .status = 400});
    rig_start(r, NULL);
    rig_index_many(r, 0, 3, 100, "body");
    rig_wait_done(r);
    assert_int_equal(r->n_dead, 1);
    assert_int_equal(r->dead_fails, 0);
    assert_int_equal(r->done_when_stored, 2);
}

static void a_dead_letter_is_taken_back_when_its_document_is_written(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "1", .times = 1, .status = 400});
    r->clear_fails = 1;
    rig_start(r, NULL);
    delivery_note_dead(r->delivery, STR("orders_v2"), STR(""), STR("2"), 7);
    rig_index_many(r, 0, 4, 100, "body");
    rig_wait_done(r);
    assert_int_equal(r->n_dead, 1);
    rig_index(r, 1, 1000, "body");
    rig_wait_done(r);
    rig_wait_cleared(r, 2);
    rig_index(r, 1, 1001, "body");
    rig_index(r, 2, 1001, "body");
    rig_wait_done(r);
    assert_int_equal(r->n_cleared, 2);
}

static void a_version_of_our_lineage_supersedes(void **state)
{
    struct rig *r = *state;

    r->stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 1000, "{\"newer\":1}");
    rig_start(r, NULL);
    rig_index(r, 1, 10, "old");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
    rig_check(r, 1, 1000, NULL);
}

static void check_foreign_version(struct rig *r, uint64_t version)
{
    r->stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", version, "{\"foreign\":1}");
    rig_start(r, NULL);
    rig_index(r, 1, 20, "ours");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->last_why, "lineage"));
    rig_sleep(100);
    rig_index(r, 2, 21, "ours"); /* stays where it is */
    delivery_probe(r->delivery);
    rig_sleep(100);
    assert_true(rig_is_held(r));
    delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED) + rig_done(r, OUTCOME_DEFERRED), 2);
    assert_true(rig_done(r, OUTCOME_DEFERRED) > 0);
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

static void a_version_above_all_stamps_stops_the_index(void **state)
{
    check_foreign_version(*state, 1001);
}

static void a_version_below_our_lineage_stops_the_index(void **state)
{
    struct rig *r = *state;

    r->target->version_min = 100;
    check_foreign_version(r, 50);
}

static void a_version_that_the_refusal_does_not_name_is_asked_for(void **state)
{
    struct rig *r = *state;

    r->stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 500, "{\"newer\":1}");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.id = "1",
                                             .times = 1,
                                             .status = 409,
                                             .type = "version_conflict_engine_exception",
                                             .reason = "no number here"});
    rig_start(r, NULL);
    rig_index(r, 1, 10, "old");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
}

static void a_fill_that_is_refused_is_superseded_whatever_is_there(void **state)
{
    struct rig *r = *state;

    r->stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 5000, "{\"newer\":1}");
    fake_search_put(r->fake, "orders_v2", "2", 10, "{\"equal\":1}");
    rig_start(r, NULL);
    rig_fill(r, 1, 10, "fill");
    rig_fill(r, 2, 10, "fill");
    rig_fill(r, 3, 10, "fill");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 2);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    rig_check(r, 2, 10, NULL);
    assert_false(rig_is_held(r));
}

static void documents_to_refresh_are_read_and_written_at_their_stamp(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    for (int i = 0; i < 1000; i++)
        rig_set_row(r, i, i % 10 == 0 ? NULL : "row");
    for (int i = 0; i < 1000; i++)
        rig_refresh(r, i, 100);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 900);
    rig_check_gone(r, 10);
    assert_true(r->n_loads < 1000); /* more than one at a time, when they come quickly */
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1000);
}

static void a_hot_document_is_written_while_it_changes_and_ends_right(void **state)
{
    struct rig *r = *state;
    char row[32];

    rig_start(r, NULL);
    for (int i = 1; i <= 20000; i++) {
        snprintf(row, sizeof(row), "row %d", i);
        rig_set_row(r, 1, row);
        rig_refresh(r, 1, (uint64_t)i);
    }
    rig_wait_done(r);
    rig_check(r, 1, 0, "row 20000");
    assert_true(fake_search_items(r->fake) < 20000);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 20000);
}

static void a_read_that_fails_is_tried_again_and_one_that_cannot_be_is_dead(void **state)
{
    struct rig *r = *state;

    r->load_fails = 2;
    rig_start(r, NULL);
    rig_set_row(r, 1, "row");
    rig_refresh(r, 1, 10);
    rig_wait_done(r);
    rig_check(r, 1, 0, "row");
    rig_set_row(r, 2, "reject");
    rig_refresh(r, 2, 20);
    rig_wait_done(r);
    assert_int_equal(r->n_dead, 1);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
}

static void a_read_refused_by_the_gap_is_read_again_and_written_above(void **state)
{
    struct rig *r = *state;

    r->stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 105, "{\"further\":1}");
    rig_start(r, NULL);
    rig_set_row(r, 1, "row");
    rig_refresh(r, 1, 100); /* stamped 100, refused by 105: a further body of position 100 */
    rig_wait_done(r);
    rig_check(r, 1, 106, "row");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

static void a_dead_address_stops_nothing(void **state)
{
    struct rig *r = *state;

    rig_start_with_dead_address(r);
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
    rig_start(r, &(struct delivery_options){.request_timeout_ms = 60000});
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
    rig_start(r, &(struct delivery_options){
                     .request_timeout_ms = 60000, .helpers = helpers, .batch_max = 5});
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

static void submitting_waits_while_too_much_is_held(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 401});
    rig_start(r, &(struct delivery_options){.bytes_max = 100000});
    rig_push(r, &p, 2000, "body");
    rig_wait_held(r, true);
    rig_sleep(200);
    assert_true(delivery_status(r->delivery).bytes_held < 300000);
    assert_true(rig_pushed(&p) < 1000);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    pthread_join(p.thread, NULL);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2000);
    assert_true(delivery_drain(r->delivery, 20000));
    assert_int_equal(delivery_status(r->delivery).bytes_held, 0);
}

static void bodies_of_requests_count_as_held_and_wait_for_room(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;
    size_t most = 0;
    char text[1000] = {0};

    memset(text, 'x', sizeof(text) - 1);
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_ANSWER, .delay_ms = 100});
    rig_start(r,
              &(struct delivery_options){.bytes_max = 1000000, .batch_bytes = 100000});
    rig_push(r, &p, 3000, text);
    while (rig_pushed(&p) < 3000) {
        const size_t held = delivery_status(r->delivery).bytes_held;

        most = held > most ? held : most;
        rig_sleep(1);
    }
    pthread_join(p.thread, NULL);
    rig_wait_done(r);
    assert_true(most > 750000);
    assert_true(most < 1000000 + 2 * 131072); /* one body, grown in powers of two, may be more */
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 3000);
}

static void reads_never_wait_for_room_that_only_they_can_make(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.bytes_max = 1});
    for (int i = 0; i < 300; i++) {
        rig_set_row(r, i, "row");
        rig_refresh(r, i, 10);
    }
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 300);
}

static void draining_sends_everything_that_was_submitted(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.batch_min = 1000, .flush_interval_ms = 60000});
    rig_index_many(r, 0, 500, 100, "body");
    rig_sleep(100);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 0);
    assert_true(delivery_drain(r->delivery, 5000));
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 500);
}

static void a_batch_below_the_minimum_waits_for_the_flush_interval(void **state)
{
    struct rig *r = *state;
    int64_t start_ms = clock_mono_ms();

    rig_start(r, &(struct delivery_options){.batch_min = 10, .flush_interval_ms = 400});
    rig_index_many(r, 0, 9, 100, "body");
    rig_wait_done(r);
    assert_true(clock_mono_ms() - start_ms >= 400);
    start_ms = clock_mono_ms();
    rig_index_many(r, 0, 10, 200, "body");
    rig_wait_done(r);
    assert_true(clock_mono_ms() - start_ms < 400);
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

static void draining_gives_up_at_its_deadline(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT});
    rig_start(r, NULL);
    rig_index_many(r, 0, 100, 100, "body");
    assert_false(delivery_drain(r->delivery, 200));
}

static void stopping_leaves_the_checkpoint_before_what_is_not_done(void **state)
{
    struct rig *r = *state;
    struct checkpoint *cp = checkpoint_new();
    uint64_t seq = checkpoint_open(cp);
    struct err err;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT});
    rig_start(r, NULL);
    rig_submit(r, &(struct doc_write){.target = target_ref(r->target),
                                      .ticket = ticket_new(cp, seq, NULL),
                                      .op = DOC_DELETE,
                                      .id = STR("1"),
                                      .version = 1});
    checkpoint_close(cp, seq);
    rig_wait_requests(r, 1);
    delivery_stop(r->delivery);
    assert_int_equal(checkpoint_safe(cp), 0);
    assert_false(delivery_submit(
        r->delivery, &(struct doc_write){.target = r->target, .id = STR("2")}, 1, &err));
    assert_int_equal(err.kind, ERR_STOP);
    delivery_free(r->delivery);
    r->delivery = NULL;
    assert_int_equal(checkpoint_safe(cp), 0);
    checkpoint_free(cp);
}

static void bodies_can_be_compressed(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.compress = true});
    rig_index_many(r, 0, 2000, 100, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2000);
}

static void the_first_change_of_an_idle_index_goes_at_once(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    for (int i = 0; i < 20; i++) {
        const int64_t start_ms = clock_mono_ms();

        rig_index(r, i, 1, "body");
        rig_wait_done(r);
        assert_true(clock_mono_ms() - start_ms < 1000);
        rig_sleep(5);
    }
    assert_int_equal(fake_search_requests(r->fake), 20);
}

static void under_load_requests_are_few_and_large(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.delay_ms = 300});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20000, 1, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 20000);
    assert_true(fake_search_requests(r->fake) < 40);
    assert_true(fake_search_most_at_once(r->fake) >= 2);
}

static void check_metric(const char *page, const char *line)
{
    if (strstr(page, line) == NULL)
        fail_msg("not in the metrics: %s\n%s", line, page);
}

static void what_happened_can_be_seen_in_the_metrics(void **state)
{
    struct rig *r = *state;
    struct buf samples = {0}, page = {0};

    fake_search_put(r->fake, "orders_v2", "1", 150, "{\"newer\":1}");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_STATUS, .times = 1, .status = 503});
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "2", .times = 1, .status = 429});
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "3", .status = 400});
    rig_start(r, NULL);
    rig_index_many(r, 0, 5, 100, "body");
    rig_wait_done(r);
    rig_delete(r, 0, 200);
    rig_wait_done(r);
    delivery_metrics(r->delivery, &samples);
    metric_render(&page, buf_str(&samples));
#define DOCUMENTS(op, result, n)                                           \
    "millrace_documents_total{topic=\"shop\",index=\"orders_v2\",op=\"" op \
    "\",result=\"" result "\"} " n "\n"
    check_metric(page.ptr, DOCUMENTS("index", "ok", "3"));
    check_metric(page.ptr, DOCUMENTS("index", "stale", "1"));
    check_metric(page.ptr, DOCUMENTS("index", "dead", "1"));
    check_metric(page.ptr, DOCUMENTS("index", "retried", "6"));
    check_metric(page.ptr, DOCUMENTS("delete", "ok", "1"));
#undef DOCUMENTS
    check_metric(page.ptr,
                 "millrace_bulk_rejections_total{cluster=\"search\",status=\"503\"} 1\n");
    check_metric(page.ptr,
                 "millrace_bulk_rejections_total{cluster=\"search\",status=\"429\"} 1\n");
    check_metric(page.ptr,
                 "millrace_bulk_request_duration_seconds_count{cluster=\"search\"} 4");
    check_metric(page.ptr, "millrace_bulk_request_documents_sum{cluster=\"search\"} 12");
    check_metric(page.ptr, "millrace_end_to_end_latency_seconds_count{topic=\"shop\"} 1\n");
    buf_free(&samples);
    buf_free(&page);
}

/* --- a random bad day --- */

#define DAY_THREADS   3
#define DAY_DOCUMENTS 200 /* of each thread */
#define DAY_CHANGES   6000

struct day {
    struct rig *rig;
    pthread_t thread;
    struct random random;
    int first_id;
    uint64_t last[DAY_DOCUMENTS]; /* version of the last change */
    bool is_delete[DAY_DOCUMENTS];
};

static void *live_through(void *arg)
{
    struct day *d = arg;

    for (uint64_t i = 1; i <= DAY_CHANGES; i++) {
        const size_t k = random_below(&d->random, DAY_DOCUMENTS);
        const int id = d->first_id + (int)k;
        char text[32];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
        d->last[k] = 1000 * i;
        d->is_delete[k] = random_below(&d->random, 4) == 0;
        rig_set_row(d->rig, id, d->is_delete[k] ? NULL : text);
        if (random_below(&d->random, 2) == 0)
            rig_refresh(d->rig, id, 1000 * i);
        else if (d->is_delete[k])
            rig_delete(d->rig, id, 1000 * i);
        else
            rig_index(d->rig, id, 1000 * i, text);
        if (random_below(&d->random, 20) == 0)
            rig_sleep((int64_t)random_below(&d->random, 4));
    }
    return NULL;
}

static void spoil(struct rig *r, struct random *random)
{
    static const struct fake_rule rules[] = {
        {.act = FAKE_STATUS, .status = 503},
        {.act = FAKE_STATUS, .status = 429},
        {.act = FAKE_STATUS, .status = 502},
        {.act = FAKE_RESET},
        {.act = FAKE_RESET, .applied = true},
        {.act = FAKE_CUT, .applied = true},
        {.act = FAKE_SILENT},
        {.act = FAKE_SILENT, .applied = true},
        {.act = FAKE_TRUNCATED, .applied = true},
        {.act = FAKE_ITEM_LESS},
        {.act = FAKE_ITEM_MORE, .applied = true},
        {.act = FAKE_ZOMBIE, .late_ms = 150},
        {.act = FAKE_ZOMBIE, .late_ms = 400},
        {.status = 429, .type = "rejected_execution_exception"},
        {.status = 503, .type = "unavailable_shards_exception"},
        {.delay_ms = 20},
    };
    struct fake_rule rule = rules[random_below(random, ARRAY_LEN(rules))];

    if (random_below(random, 2) == 0)
        fake_search_clear_rules(r->fake);
    rule.times = 1 + (unsigned)random_below(random, 2);
    rule.skip = (unsigned)random_below(random, 4);
    fake_search_add_rule(r->fake, &rule);
}

static void check_day(struct rig *r, const struct day *d)
{
    for (size_t k = 0; k < DAY_DOCUMENTS; k++) {
        char text[32];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)d->last[k] / 1000);
        if (d->last[k] == 0 || d->is_delete[k])
            rig_check_gone(r, d->first_id + (int)k);
        else
            rig_check(r, d->first_id + (int)k, 0, text);
    }
}

static void a_random_bad_day_loses_nothing_and_brings_nothing_back(void **state)
{
    const char *seed_text = getenv("MILLRACE_SEED");
    const uint64_t seed = seed_text == NULL ? 4711 : strtoull(seed_text, NULL, 10);
    struct day days[DAY_THREADS] = {{0}};
    struct random random;
    struct rig *r = *state;

    fprintf(stderr, "# MILLRACE_SEED=%llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    rig_start(r, &(struct delivery_options){.request_timeout_ms = 80, .bytes_max = 200000});
    for (int i = 0; i < DAY_THREADS; i++) {
        days[i].rig = r;
        days[i].first_id = 1000 * i;
        random_init(&days[i].random, seed + 1 + (uint64_t)i);
        days[i].thread = thread_start("day", live_through, &days[i]);
    }
    for (int i = 0; i < 100; i++) {
        spoil(r, &random);
        rig_sleep((int64_t)random_below(&random, 30));
    }
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery); /* at once, not after the pause */
    for (int i = 0; i < DAY_THREADS; i++)
        pthread_join(days[i].thread, NULL);
    rig_wait_done(r);
    rig_sleep(450); /* the last zombie */
    for (int i = 0; i < DAY_THREADS; i++)
        check_day(r, &days[i]);
    assert_int_equal(r->n_dead, 0);
    assert_true(delivery_drain(r->delivery, 20000));
    assert_int_equal(delivery_status(r->delivery).bytes_held, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_document_arrives_and_every_ticket_is_done),
        CASE(a_busy_item_is_sent_again_alone),
        CASE(an_answer_with_every_kind_of_item_is_taken_item_by_item),
        CASE(what_always_fails_without_a_reason_is_a_dead_letter_in_the_end),
        CASE(whatever_happens_to_an_answer_the_same_write_is_repeated),
        CASE(nothing_is_believed_of_an_answer_that_does_not_match),
        CASE(an_unknown_result_keeps_newer_writes_of_the_document_back),
        CASE(a_zombie_does_not_bring_back_a_deleted_document),
        CASE(a_body_that_is_too_large_is_split),
        CASE(an_id_that_no_engine_takes_is_a_dead_letter_and_holds_nothing_up),
        CASE(a_single_document_that_is_too_large_is_a_dead_letter),
        CASE(one_poison_document_among_500_is_one_dead_letter),
        CASE(a_document_that_spoils_the_whole_request_is_found),
        CASE(a_server_that_refuses_everything_holds_the_index_soon),
        CASE(missing_rights_hold_the_index_until_they_are_back),
        CASE(a_block_of_the_index_holds_it_and_it_goes_on_alone),
        CASE(a_missing_alias_holds_the_index_and_creates_nothing),
        CASE(an_index_that_takes_nothing_for_long_is_told_of_until_it_goes_on),
        CASE(deletes_of_a_missing_alias_hold_the_index_and_create_nothing),
        CASE(a_broken_mapping_holds_the_index_instead_of_a_dead_letter_each),
        CASE(a_few_bad_documents_do_not_hold_the_index),
        CASE(a_dead_letter_is_stored_before_its_ticket_is_done),
        CASE(a_dead_letter_is_taken_back_when_its_document_is_written),
        CASE(a_version_of_our_lineage_supersedes),
        CASE(what_is_in_flight_while_its_index_is_dropped_is_let_go),
        CASE(a_held_index_that_is_dropped_is_held_no_more),
        CASE(a_version_above_all_stamps_stops_the_index),
        CASE(a_version_below_our_lineage_stops_the_index),
        CASE(a_version_that_the_refusal_does_not_name_is_asked_for),
        CASE(a_fill_that_is_refused_is_superseded_whatever_is_there),
        CASE(documents_to_refresh_are_read_and_written_at_their_stamp),
        CASE(a_hot_document_is_written_while_it_changes_and_ends_right),
        CASE(a_read_that_fails_is_tried_again_and_one_that_cannot_be_is_dead),
        CASE(a_read_refused_by_the_gap_is_read_again_and_written_above),
        CASE(a_dead_address_stops_nothing),
        CASE(a_sick_index_does_not_stop_the_healthy_one),
        CASE(an_index_that_hangs_leaves_a_request_to_the_others),
        CASE(what_an_index_that_hangs_has_is_lent_to_the_others),
        CASE(submitting_waits_while_too_much_is_held),
        CASE(bodies_of_requests_count_as_held_and_wait_for_room),
        CASE(reads_never_wait_for_room_that_only_they_can_make),
        CASE(draining_sends_everything_that_was_submitted),
        CASE(a_batch_below_the_minimum_waits_for_the_flush_interval),
        CASE(draining_does_not_wait_for_a_held_index),
        CASE(draining_gives_up_at_its_deadline),
        CASE(stopping_leaves_the_checkpoint_before_what_is_not_done),
        CASE(bodies_can_be_compressed),
        CASE(the_first_change_of_an_idle_index_goes_at_once),
        CASE(under_load_requests_are_few_and_large),
        CASE(what_happened_can_be_seen_in_the_metrics),
        CASE(a_random_bad_day_loses_nothing_and_brings_nothing_back),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery", tests, NULL, NULL);
}
