/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Documents that no engine takes: found among the good ones, and kept as dead letters.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    assert_int_equal(r->dead.n, 0);
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
    assert_int_equal(r->dead.n, 2);
    assert_non_null(strstr(r->dead.last_reason, "512"));
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
    assert_int_equal(r->dead.n, 1);
    assert_int_equal(r->dead.last_status, 413);
    assert_non_null(strstr(r->dead.last_reason, "larger than the search engine takes"));
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
    assert_int_equal(r->dead.n, 1);
    assert_string_equal(r->dead.last_id, "250");
    assert_string_equal(r->dead.last_reason, "mapper_parsing_exception: not a date");
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
    assert_int_equal(r->dead.n, 1);
    assert_string_equal(r->dead.last_id, "77");
    assert_non_null(strstr(r->dead.last_reason, "action_request_validation_exception"));
}

/* The engine recovers while the search for those to blame stands at single documents. */
static void an_engine_that_refused_everything_for_a_while_makes_no_dead_letters(void **state)
{
    struct rig *r = *state;

    for (unsigned n_refused = 7; n_refused < 20; n_refused += 3) {
        const size_t before = fake_search_count(r->fake, "orders_v2");

        fake_search_clear_rules(r->fake);
        fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                          .times = n_refused,
                                                          .status = 400,
                                                          .type = "parse_exception"});
        if (r->delivery == NULL)
            rig_start(r, &(struct delivery_options){
                             .settings = {.workers = 1, .batch_min = 64, .flush_ms = 1000}});
        rig_index_many(r, (int)n_refused * 1000, 64, 100, "body");
        rig_wait_done(r);
        assert_int_equal(fake_search_count(r->fake, "orders_v2"), before + 64);
        assert_int_equal(r->dead.n, 0);
    }
}

static void reject_id(struct rig *r, const char *id)
{
    fake_search_add_rule(
        r->fake, &(struct fake_rule){
                     .act = FAKE_STATUS, .id = id, .status = 400, .type = "parse_exception"});
}

/* It is found in four requests, and tried once more after something that the engine takes. */
static void a_document_is_to_blame_only_if_the_engine_takes_something_in_between(void **state)
{
    struct rig *r = *state;

    reject_id(r, "1");
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1, .batch_min = 4}});
    rig_index_many(r, 1, 4, 100, "body"); /* 1 is refused, then the others are taken */
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 1);
    assert_string_equal(r->dead.last_id, "1");
    assert_in_range(fake_search_requests(r->fake), 6, 7);
    reject_id(r, "8");
    rig_index_many(r, 5, 4, 100, "body"); /* the others are taken, then 8 is refused */
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 2);
    assert_string_equal(r->dead.last_id, "8");
    assert_in_range(fake_search_requests(r->fake), 12, 14);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 6);
    assert_int_equal(rig_events(r, DELIVERY_HELD), 0);
}

/* A newer write is tried anew, and a good one is written. */
static void a_suspect_that_changes_is_written(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .id = "1",
                                                      .times = 3, /* all, a half, alone */
                                                      .status = 400,
                                                      .type = "parse_exception"});
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1, .batch_min = 4}});
    rig_index_many(r, 1, 4, 100, "bad");
    rig_wait_requests(r, 4);
    rig_index(r, 1, 200, "good");
    rig_wait_done(r);
    rig_check(r, 1, 200, "good");
    assert_int_equal(r->dead.n, 0);
}

/* What is kept until the search is over does not wait for a part that nobody sends any more. */
static void
an_index_that_goes_while_a_malformed_document_is_looked_for_lets_all_go(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .id = "1",
                                                      .status = 400,
                                                      .type = "illegal_argument_exception"});
    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .id = "2", .status = 429, .retry_after_s = 60});
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1}}); /* 1 goes first */
    rig_index_many(r, 1, 2, 100, "body");
    rig_wait_requests(r, 3);
    delivery_drop(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 2);
    assert_int_equal(r->dead.n, 0);
}

