/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Where one document is, on each step of its way.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/thread.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>

#define INDEX   "orders_v2"
#define FOREVER 600000 /* ms: longer than a test may last */

/* Everything waits for a drain. */
static const struct delivery_options reluctant = {
    .settings = {.batch_min = 1000, .flush_ms = FOREVER, .drain_cancel_timeout_ms = FOREVER}};

static struct delivery_place find_in(struct rig *r, const char *index, const char *id)
{
    struct delivery_place place;
    struct err err = {0};

    assert_true(delivery_find(r->delivery, str_from(index), str_from(id), &place, &err));
    return place;
}

static struct delivery_place find(struct rig *r, const char *id)
{
    return find_in(r, INDEX, id);
}

static struct delivery_place wait_for(struct rig *r, const char *id, enum delivery_stage stage)
{
    const int64_t until_ms = clock_mono_ms() + 20000;
    struct delivery_place place;

    do
        place = find(r, id);
    while (place.stage != stage && clock_mono_ms() < until_ms);
    assert_int_equal(place.stage, stage);
    return place;
}

static void what_waits_is_queued_at_its_newest_version(void **state)
{
    struct rig *r = *state;

    rig_start(r, &reluctant);
    assert_int_equal(find(r, "1").stage, STAGE_NONE);
    rig_index(r, 1, 100, "old");
    rig_index(r, 1, 200, "new");
    assert_int_equal(find(r, "1").stage, STAGE_QUEUED);
    assert_int_equal(find(r, "1").version, 200);
    assert_int_equal(find(r, "2").stage, STAGE_NONE);
    assert_int_equal(find_in(r, "orders_v3", "1").stage, STAGE_NONE);
    assert_true(delivery_drain(r->delivery, FOREVER));
    assert_int_equal(find(r, "1").stage, STAGE_NONE);
}

static void what_was_sent_is_in_flight_and_says_that_a_newer_one_follows(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.until_cleared = true});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "old");
    rig_wait_requests(r, 1);

    struct delivery_place place = find(r, "1");

    assert_int_equal(place.stage, STAGE_SENT);
    assert_int_equal(place.version, 100);
    assert_false(place.is_followed);
    assert_true(place.sent_ms >= 0 && place.sent_ms < 20000);
    rig_index(r, 1, 200, "new");
    place = find(r, "1");
    assert_int_equal(place.stage, STAGE_SENT);
    assert_int_equal(place.version, 100);
    assert_true(place.is_followed);
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    assert_int_equal(find(r, "1").stage, STAGE_NONE);
}

static void a_row_that_is_being_read_is_so_under_any_routing(void **state)
{
    struct rig *r = *state;

    rig_set_row(r, 1, "new");
    rig_set_place(r, 1, "there");
    rig_start(r, NULL);
    pthread_mutex_lock(&r->lock); /* the loader cannot read */
    rig_refresh_at(r, 1, 100, "there");
    assert_int_equal(wait_for(r, "1", STAGE_READING).version, 100);
    pthread_mutex_unlock(&r->lock);
    rig_wait_done(r);
    assert_int_equal(find(r, "1").stage, STAGE_NONE);
}

static void *drain(void *arg)
{
    assert_true(delivery_drain(((struct rig *)arg)->delivery, FOREVER));
    return NULL;
}

static void what_comes_during_a_drain_is_apart(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.until_cleared = true});
    rig_start(r, &reluctant);
    rig_index(r, 1, 100, "old");

    pthread_t thread = thread_start("drainer", drain, r);

    rig_wait_requests(r, 1);
    rig_index(r, 2, 100, "new");
    assert_int_equal(find(r, "2").stage, STAGE_APART);
    assert_int_equal(find(r, "3").stage, STAGE_NONE);
    assert_int_equal(find(r, "1").stage, STAGE_SENT);
    fake_search_clear_rules(r->fake);
    pthread_join(thread, NULL);
    assert_int_equal(wait_for(r, "2", STAGE_QUEUED).version, 100);
}

static void a_dead_letter_that_has_no_room_is_unstored(void **state)
{
    struct rig *r = *state;

    r->dead.is_full = true;
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "1",
                                                      .status = 400,
                                                      .type = "mapper_parsing_exception",
                                                      .reason = "no date"});
    rig_start(r, NULL);
    rig_index(r, 1, 100, "bad");
    rig_wait_held(r, true);
    assert_int_equal(find(r, "1").stage, STAGE_UNSTORED);
}

static void nobody_waits_for_a_delivery_that_has_stopped(void **state)
{
    struct rig *r = *state;
    struct delivery_place place;
    struct err err = {0};

    rig_start(r, NULL);
    delivery_stop(r->delivery);
    assert_false(delivery_find(r->delivery, STR(INDEX), STR("1"), &place, &err));
    assert_int_equal(err.kind, ERR_RETRY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_waits_is_queued_at_its_newest_version),
        RIG_TEST(what_was_sent_is_in_flight_and_says_that_a_newer_one_follows),
        RIG_TEST(a_row_that_is_being_read_is_so_under_any_routing),
        RIG_TEST(what_comes_during_a_drain_is_apart),
        RIG_TEST(a_dead_letter_that_has_no_room_is_unstored),
        RIG_TEST(nobody_waits_for_a_delivery_that_has_stopped),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_place", tests, NULL, NULL);
}
