/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * When requests are made and how large: batches, reading again, room, draining, metrics.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/metric/metric.h"
#include "sync/checkpoint/checkpoint.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    assert_true(r->reads.n_batches < 1000); /* several at a time, when they come quickly */
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1000);
}

static void a_document_that_stays_is_as_it_was_until_what_was_read_is_sent(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    rig_index(r, 1, 10, "there");
    rig_wait_done(r);
    r->reads.stays = true;
    rig_refresh(r, 1, 20);
    rig_wait_gone(r, 1);
    rig_check(r, 1, 10, "there");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(r->gone.n_tickets, 1);

    rig_submit(r, &(struct doc_write){.target = target_ref(r->target),
                                      .op = DOC_DELETE,
                                      .reread = true,
                                      .version = r->gone.stamp,
                                      .id = STR("1"),
                                      .key = STR("1")});
    rig_wait_count(r, "orders_v2", 0);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    ticket_release(r->gone.tickets[0], OUTCOME_DELIVERED);
    rig_wait_done(r);
}

static void a_row_that_came_again_outlives_the_delete_of_a_document_that_stayed(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    rig_index(r, 1, 10, "there");
    rig_wait_done(r);
    r->reads.stays = true;
    rig_refresh(r, 1, 20);
    rig_wait_gone(r, 1);
    rig_index(r, 1, 30, "again");
    rig_submit(r, &(struct doc_write){.target = target_ref(r->target),
                                      .op = DOC_DELETE,
                                      .reread = true,
                                      .version = r->gone.stamp,
                                      .id = STR("1"),
                                      .key = STR("1")});
    ticket_release(r->gone.tickets[0], OUTCOME_DELIVERED);
    rig_wait_done(r);
    rig_check(r, 1, 30, "again");
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

    r->reads.fails = 2;
    rig_start(r, NULL);
    rig_set_row(r, 1, "row");
    rig_refresh(r, 1, 10);
    rig_wait_done(r);
    rig_check(r, 1, 0, "row");
    rig_set_row(r, 2, "reject");
    rig_refresh(r, 2, 20);
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 1);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
}

static void a_read_refused_by_the_gap_is_read_again_and_written_above(void **state)
{
    struct rig *r = *state;

    r->versions.stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 105, "{\"further\":1}");
    rig_start(r, NULL);
    rig_set_row(r, 1, "row");
    rig_refresh(r, 1, 100); /* stamped 100, refused by 105: a further body of position 100 */
    rig_wait_done(r);
    rig_check(r, 1, 106, "row");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

/* 18 versions belong to further bodies of position 100; what is above is another change. */
static void the_last_version_of_the_gap_is_of_it_and_the_next_is_not(void **state)
{
    struct rig *r = *state;

    r->versions.stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 118, "{\"further\":1}");
    fake_search_put(r->fake, "orders_v2", "2", 119, "{\"text\":\"newer\"}");
    rig_start(r, NULL);
    rig_set_row(r, 1, "row");
    rig_set_row(r, 2, "row");
    rig_refresh(r, 1, 100);
    rig_refresh(r, 2, 100);
    rig_wait_done(r);
    rig_check(r, 1, 119, "row");
    rig_check(r, 2, 119, "newer");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
}

/* The log of the documents' own topic stands still at 100. */
static void a_thousand_changes_of_another_source_are_all_written_at_a_version_that_stands_still(
    void **state)
{
    struct rig *r = *state;
    char text[16];

    rig_start(r, NULL);
    for (int i = 1; i <= 1000; i++) {
        snprintf(text, sizeof(text), "%d", i);
        rig_set_row(r, 1, text);
        rig_refresh_fresh(r, 1, 101);
        if (i % 10 == 0) {
            rig_wait_done(r);
            rig_check(r, 1, 101, text);
        }
    }
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 0);
    rig_index(r, 1, 119, "the next event");
    rig_wait_done(r);
    rig_check(r, 1, 119, "the next event");
}

