/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * The high-water mark, and what is purged when an index that takes nothing fills the queues.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/search/search.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Nothing is tried again until delivery_probe(): of a broken lineage there is no other way. */
static void hold(struct rig *r)
{
    fake_search_put(r->fake, "orders_v2", "0", 100, "{\"text\":\"foreign\"}");
    r->versions.stamp_max = 50;
    rig_index(r, 0, 10, "first");
    rig_wait_held(r, true);
}

static void heal(struct rig *r)
{
    pthread_mutex_lock(&r->lock);
    r->versions.stamp_max = 0;
    pthread_mutex_unlock(&r->lock);
    delivery_probe(r->delivery);
}

static struct delivery_options one_worker(enum purge_strategy how, size_t mark)
{
    return (struct delivery_options){
        .settings = {
            .workers = 1, .high_water_mark = mark == 0 ? RIG_MARK_ZERO : mark, .purge = how}};
}

/* Somebody who hands over one change of each document from `from` to `to`. */
struct caller {
    struct rig *rig;
    struct target *target;
    int from, to, n_returned; /* atomic */
    const char *text;
    pthread_t thread;
};

static void *call(void *arg)
{
    struct caller *c = arg;

    for (int id = c->from; id < c->to; id++) {
        rig_index_to(c->rig, c->target, id, 10, c->text);
        __atomic_fetch_add(&c->n_returned, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void begin(struct caller *c, struct rig *r, int from, int to)
{
    *c = (struct caller){.rig = r, .target = r->target, .from = from, .to = to, .text = "then"};
    assert_int_equal(pthread_create(&c->thread, NULL, call, c), 0);
}

static int returned(struct caller *c)
{
    return __atomic_load_n(&c->n_returned, __ATOMIC_SEQ_CST);
}

static void call_all(struct rig *r, int from, int to)
{
    struct caller c;

    begin(&c, r, from, to);
    pthread_join(c.thread, NULL);
}

/* T2: as many as the mark return, the next one is queued and waits. */
static void a_caller_waits_after_its_change_is_queued_once_the_mark_is_reached(void **state)
{
    (void)state;
    for (int mark = 1; mark <= 10; mark++) {
        struct rig *r = rig_new();
        const struct delivery_options opt = one_worker(PURGE_OFF, (size_t)mark);
        struct caller c;

        rig_start(r, &opt);
        hold(r); /* the first of them */
        begin(&c, r, 1, 20);
        rig_wait_blocked(r, 1);
        rig_wait_queued(r, (uint64_t)mark + 1);
        assert_int_equal(returned(&c), mark - 1);
        heal(r);
        pthread_join(c.thread, NULL);
        rig_wait_done(r);
        assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 19);
        assert_int_equal(r->purged.n, 0);
        rig_free(r);
    }
}

static void with_a_mark_of_zero_each_caller_waits_for_its_own_change(void **state)
{
    struct rig *r = *state;
    const struct delivery_options opt = one_worker(PURGE_ONE, 0);

    rig_start(r, &opt);
    for (int i = 0; i < 20; i++) {
        rig_index(r, i, 1, "x");
        assert_int_equal(rig_done(r, OUTCOME_DELIVERED), i + 1);
    }
}

/* What is there when the index is tried is not purged, or it would never be tried. */
static void with_a_mark_of_zero_a_held_index_comes_back(void **state)
{
    struct rig *r = *state;
    const struct delivery_options opt = one_worker(PURGE_ONE, 0);

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 403});
    rig_set_row(r, 1, "now");
    rig_start(r, &opt);
    rig_index(r, 1, 10, "then");
    rig_wait_held(r, true);
    rig_index(r, 1, 20, "then");
    rig_wait_purged(r, 1);
    fake_search_clear_rules(r->fake);
    for (uint64_t version = 30; rig_is_held(r); version += 10) {
        assert_true(version < 10000);
        rig_refresh(r, 1, version);
        rig_sleep(20);
    }
    rig_wait_done(r);
}

static void batches_of_one_document_make_each_caller_wait_for_the_index(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.settings = {.batch_min = 1, .batch_max = 1}});
    for (int i = 0; i < 20; i++) {
        rig_index(r, i, 1, "x");
        assert_int_equal(rig_done(r, OUTCOME_DELIVERED), i + 1);
    }
}

/* T9, F62: the mark is 4, the first four wait, and the fifth comes. */
static struct rig *with_four_that_wait(enum purge_strategy how)
{
    struct rig *r = rig_new();
    const struct delivery_options opt = one_worker(how, 4);

    for (int id = 0; id <= 4; id++)
        rig_set_row(r, id, "now");
    rig_start(r, &opt);
    hold(r);
    call_all(r, 1, 4);
    rig_wait_queued(r, 4);
    assert_int_equal(r->purged.n, 0);
    return r;
}

