/*
 * Deletes that are repeated from the store, against a search engine in memory: a daemon knew of
 * a copy that may come late, and was killed.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/build/stored_deletes.h"
#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/store/store.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SETTLE_MS 20000

struct bench {
    struct rig *rig;
    struct store *store;
    struct stop stop;
    struct err err;
    uint64_t term;
    char path[40];
};

static int set_up(void **state)
{
    static struct bench b;

    b = (struct bench){.rig = rig_new(), .path = "/tmp/millrace-test.XXXXXX"};

    const int fd = mkstemp(b.path);

    assert_true(fd >= 0);
    close(fd);
    stop_init(&b.stop);
    assert_true(store_open_sqlite(&b.store, b.path, &b.err));
    assert_true(store_take_term(b.store, STR("topic/shop"), &b.term, &b.err));
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    char lock[sizeof(b->path) + 5];

    rig_free(b->rig);
    store_close(b->store);
    stop_fini(&b->stop);
    snprintf(lock, sizeof(lock), "%s.lock", b->path);
    unlink(lock);
    unlink(b->path);
    return 0;
}

static void store_deletes(struct bench *b, const struct stored_tombstone *t, size_t n)
{
    const struct stored_checkpoint cp = {.topic = STR("shop"), .state = STR("running")};

    assert_true(store_save_checkpoint(b->store, b->term, &cp, t, n, &b->err));
}

/* All from the version on. */
static void repeat(struct bench *b, uint64_t version_min)
{
    struct stored_deletes *d =
        stored_deletes_new(b->store, b->rig->delivery, "orders_v2", version_min);

    for (int ms = 0; !stored_deletes_are_done(d); ms++) {
        assert_true(ms < SETTLE_MS);
        assert_true(stored_deletes_go_on(d, b->rig->target, &b->stop, &b->err));
        rig_sleep(1);
    }
    stored_deletes_free(d);
}

static void a_copy_that_comes_after_a_kill_and_a_shard_restart_does_not_stay(void **state)
{
    static const struct stored_tombstone t = {
        .index = {"orders_v2", 9}, .id = {"1", 1}, .version = 12, .at_ms = 1};
    struct bench *b = *state;
    struct rig *r = b->rig;

    fake_search_add_rule(
        r->fake, &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 3600000});
    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 1000}});
    rig_index(r, 1, 10, "old");
    rig_wait_requests(r, 1);
    rig_delete(r, 1, 12);
    rig_wait_done(r);
    assert_int_equal(delivery_repeats(r->delivery), 1); /* so no position makes it final */
    store_deletes(b, &t, 1);
    rig_kill(r);
    fake_search_restart_shards(r->fake);
    assert_int_equal(fake_search_raise_zombies(r->fake), 1);
    rig_check(r, 1, 10, "old"); /* it is back */
    rig_start(r, NULL);
    repeat(b, 13);
    rig_check(r, 1, 10, "old");
    repeat(b, 12);
    rig_check_gone(r, 1);
}

static void a_row_that_came_back_stays(void **state)
{
    static const struct stored_tombstone t[] = {
        {.index = {"orders_v2", 9}, .id = {"1", 1}, .version = 12, .at_ms = 1},
        {.index = {"orders_v2", 9}, .id = {"2", 1}, .version = 12, .at_ms = 1},
    };
    struct bench *b = *state;
    struct rig *r = b->rig;

    rig_start(r, NULL);
    rig_index(r, 1, 12, "of the same event");
    rig_index(r, 2, 13, "newer");
    rig_wait_done(r);
    store_deletes(b, t, ARRAY_LEN(t));
    repeat(b, 0);
    rig_check(r, 1, 12, "of the same event");
    rig_check(r, 2, 13, "newer");
}

