/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * What answers mean: each item alone, a result that is not known, versions of others.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <string.h>

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

/* The item is answered as a noop of the alias, which is no sign of a moved alias here. */
static void what_a_pipeline_drops_is_deleted_at_its_version(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 100, "body");
    rig_wait_done(r);
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "7", .status = 200, .drops = true});
    rig_index_many(r, 0, 20, 200, "newer");
    rig_fill(r, 7, 50, "older");
    rig_wait_done(r);
    rig_check_gone(r, 7);
    rig_check(r, 6, 206, "newer");
    assert_false(rig_is_held(r));
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 0);
    assert_true(rig_metric(r, "millrace_documents_total{topic=\"shop\",index=\"orders_v2\","
                              "op=\"index\",result=\"dropped\"}") >= 1);
    assert_true(rig_metric(r, "millrace_documents_total{topic=\"shop\",index=\"orders_v2\","
                              "op=\"delete\",result=\"ok\"}") == 0);
    fake_search_clear_rules(r->fake);
    rig_index(r, 7, 300, "back");
    rig_wait_done(r);
    rig_check(r, 7, 300, "back");
}

static void a_dropped_document_whose_answers_are_lost_is_deleted_in_the_end(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    rig_index(r, 7, 100, "body");
    rig_wait_done(r);
    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_RESET, .skip = 1, .times = 2, .applied = true});
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "7", .status = 200, .drops = true});
    rig_index(r, 7, 200, "newer");
    rig_wait_done(r);
    rig_check_gone(r, 7);
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
    assert_int_equal(r->dead.n, 1);
    assert_string_equal(r->dead.last_id, "4");
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
    assert_int_equal(r->dead.last_attempts, 5);
    assert_true(rig_metric(r, "millrace_failed_unexplained_total{cluster=\"search\"}") == 1);
}

/* The engine was away for a while, which is no fault of the document. */
static void
what_failed_for_other_reasons_before_is_no_dead_letter_at_its_first_error(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_STATUS, .times = 6, .status = 503});
    fake_search_add_rule(
        r->fake, &(struct fake_rule){.times = 4, .status = 500, .type = "i_o_exception"});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "body");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(r->dead.n, 0);
}

static void what_is_over_in_time_is_no_dead_letter_however_often_it_could_be_tried(void **state)
{
    struct rig *r = *state;
    const int64_t began_ms = clock_mono_ms();

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.status = 500, .type = "null_pointer_exception"});
    rig_start(r, &(struct delivery_options){.doubtful_ms = 2000});
    rig_index(r, 1, 100, "body");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
    assert_true(clock_mono_ms() - began_ms > 1800);
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

    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 2000}});
    for (unsigned act = FAKE_STATUS; act < FAKE_ITEMS_MIXED; act++) {
        check_ambiguous(r, (enum fake_act)act, false);
        check_ambiguous(r, (enum fake_act)act, true);
    }
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 2 * (FAKE_ITEMS_MIXED - FAKE_STATUS));
    assert_int_equal(fake_search_requests(r->fake), 4 * (FAKE_ITEMS_MIXED - FAKE_STATUS));
}

static uint64_t n_failed(struct rig *r)
{
    return delivery_status(r->delivery).requests_failed;
}

/* G5: whatever it means for the index and its documents. */
static void each_request_that_is_refused_whole_is_counted_as_failed(void **state)
{
    static const int statuses[] = {400, 401, 403, 404, 413, 429, 500, 503};
    struct rig *r = *state;

    rig_start(r, NULL);
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        const struct fake_rule rule = {
            .act = FAKE_STATUS, .times = 1, .status = statuses[i], .type = "parse_exception"};

        fake_search_add_rule(r->fake, &rule);
        rig_index_many(r, 100 * (int)i, 2, 100, "body");
        for (int ms = 0; n_failed(r) == i; ms++) {
            assert_true(ms < 20000);
            rig_sleep(1);
        }
        delivery_probe(r->delivery);
        rig_wait_done(r);
        assert_int_equal(n_failed(r), i + 1);
    }
    assert_int_equal(rig_metric(r, "millrace_bulk_requests_failed_total{cluster=\"search\"} "),
                     ARRAY_LEN(statuses));
}

static void nothing_is_believed_of_an_answer_that_does_not_match(void **state)
{
    static const enum fake_act acts[] = {FAKE_TRUNCATED, FAKE_ITEM_LESS, FAKE_ITEM_MORE};
    struct rig *r = *state;

    rig_start(r, NULL);
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        const struct fake_rule rule = {.act = acts[i], .times = 1};

        fake_search_add_rule(r->fake, &rule);
        rig_index_many(r, 100 * (int)i, 20, 100, "body");
        rig_wait_done(r);
    }
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 60);
    assert_int_equal(delivery_status(r->delivery).bad_responses, 3);
}