/* What comes back later leaves an empty part behind, which closes the bisection at once. */
static void what_an_index_that_is_gone_says_of_a_part_keeps_no_other_waiting(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .id = "1",
                                                      .status = 400,
                                                      .type = "illegal_argument_exception"});
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .id = "2",
                                                      .status = 429,
                                                      .retry_after_s = 60,
                                                      .until_cleared = true});
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1}}); /* 1 goes first */
    rig_index_many(r, 1, 2, 100, "body");
    rig_wait_requests(r, 3);
    delivery_drop(r->delivery, STR("orders_v2"));
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 2);
}

static void a_few_bad_documents_do_not_hold_the_index(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.status = 400});
    rig_start(r, NULL);
    rig_index_many(r, 0, 15, 100, "body");
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 15);
    assert_false(rig_is_held(r));
}

static void a_dead_letter_is_stored_before_its_ticket_is_done(void **state)
{
    struct rig *r = *state;

    r->dead.fails = 2;
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "1", .status = 400});
    rig_start(r, NULL);
    rig_index_many(r, 0, 3, 100, "body");
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 1);
    assert_int_equal(r->dead.fails, 0);
    assert_int_equal(r->dead.done_when_stored, 2);
}

static void a_dead_letter_is_taken_back_when_its_document_is_written(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "1", .times = 1, .status = 400});
    r->dead.clear_fails = 1;
    rig_start(r, NULL);
    delivery_note_dead(r->delivery, STR("orders_v2"), STR(""), STR("2"), 7);
    rig_index_many(r, 0, 4, 100, "body");
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 1);
    rig_index(r, 1, 1000, "body");
    rig_wait_done(r);
    rig_wait_cleared(r, 2);
    rig_index(r, 1, 1001, "body");
    rig_index(r, 2, 1001, "body");
    rig_wait_done(r);
    assert_int_equal(r->dead.n_cleared, 2);
}

/* Nobody would ever take it away: no write of that index comes any more. */
static void no_dead_letter_is_stored_of_an_index_that_is_gone(void **state)
{
    struct rig *r = *state;

    r->dead.is_full = true;
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "1", .status = 400});
    rig_start(r, NULL);
    rig_index_many(r, 0, 3, 100, "body");
    rig_wait_held(r, true);
    delivery_drop(r->delivery, STR("orders_v2"));
    rig_wait_held(r, false);
    pthread_mutex_lock(&r->lock);
    r->dead.is_full = false;
    pthread_mutex_unlock(&r->lock);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 1);
    assert_int_equal(r->dead.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_body_that_is_too_large_is_split),
        RIG_TEST(an_id_that_no_engine_takes_is_a_dead_letter_and_holds_nothing_up),
        RIG_TEST(a_single_document_that_is_too_large_is_a_dead_letter),
        RIG_TEST(one_poison_document_among_500_is_one_dead_letter),
        RIG_TEST(a_document_that_spoils_the_whole_request_is_found),
        RIG_TEST(an_engine_that_refused_everything_for_a_while_makes_no_dead_letters),
        RIG_TEST(a_document_is_to_blame_only_if_the_engine_takes_something_in_between),
        RIG_TEST(a_suspect_that_changes_is_written),
        RIG_TEST(an_index_that_goes_while_a_malformed_document_is_looked_for_lets_all_go),
        RIG_TEST(what_an_index_that_is_gone_says_of_a_part_keeps_no_other_waiting),
        RIG_TEST(a_few_bad_documents_do_not_hold_the_index),
        RIG_TEST(a_dead_letter_is_stored_before_its_ticket_is_done),
        RIG_TEST(no_dead_letter_is_stored_of_an_index_that_is_gone),
        RIG_TEST(a_dead_letter_is_taken_back_when_its_document_is_written),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_bad_documents", tests, NULL, NULL);
}