static void of_many_deletes_none_is_left_out(void **state)
{
    static char ids[5000][8];
    static struct stored_tombstone t[5000];
    struct bench *b = *state;
    struct rig *r = b->rig;

    rig_start(r, NULL);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        snprintf(ids[i], sizeof(ids[0]), "%zu", i);
        t[i] = (struct stored_tombstone){
            .index = STR("orders_v2"), .id = str_from(ids[i]), .version = 1000000, .at_ms = 1};
    }
    rig_index_many(r, 0, (int)ARRAY_LEN(t), 1, "old");
    rig_wait_done(r);
    store_deletes(b, t, ARRAY_LEN(t));
    repeat(b, 1);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 0);
}

static bool has_documents(struct rig *r)
{
    const struct delivery_status s = delivery_status(r->delivery);

    return s.queued + s.in_flight > 0;
}

/* The topic was stopped, and goes on. */
static void what_was_given_up_begins_anew(void **state)
{
    static const struct stored_tombstone t = {
        .index = {"orders_v2", 9}, .id = {"1", 1}, .version = 12, .at_ms = 1};
    struct bench *b = *state;
    struct rig *r = b->rig;
    struct stored_deletes *d;
    struct err err = {0};

    rig_start(r, NULL);
    rig_index(r, 1, 10, "old");
    rig_wait_done(r);
    store_deletes(b, &t, 1);
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 503});
    d = stored_deletes_new(b->store, r->delivery, "orders_v2", 1);
    assert_true(stored_deletes_go_on(d, r->target, &b->stop, &b->err));
    rig_wait_requests(r, 2);
    for (int ms = 0; has_documents(r); ms++) {
        assert_true(ms < SETTLE_MS);
        delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
        rig_sleep(1);
    }
    assert_false(stored_deletes_are_done(d));
    assert_false(stored_deletes_go_on(d, r->target, &b->stop, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    stored_deletes_free(d);
    fake_search_clear_rules(r->fake);
    repeat(b, 1);
    rig_check_gone(r, 1);
}

/* The whole takes longer than a caller waits for one that is taken. */
static void deletes_are_repeated_for_as_long_as_more_are_taken(void **state)
{
    enum { N = 12000, IDLE_MS = 2000 };
    static char ids[N][8];
    static struct stored_tombstone t[N];
    struct bench *b = *state;
    struct rig *r = b->rig;
    struct stored_deletes *d;
    const int64_t began_ms = clock_mono_ms();

    rig_start(r, NULL);
    for (size_t i = 0; i < N; i++) {
        snprintf(ids[i], sizeof(ids[0]), "%zu", i);
        t[i] = (struct stored_tombstone){
            .index = STR("orders_v2"), .id = str_from(ids[i]), .version = 12, .at_ms = 1};
    }
    store_deletes(b, t, N);
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_ANSWER, .delay_ms = 250});
    d = stored_deletes_new(b->store, r->delivery, "orders_v2", 1);
    assert_true(stored_deletes_repeat(d, r->target, &b->stop, IDLE_MS, &b->err));
    assert_true(clock_mono_ms() - began_ms > IDLE_MS);
    stored_deletes_free(d);
}

static void an_index_that_takes_no_deletes_is_not_waited_for(void **state)
{
    static const struct stored_tombstone t = {
        .index = {"orders_v2", 9}, .id = {"1", 1}, .version = 12, .at_ms = 1};
    struct bench *b = *state;
    struct rig *r = b->rig;
    struct stored_deletes *d;

    rig_start(r, NULL);
    store_deletes(b, &t, 1);
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 503});
    d = stored_deletes_new(b->store, r->delivery, "orders_v2", 1);
    assert_false(stored_deletes_repeat(d, r->target, &b->stop, 100, &b->err));
    assert_int_equal(b->err.kind, ERR_RETRY);
    stored_deletes_free(d);
    fake_search_clear_rules(r->fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_copy_that_comes_after_a_kill_and_a_shard_restart_does_not_stay, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_row_that_came_back_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_many_deletes_none_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_given_up_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deletes_are_repeated_for_as_long_as_more_are_taken,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_index_that_takes_no_deletes_is_not_waited_for,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests_name("stored_deletes", tests, NULL, NULL);
}
