/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Documents that lie where another one does, and move.  The engine here has one shard, so that
 * an `_id` is one document under every routing: what leaves one must not take along what came
 * under another (docs/adr/0022).
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <string.h>

static void what_an_update_leaves_does_not_take_along_what_the_update_wrote(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    rig_set_row(r, 1, "moved");
    rig_set_place(r, 1, "new");
    rig_refresh_at(r, 1, 100, "new");
    rig_wait_done(r);
    rig_leave(r, 1, 100, "old"); /* of the same event, and later */
    rig_wait_done(r);
    rig_check(r, 1, 100, "moved");
    rig_leave(r, 1, 101, "new");
    rig_wait_done(r);
    rig_check_gone(r, 1);
}

static void
a_document_that_lies_elsewhere_is_asked_for_there_and_its_old_place_left(void **state)
{
    struct rig *r = *state;
    bool left = false;

    rig_start(r, NULL);
    rig_set_row(r, 1, "a");
    rig_set_place(r, 1, "new");
    rig_refresh_at(r, 1, 100, "old");
    rig_wait_done(r);
    rig_check(r, 1, 100, "a");
    for (size_t i = 0; i < fake_search_items(r->fake); i++)
        left = left || (fake_search_item(r->fake, i).is_delete &&
                        fake_search_item(r->fake, i).version == 100);
    assert_true(left);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED) + rig_done(r, OUTCOME_SUPERSEDED), 1);
}

static void whoever_asks_at_the_old_place_waits_until_the_new_one_is_written(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    rig_set_row(r, 1, "a");
    rig_set_place(r, 1, "new");
    r->reads.fails = 1;
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_RESET, .applied = true, .times = 1});
    rig_refresh_at(r, 1, 100, "old");
    rig_refresh_at(r, 1, 90, "old");
    rig_wait_done(r);
    rig_check(r, 1, 100, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_an_update_leaves_does_not_take_along_what_the_update_wrote),
        RIG_TEST(a_document_that_lies_elsewhere_is_asked_for_there_and_its_old_place_left),
        RIG_TEST(whoever_asks_at_the_old_place_waits_until_the_new_one_is_written),
    };
    return cmocka_run_group_tests_name("delivery_routed", tests, NULL, NULL);
}