static void what_another_source_changed_is_read_again_beyond_a_newer_version(void **state)
{
    struct rig *r = *state;

    r->versions.stamp_max = 1000;
    fake_search_put(r->fake, "orders_v2", "1", 500, "{\"written\":\"before the restart\"}");
    rig_start(r, NULL);
    rig_set_row(r, 1, "row");
    rig_refresh_fresh(r, 1, 100); /* the reader has not come to 500 again */
    rig_wait_done(r);
    rig_check(r, 1, 500, "row");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

/* The bulk is applied once its answer is given up, when newer ones were written. */
static void a_late_copy_does_not_undo_what_another_source_changed_meanwhile(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 600});
    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 200}});
    rig_set_row(r, 1, "old");
    rig_refresh_fresh(r, 1, 101);
    rig_wait_requests(r, 1);
    rig_set_row(r, 1, "new");
    rig_refresh_fresh(r, 1, 101);
    rig_wait_done(r);
    rig_check(r, 1, 102, "new");
    rig_sleep(1000);
    rig_check(r, 1, 102, "new");
}

/* A copy of the first, at 101, may come for two minutes: it would be refused. */
static void a_late_copy_does_not_undo_what_another_source_changes_afterwards(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_RESET, .times = 1});
    rig_start(r, NULL);
    rig_set_row(r, 1, "old");
    rig_refresh_fresh(r, 1, 101);
    rig_wait_done(r);
    rig_check(r, 1, 101, "old");
    rig_set_row(r, 1, "new");
    rig_refresh_fresh(r, 1, 101);
    rig_wait_done(r);
    rig_check(r, 1, 102, "new");
}

static void submitting_waits_while_too_much_is_held(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 401});
    rig_start(
        r, &(struct delivery_options){.settings = {.bytes_max = 100000, .purge = PURGE_OFF}});
    rig_push(r, &p, 2000, "body");
    rig_wait_held(r, true);
    rig_sleep(200);
    assert_true(delivery_status(r->delivery).bytes_held < 300000);
    assert_true(rig_pushed(&p) < 1000);
    rig_wait_blocked(r, 1);
    assert_true(rig_metric(r, "millrace_blocked_callers_total{cluster=\"search\"} ") >= 1);
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
    fake_search_add_rule(r->fake, &(struct fake_rule){.until_cleared = true});
    rig_start(r, &(struct delivery_options){
                     .settings = {.bytes_max = 1000000, .batch_bytes = 100000}});
    rig_push(r, &p, 3000, text);
    rig_wait_blocked(r, 1);
    most = delivery_status(r->delivery).bytes_held;
    fake_search_clear_rules(r->fake);
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_ANSWER, .delay_ms = 100});
    while (rig_pushed(&p) < 3000) {
        const size_t held = delivery_status(r->delivery).bytes_held;

        most = held > most ? held : most;
        rig_sleep(1);
    }
    pthread_join(p.thread, NULL);
    rig_wait_done(r);
    assert_true(most > 750000);
    assert_true(most <
                1000000 + 2 * 131072); /* one body, grown in powers of two, may be more */
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 3000);
}

static void read_all(struct rig *r, size_t bytes_max, size_t len)
{
    char text[1000] = {0};

    memset(text, 'x', len);
    rig_start(r, &(struct delivery_options){.settings = {.bytes_max = bytes_max}});
    for (int i = 0; i < 300; i++) {
        rig_set_row(r, i, text);
        rig_refresh(r, i, 10);
    }
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 300);
}

static void reads_never_wait_for_room_that_only_they_can_make(void **state)
{
    read_all(*state, 1, 3);
}

/* Each counts for its index, and all at once are more than may be held. */
static void what_is_read_is_sent_though_there_is_no_room_for_its_request(void **state)
{
    read_all(*state, 8000, 900);
}

/* Versions 10 are read, those of 20 come with their bodies while others are read. */
static void what_a_read_leaves_is_read_by_the_next_and_a_later_change_wins(void **state)
{
    enum { N = 2000 };
    struct rig *r = *state;

    r->reads.leaves = 70;
    rig_start(r, &(struct delivery_options){.settings = {.bytes_max = 20000}});
    for (int i = 0; i < N; i++)
        rig_set_row(r, i, i % 7 == 0 ? NULL : "row");
    for (int i = 0; i < N; i++) {
        rig_refresh(r, i, 10);
        if (i % 10 == 1)
            rig_index(r, i - 1, 20, "later");
    }
    rig_wait_done(r);
    for (int i = 0; i < N; i++) {
        if (i % 10 == 0)
            rig_check(r, i, 20, "later");
        else if (i % 7 == 0)
            rig_check_gone(r, i);
        else
            rig_check(r, i, 10, "row");
    }
    pthread_mutex_lock(&r->lock);

    const size_t n_left = r->reads.n_left;

    pthread_mutex_unlock(&r->lock);
    rig_wait_read(&r->reads, n_left + N - N / 10);
    assert_in_range(__atomic_load_n(&r->reads.n_documents, __ATOMIC_SEQ_CST) - n_left,
                    N - N / 10, N);
    assert_true(n_left > 0);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED) + rig_done(r, OUTCOME_SUPERSEDED),
                     N + N / 10);
}