/* Those from `kept` on were never purged; the others are read and written again. */
static void check_all_come(struct rig *r, int kept)
{
    heal(r);
    rig_wait_held(r, false);
    assert_int_equal(r->purged.n, kept);
    for (int id = 0; id < kept; id++)
        assert_int_equal(r->purged.ids[id], id);
    rig_repair(r, 200);
    rig_wait_done(r);
    for (int id = 0; id <= 4; id++)
        rig_check(r, id, id < kept ? 200 : 10, id < kept ? "now" : "then");
    assert_int_equal(rig_done(r, OUTCOME_PURGED), kept);
    assert_int_equal(r->purged.n_told, kept);
    rig_free(r);
}

static void purge_one_lets_the_oldest_change_go(void **state)
{
    struct rig *r = with_four_that_wait(PURGE_ONE);

    (void)state;
    call_all(r, 4, 5);
    rig_wait_purged(r, 1);
    check_all_come(r, 1);
}

static void purge_index_lets_all_go_that_waited_but_not_what_comes(void **state)
{
    struct rig *r = with_four_that_wait(PURGE_INDEX);

    (void)state;
    call_all(r, 4, 5);
    rig_wait_purged(r, 4);
    check_all_come(r, 4);
}

static void purge_all_lets_all_go_that_waited_but_not_what_comes(void **state)
{
    struct rig *r = with_four_that_wait(PURGE_ALL);

    (void)state;
    call_all(r, 4, 5);
    rig_wait_purged(r, 4);
    check_all_come(r, 4);
}

static void with_purge_off_nothing_goes_and_the_caller_waits(void **state)
{
    struct rig *r = with_four_that_wait(PURGE_OFF);
    struct caller c;

    (void)state;
    begin(&c, r, 4, 5);
    rig_wait_blocked(r, 1);
    rig_wait_queued(r, 5);
    assert_int_equal(returned(&c), 0);
    assert_true(rig_metric(r, "millrace_blocked_callers_total{cluster=\"search\"} ") == 1);
    heal(r);
    pthread_join(c.thread, NULL);
    rig_wait_done(r);
    assert_int_equal(r->purged.n, 0);
    for (int id = 1; id <= 4; id++)
        rig_check(r, id, 10, "then");
    rig_free(r);
}

static void callers_that_waited_before_the_index_was_held_go_on(void **state)
{
    struct rig *r = *state;
    const struct delivery_options opt = one_worker(PURGE_ONE, 4);

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .delay_ms = 300,
                                                      .status = 401,
                                                      .type = "security_exception"});
    rig_start(r, &opt);
    call_all(r, 0, 20);
    assert_true(rig_is_held(r));
    assert_true(r->purged.n >= 15);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_PURGED), r->purged.n);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 20 - r->purged.n);
}

static void what_is_purged_is_done_only_when_its_key_is_stored(void **state)
{
    struct rig *r = with_four_that_wait(PURGE_INDEX);
    struct caller c;

    (void)state;
    r->purged.fails = 4;
    begin(&c, r, 4, 5);
    rig_wait_purged(r, 4);
    pthread_join(c.thread, NULL);
    assert_int_equal(r->purged.fails, 0);
    assert_int_equal(r->purged.done_when_stored, 0);
    check_all_come(r, 4);
}

static void what_a_build_writes_is_not_purged(void **state)
{
    struct rig *r = *state;
    const struct delivery_options opt = one_worker(PURGE_ALL, 10);

    rig_start(r, &opt);
    hold(r);
    for (int id = 1; id < 10; id++)
        rig_fill(r, id, 1, "row");
    call_all(r, 10, 20);
    heal(r);
    rig_wait_done(r);
    for (int id = 1; id < 10; id++)
        rig_check(r, id, 1, "row");
    for (size_t i = 0; i < r->purged.n; i++)
        assert_true(r->purged.ids[i] == 0 || r->purged.ids[i] >= 10);
}

static void where_documents_lay_is_purged_too_and_left_when_it_is_asked_for_again(void **state)
{
    struct rig *r = *state;
    const struct delivery_options opt = one_worker(PURGE_INDEX, 4);

    rig_start(r, &opt);
    for (int id = 1; id <= 4; id++) {
        rig_set_row(r, id, "now");
        rig_set_place(r, id, "new");
    }
    hold(r);
    for (int id = 1; id <= 3; id++)
        rig_leave(r, id, 20, "old");
    rig_wait_queued(r, 4);
    rig_leave(r, 4, 20, "old");
    rig_wait_purged(r, 4);
    heal(r);
    rig_wait_held(r, false);
    rig_repair(r, 200);
    rig_wait_done(r);
    for (int id = 1; id <= 3; id++)
        rig_check(r, id, 200, "now");
}