/* An index may have a pipeline of its own, which changes their order. */
static void documents_out_of_their_places_are_found_by_their_ids(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_ITEMS_MIXED});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 100, "body");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 20);
    assert_int_equal(delivery_status(r->delivery).bad_responses, 0);
}

static void an_unknown_result_keeps_newer_writes_of_the_document_back(void **state)
{
    struct rig *r = *state;
    size_t n;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT, .times = 2});
    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 1000}});
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

/* The items that were received so far are writes of these versions, one request each, in that
 * order. */
static void check_versions(struct rig *r, const uint64_t *versions, size_t n)
{
    assert_int_equal(fake_search_items(r->fake), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(fake_search_item(r->fake, i).version, versions[i]);
        assert_int_equal(fake_search_item(r->fake, i).request, i + 1);
    }
}

/* A write's answer is lost, and a copy of it is applied when the delete behind it is
 * forgotten. */
static void check_zombie(struct rig *r, void (*forget)(struct fake_search *f))
{
    static const uint64_t versions[] = {10, 10, 12, 12};

    fake_search_add_rule(
        r->fake, &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 3600000});
    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 1000}});
    rig_index(r, 1, 10, "old");
    rig_wait_requests(r, 1);
    rig_delete(r, 1, 12);
    rig_wait_done(r);
    rig_check_gone(r, 1);
    check_versions(r, versions, 3); /* nothing overtakes what has no answer */
    forget(r->fake);
    assert_int_equal(fake_search_raise_zombies(r->fake), 1);
    rig_check(r, 1, 10, "old"); /* it is back */
    rig_wait_count(r, "orders_v2", 0);
    check_versions(r, versions, 4);
}

static void collect_deletes(struct fake_search *f)
{
    fake_search_set_gc_deletes(f, 0);
}

/* F23: after index.gc_deletes. */
static void a_zombie_does_not_bring_back_a_deleted_document(void **state)
{
    check_zombie(*state, collect_deletes);
}

/* F25 */
static void a_zombie_that_comes_after_a_shard_restart_does_not_stay(void **state)
{
    check_zombie(*state, fake_search_restart_shards);
}

/*
 * F24: the log is read again from before a delete that the engine does not know any more.  So
 * nobody refuses the old document; the delete that comes behind it in the log is what counts.
 */
static void check_replay(struct rig *r, void (*forget)(struct fake_search *f))
{
    static const uint64_t versions[] = {10, 12, 10, 12};

    rig_start(r, NULL);
    for (size_t i = 0; i < 2; i++) {
        rig_index(r, 1, 10, "old");
        rig_wait_done(r);
        rig_check(r, 1, 10, "old"); /* the second time as well: it was forgotten */
        rig_delete(r, 1, 12);
        rig_wait_done(r);
        rig_check_gone(r, 1);
        forget(r->fake);
        assert_int_equal(fake_search_count(r->fake, "orders_v2"), 0);
    }
    check_versions(r, versions, ARRAY_LEN(versions));
}

static void a_replay_after_the_delete_was_forgotten_ends_with_the_delete(void **state)
{
    check_replay(*state, collect_deletes);
}

static void a_replay_after_a_shard_restart_ends_with_the_delete(void **state)
{
    check_replay(*state, fake_search_restart_shards);
}

static void a_delete_is_not_repeated_where_no_copy_can_come(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 1000}});
    rig_index(r, 1, 10, "old");
    rig_wait_done(r);
    rig_delete(r, 1, 12);
    rig_wait_done(r);
    rig_sleep(2300); /* it would be repeated after twice the timeout */
    assert_int_equal(fake_search_requests(r->fake), 2);
}

static void a_version_of_our_lineage_supersedes(void **state)
{
    struct rig *r = *state;

    r->versions.stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 1000, "{\"newer\":1}");
    rig_start(r, NULL);
    rig_index(r, 1, 10, "old");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
    rig_check(r, 1, 1000, NULL);
}

static void check_foreign_version(struct rig *r, uint64_t version)
{
    r->versions.stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", version, "{\"foreign\":1}");
    rig_start(r, NULL);
    rig_index(r, 1, 20, "ours");
    rig_wait_held(r, true);
    assert_int_equal(r->reports.last_cure, CURE_VERSION);
    assert_non_null(strstr(r->reports.last_why, "lineage"));
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

    r->versions.stamp_max = 1000;
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

/* Refused once, by what the engine says is stored. */
static void refuse_once(struct rig *r, const char *id, const char *reason)
{
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.id = id,
                                             .times = 1,
                                             .status = 409,
                                             .type = "version_conflict_engine_exception",
                                             .reason = reason});
}

static void a_version_is_an_earlier_copy_only_where_it_is_the_same(void **state)
{
    struct rig *r = *state;

    r->versions.stamp_max = 1000;
    refuse_once(r, "1", "current version [10] is higher or equal");
    refuse_once(r, "2", "current version [9] is higher or equal");
    rig_start(r, NULL);
    rig_index(r, 1, 10, "there already");
    rig_index(r, 2, 10, "refused for nothing, so sent again");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 2);
    rig_check_gone(r, 1);
    rig_check(r, 2, 10, NULL);
}

