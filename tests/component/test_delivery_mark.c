/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * The high-water mark: who waits for what, with a mark of 0, where a caller waits for all that
 * its workers have.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#define INDEX "orders_v2"

/* One worker, so that every caller waits for every change. */
static const struct delivery_options strict = {
    .settings = {.workers = 1, .high_water_mark = RIG_MARK_ZERO}};

/* What is counted may need longer than any limit that one could think of. */
static void a_caller_waits_until_its_change_is_out_however_long_that_takes(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    fake_search_add_rule(r->fake, &(struct fake_rule){.times = 1, .delay_ms = 3000});
    rig_start(r, &strict);
    rig_push(r, &p, 1, "body");
    rig_wait_pushed(&p);
    assert_int_equal(fake_search_count(r->fake, INDEX), 1);
}

/* The caller may be who brings the stream on. */
static void what_can_only_be_read_later_in_the_stream_keeps_no_caller_waiting(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    rig_start(r, &strict);
    rig_set_reach(r, 100);
    rig_set_row(r, 0, "row");
    rig_set_row(r, 1, "row");
    rig_push_refreshes(r, &p, 2, 200);
    rig_wait_pushed(&p);
    assert_int_equal(fake_search_count(r->fake, INDEX), 0);
    rig_set_reach(r, 200);
    rig_wait_done(r);
    rig_check(r, 0, 200, "row");
    rig_check(r, 1, 200, "row");
}

static void what_can_only_be_read_later_in_the_stream_holds_no_bytes(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    rig_start(r, &(struct delivery_options){.settings = {.bytes_max = 64 * 1024}});
    rig_set_reach(r, 100);
    for (int id = 0; id < 2000; id++)
        rig_set_row(r, id, "row");
    rig_push_refreshes(r, &p, 2000, 200);
    rig_wait_pushed(&p);
    rig_push_refreshes(r, &p, 2000, 300); /* they join those that wait */
    rig_wait_pushed(&p);
    assert_int_equal(fake_search_count(r->fake, INDEX), 0);
    rig_set_reach(r, 300);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, INDEX), 2000);
    rig_wait_held_bytes(r, 0);
}

/* Nor does what is asked for anew while it waits: one read stands for all. */
static void what_joins_a_read_that_waits_for_the_stream_keeps_no_caller_waiting(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    rig_start(r, &strict);
    rig_set_reach(r, 100);
    rig_set_row(r, 0, "row");
    rig_push_refreshes(r, &p, 1, 200);
    rig_wait_pushed(&p);
    for (uint64_t at_least = 50; at_least <= 300; at_least += 50) {
        rig_push_refreshes(r, &p, 1, at_least);
        rig_wait_pushed(&p);
    }
    rig_set_reach(r, 300);
    rig_wait_done(r);
    rig_check(r, 0, 300, "row");
}

/* It is no reason to hold up documents that can be read, nor that they count less. */
static void documents_that_can_be_read_are_waited_for_beside_one_that_cannot(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;

    rig_start(r, &strict);
    rig_set_reach(r, 100);
    for (int id = 0; id < 5; id++)
        rig_set_row(r, id, "row");
    rig_refresh(r, 0, 200);
    for (int n = 2; n <= 5; n++) {
        rig_push_refreshes(r, &p, n, 50);
        rig_wait_pushed(&p);
        assert_int_equal(fake_search_count(r->fake, INDEX), n - 1);
    }
    rig_set_reach(r, 200);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, INDEX), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_caller_waits_until_its_change_is_out_however_long_that_takes),
        RIG_TEST(what_can_only_be_read_later_in_the_stream_keeps_no_caller_waiting),
        RIG_TEST(what_can_only_be_read_later_in_the_stream_holds_no_bytes),
        RIG_TEST(what_joins_a_read_that_waits_for_the_stream_keeps_no_caller_waiting),
        RIG_TEST(documents_that_can_be_read_are_waited_for_beside_one_that_cannot),
    };

    return cmocka_run_group_tests_name("delivery_mark", tests, NULL, NULL);
}