/* Each read brings one document. */
static void what_a_read_leaves_is_no_failed_attempt_and_ends_with_its_index(void **state)
{
    enum { N = 300 };
    struct rig *r = *state;

    r->reads.leaves = 100;
    rig_start(r, NULL);
    for (int i = 0; i < N; i++)
        rig_set_row(r, i, "row");
    for (int i = 0; i < N; i++)
        rig_refresh_gathered(r, i, 10);
    rig_wait_read(&r->reads, 3);
    for (int i = 0; i < N; i++) /* waits for nothing, as none has failed */
        delivery_put_back(r->delivery, STR("orders_v2"), STR(""), STR("7"));
    delivery_drop(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    rig_wait_empty(r);
    assert_true(rig_done(r, OUTCOME_DEFERRED) > 0);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED) + rig_done(r, OUTCOME_DELIVERED), N);
    assert_int_equal(r->purged.n + r->dead.n, 0);
}

static void draining_sends_everything_that_was_submitted(void **state)
{
    struct rig *r = *state;

    rig_start(r,
              &(struct delivery_options){.settings = {.batch_min = 1000, .flush_ms = 60000}});
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

    rig_start(r, &(struct delivery_options){.settings = {.batch_min = 10, .flush_ms = 2000}});
    rig_index_many(r, 0, 9, 100, "body");
    rig_wait_done(r);
    assert_true(clock_mono_ms() - start_ms >= 2000);
    start_ms = clock_mono_ms();
    rig_index_many(r, 0, 10, 200, "body");
    rig_wait_done(r);
    assert_true(clock_mono_ms() - start_ms < 2000);
}

static void draining_gives_up_at_its_deadline(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT});
    rig_start(r, &(struct delivery_options){.settings = {.drain_cancel_timeout_ms = 50}});
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
    checkpoint_unref(cp);
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

    /* While the first one waits, more than one request fills, however slow this machine is. */
    fake_search_add_rule(r->fake, &(struct fake_rule){.times = 1, .delay_ms = 5000});
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(documents_to_refresh_are_read_and_written_at_their_stamp),
        RIG_TEST(a_document_that_stays_is_as_it_was_until_what_was_read_is_sent),
        RIG_TEST(a_row_that_came_again_outlives_the_delete_of_a_document_that_stayed),
        RIG_TEST(a_hot_document_is_written_while_it_changes_and_ends_right),
        RIG_TEST(what_a_read_leaves_is_read_by_the_next_and_a_later_change_wins),
        RIG_TEST(what_a_read_leaves_is_no_failed_attempt_and_ends_with_its_index),
        RIG_TEST(a_read_that_fails_is_tried_again_and_one_that_cannot_be_is_dead),
        RIG_TEST(a_read_refused_by_the_gap_is_read_again_and_written_above),
        RIG_TEST(the_last_version_of_the_gap_is_of_it_and_the_next_is_not),
        RIG_TEST(
            a_thousand_changes_of_another_source_are_all_written_at_a_version_that_stands_still),
        RIG_TEST(what_another_source_changed_is_read_again_beyond_a_newer_version),
        RIG_TEST(a_late_copy_does_not_undo_what_another_source_changed_meanwhile),
        RIG_TEST(a_late_copy_does_not_undo_what_another_source_changes_afterwards),
        RIG_TEST(submitting_waits_while_too_much_is_held),
        RIG_TEST(bodies_of_requests_count_as_held_and_wait_for_room),
        RIG_TEST(reads_never_wait_for_room_that_only_they_can_make),
        RIG_TEST(what_is_read_is_sent_though_there_is_no_room_for_its_request),
        RIG_TEST(draining_sends_everything_that_was_submitted),
        RIG_TEST(a_batch_below_the_minimum_waits_for_the_flush_interval),
        RIG_TEST(draining_gives_up_at_its_deadline),
        RIG_TEST(stopping_leaves_the_checkpoint_before_what_is_not_done),
        RIG_TEST(bodies_can_be_compressed),
        RIG_TEST(the_first_change_of_an_idle_index_goes_at_once),
        RIG_TEST(under_load_requests_are_few_and_large),
        RIG_TEST(what_happened_can_be_seen_in_the_metrics),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery", tests, NULL, NULL);
}