/* What area updates, or further reads at one position, have put above it says nothing newer. */
static void what_was_read_is_read_again_above_a_version_in_the_gap(void **state)
{
    struct rig *r = *state;

    r->versions.stamp_max = 1000;
    refuse_once(r, "1", "current version [28] is higher or equal");
    refuse_once(r, "2", "current version [29] is higher or equal");
    rig_start(r, NULL);
    rig_set_row(r, 1, "at the end of the gap");
    rig_set_row(r, 2, "behind it");
    rig_refresh(r, 1, 10);
    rig_refresh(r, 2, 10);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
    rig_check(r, 1, 29, NULL);
    rig_check_gone(r, 2);
}

static void refuse_with_no_version(struct rig *r)
{
    r->versions.stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 500, "{\"newer\":1}");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.id = "1",
                                             .status = 409,
                                             .type = "version_conflict_engine_exception",
                                             .reason = "no number here"});
}

/* It tells nothing, for as long as it is away. */
static void
an_engine_that_is_away_when_it_is_asked_for_a_version_breaks_no_lineage(void **state)
{
    struct rig *r = *state;

    refuse_with_no_version(r);
    fake_search_fail_gets(r->fake, 5, 503);
    rig_start(r, NULL);
    rig_index(r, 1, 10, "old");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
    assert_false(rig_is_held(r));
}

static void an_engine_that_answers_and_does_not_tell_the_version_stops_the_index(void **state)
{
    struct rig *r = *state;

    refuse_with_no_version(r);
    fake_search_fail_gets(r->fake, 5, 404);
    rig_start(r, NULL);
    rig_index(r, 1, 10, "old");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->reports.last_why, "does not name"));
    delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
    rig_wait_done(r);
}

static void a_fill_that_is_refused_is_superseded_whatever_is_there(void **state)
{
    struct rig *r = *state;

    r->versions.stamp_max = 1000;
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

/* Nobody else writes at its version, so that it is there itself. */
static void a_fill_whose_answer_was_lost_is_delivered_when_it_is_there(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_RESET, .times = 1, .applied = true});
    rig_start(r, NULL);
    rig_fill(r, 1, 10, "fill");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(fake_search_requests(r->fake), 2);
    rig_check(r, 1, 10, "fill");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(every_document_arrives_and_every_ticket_is_done),
        RIG_TEST(what_a_pipeline_drops_is_deleted_at_its_version),
        RIG_TEST(a_dropped_document_whose_answers_are_lost_is_deleted_in_the_end),
        RIG_TEST(a_busy_item_is_sent_again_alone),
        RIG_TEST(an_answer_with_every_kind_of_item_is_taken_item_by_item),
        RIG_TEST(what_always_fails_without_a_reason_is_a_dead_letter_in_the_end),
        RIG_TEST(what_failed_for_other_reasons_before_is_no_dead_letter_at_its_first_error),
        RIG_TEST(what_is_over_in_time_is_no_dead_letter_however_often_it_could_be_tried),
        RIG_TEST(whatever_happens_to_an_answer_the_same_write_is_repeated),
        RIG_TEST(each_request_that_is_refused_whole_is_counted_as_failed),
        RIG_TEST(documents_out_of_their_places_are_found_by_their_ids),
        RIG_TEST(nothing_is_believed_of_an_answer_that_does_not_match),
        RIG_TEST(an_unknown_result_keeps_newer_writes_of_the_document_back),
        RIG_TEST(a_zombie_does_not_bring_back_a_deleted_document),
        RIG_TEST(a_zombie_that_comes_after_a_shard_restart_does_not_stay),
        RIG_TEST(a_replay_after_the_delete_was_forgotten_ends_with_the_delete),
        RIG_TEST(a_replay_after_a_shard_restart_ends_with_the_delete),
        RIG_TEST(a_delete_is_not_repeated_where_no_copy_can_come),
        RIG_TEST(a_version_of_our_lineage_supersedes),
        RIG_TEST(a_version_above_all_stamps_stops_the_index),
        RIG_TEST(a_version_below_our_lineage_stops_the_index),
        RIG_TEST(a_version_is_an_earlier_copy_only_where_it_is_the_same),
        RIG_TEST(what_was_read_is_read_again_above_a_version_in_the_gap),
        RIG_TEST(a_version_that_the_refusal_does_not_name_is_asked_for),
        RIG_TEST(an_engine_that_is_away_when_it_is_asked_for_a_version_breaks_no_lineage),
        RIG_TEST(an_engine_that_answers_and_does_not_tell_the_version_stops_the_index),
        RIG_TEST(a_fill_that_is_refused_is_superseded_whatever_is_there),
        RIG_TEST(a_fill_whose_answer_was_lost_is_delivered_when_it_is_there),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_answers", tests, NULL, NULL);
}