static void what_has_no_answer_is_purged_as_such(void **state)
{
    struct rig *r = *state;
    struct delivery_options opt = one_worker(PURGE_INDEX, 2);

    opt.settings.request_timeout_ms = 200;
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_SILENT, .times = 1});
    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .status = 401, .type = "security_exception"});
    rig_start(r, &opt);
    rig_index(r, 0, 10, "then");
    rig_wait_held(r, true);
    call_all(r, 1, 4);
    rig_wait_purged(r, 1);
    assert_int_equal(r->purged.ids[0], 0);
    assert_int_equal(r->purged.n_unanswered, 1);
}

static void too_many_bytes_are_purged_as_too_many_changes_are(void **state)
{
    static char text[20000];
    struct rig *r = *state;
    struct caller c;

    memset(text, 'x', sizeof(text) - 1);
    rig_start(r, &(struct delivery_options){.settings = {.bytes_max = 1 << 20}});
    hold(r);
    c = (struct caller){.rig = r, .target = r->target, .from = 1, .to = 300, .text = text};
    assert_int_equal(pthread_create(&c.thread, NULL, call, &c), 0);
    pthread_join(c.thread, NULL);
    assert_true(r->purged.n > 200);
    heal(r);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_PURGED) + rig_done(r, OUTCOME_DELIVERED) +
                         rig_done(r, OUTCOME_SUPERSEDED),
                     300);
}

/* F62: the fuse is blown, and what waits is to be read only. */
static void what_waits_for_a_blown_fuse_is_purged_and_comes_when_it_has_healed(void **state)
{
    struct rig *r = *state;
    struct delivery_options opt = one_worker(PURGE_INDEX, 10);

    opt.settings.failures = 3;
    opt.settings.reset_after_ms = 100;
    fake_search_add_rule(
        r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 503, .type = "unavailable"});
    rig_start(r, &opt);
    for (int id = 0; id < 100; id++) {
        rig_set_row(r, id, "now");
        rig_refresh(r, id, 10);
    }
    rig_wait_purged(r, 80);
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    while (r->purged.n > 0) {
        rig_repair(r, 200);
        rig_wait_done(r);
    }
    rig_wait_count(r, "orders_v2", 100);
}

/* F62: everything, with a second index beside. */
static void
a_flood_of_a_held_index_lets_the_others_go_on_and_all_of_it_comes_later(void **state)
{
    struct rig *r = *state;
    struct target *healthy =
        target_new(STR("well_v1"), STR("well_v1_write"), STR("shop.well"), STR("shop"));
    uint64_t n_purged = 0;

    fake_search_create(r->fake, "well_v1", "well_v1_write");
    rig_start(r, &(struct delivery_options){.settings = {.high_water_mark = 20}});
    hold(r);
    for (int id = 1; id <= 3000; id++) {
        rig_set_row(r, id, "now");
        rig_index(r, id, 10, "then");
        rig_index_to(r, healthy, id, 10, "well");
    }
    rig_wait_count(r, "well_v1", 3000);
    assert_true(rig_is_held(r));
    assert_true(r->purged.n >= 2500);
    heal(r);
    rig_wait_held(r, false);
    while (r->purged.n > 0) {
        n_purged += r->purged.n;
        rig_repair(r, 200);
        rig_wait_done(r);
    }
    assert_int_equal(rig_done(r, OUTCOME_PURGED), n_purged);
    rig_wait_count(r, "orders_v2", 3000); /* the first one's row is not there */
    target_unref(healthy);
}

static void put_back(struct rig *r, int id)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    delivery_put_back(r->delivery, STR("orders_v2"), (struct str){0}, str_from(name));
}

/* Until it is. */
static void put_back_each(struct rig *r, enum outcome how)
{
    for (int i = 0; rig_done(r, how) == 0; i++) {
        assert_true(i < 2000);
        put_back(r, 7);
        put_back(r, 8);
        put_back(r, 9);
        rig_sleep(10);
    }
}

static void a_repair_that_cannot_be_read_is_given_up_and_is_not_purged_again(void **state)
{
    struct rig *r = *state;

    rig_set_row(r, 7, "text");
    rig_start(r, NULL);
    r->purged.ids[r->purged.n++] = 7;
    r->reads.fails = 1000000;
    rig_repair(r, 100);
    put_back_each(r, OUTCOME_DEFERRED);
    assert_int_equal(r->purged.n, 0);
    rig_refresh_fresh(r, 7, 100); /* whoever asks so has no other copy of it */
    put_back_each(r, OUTCOME_PURGED);
    rig_wait_done(r);
    assert_int_equal(r->purged.n, 1);
}

static void f30_what_a_red_shard_does_not_take_of_a_repair_is_put_back(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.id = "7", .status = 503, .type = "unavailable_shards_exception"});
    for (int i = 7; i < 9; i++)
        rig_set_row(r, i, "text");
    rig_start(r, NULL);
    rig_refresh_fresh(r, 7, 10);
    rig_refresh_fresh(r, 8, 10);
    put_back_each(r, OUTCOME_PURGED);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
    assert_int_equal(r->purged.n, 1);
    assert_int_equal(r->purged.ids[0], 7);
    assert_int_equal(r->purged.n_unanswered, 1);
    fake_search_clear_rules(r->fake);
    rig_repair(r, 200);
    rig_wait_done(r);
    rig_check(r, 7, 0, "text");
}

/* With what an index that takes nothing has it is tried. */
static void what_waits_for_a_blown_fuse_is_not_put_back(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.act = FAKE_STATUS, .status = 403, .type = "security_exception"});
    rig_start(r, NULL);
    rig_index(r, 1, 10, "text");
    rig_wait_held(r, true);
    put_back(r, 1);
    rig_sleep(300);
    assert_int_equal(r->purged.n, 0);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

#define N_AT_ONCE 500

/* Each was written, and nothing was heard of it; then it was repeated. */
static void lose_answers(struct rig *r, int n)
{
    for (int id = 0; id < n; id += N_AT_ONCE) {
        fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_RESET, .times = 1});
        rig_index_many(r, id, N_AT_ONCE, 1000, "text");
        rig_wait_done(r);
        fake_search_clear_rules(r->fake);
    }
}

static void of_very_many_deletes_to_be_repeated_none_is_forgotten(void **state)
{
    struct rig *r = *state;
    const int n = 22 * N_AT_ONCE;

    rig_start(r, &(struct delivery_options){.settings = {.workers = 1}});
    lose_answers(r, n);
    for (int id = 0; id < n; id++)
        rig_delete(r, id, 100000);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 0);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), n + 10000);
    assert_int_equal(rig_done(r, OUTCOME_PURGED), n - 10000);
    assert_int_equal(r->purged.n_unanswered, n - 10000);
}

/* The log has no event of it, so neither has the store a delete that is repeated after a
 * kill. */
static void a_delete_to_be_repeated_that_only_a_read_told_is_stored_by_key(void **state)
{
    struct rig *r = *state;

    rig_set_row(r, 1, "old");
    fake_search_add_rule(
        r->fake, &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 3600000});
    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 1000}});
    rig_refresh(r, 1, 10);
    rig_wait_requests(r, 1);
    rig_set_row(r, 1, NULL);
    rig_refresh(r, 1, 12);
    rig_wait_done(r);
    rig_check_gone(r, 1);
    assert_int_equal(rig_done(r, OUTCOME_PURGED), 1);
    assert_int_equal(r->purged.n_unanswered, 1);
    assert_int_equal(delivery_repeats(r->delivery), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_waits_after_its_change_is_queued_once_the_mark_is_reached),
        RIG_TEST(with_a_mark_of_zero_each_caller_waits_for_its_own_change),
        RIG_TEST(with_a_mark_of_zero_a_held_index_comes_back),
        RIG_TEST(batches_of_one_document_make_each_caller_wait_for_the_index),
        cmocka_unit_test(purge_one_lets_the_oldest_change_go),
        cmocka_unit_test(purge_index_lets_all_go_that_waited_but_not_what_comes),
        cmocka_unit_test(purge_all_lets_all_go_that_waited_but_not_what_comes),
        cmocka_unit_test(with_purge_off_nothing_goes_and_the_caller_waits),
        RIG_TEST(callers_that_waited_before_the_index_was_held_go_on),
        cmocka_unit_test(what_is_purged_is_done_only_when_its_key_is_stored),
        RIG_TEST(what_a_build_writes_is_not_purged),
        RIG_TEST(where_documents_lay_is_purged_too_and_left_when_it_is_asked_for_again),
        RIG_TEST(what_has_no_answer_is_purged_as_such),
        RIG_TEST(too_many_bytes_are_purged_as_too_many_changes_are),
        RIG_TEST(what_waits_for_a_blown_fuse_is_purged_and_comes_when_it_has_healed),
        RIG_TEST(a_flood_of_a_held_index_lets_the_others_go_on_and_all_of_it_comes_later),
        RIG_TEST(a_repair_that_cannot_be_read_is_given_up_and_is_not_purged_again),
        RIG_TEST(f30_what_a_red_shard_does_not_take_of_a_repair_is_put_back),
        RIG_TEST(what_waits_for_a_blown_fuse_is_not_put_back),
        RIG_TEST(of_very_many_deletes_to_be_repeated_none_is_forgotten),
        RIG_TEST(a_delete_to_be_repeated_that_only_a_read_told_is_stored_by_key),
    };
    return cmocka_run_group_tests_name("delivery_purge", tests, NULL, NULL);
}
