/*
 * What delivery tells of both sides of a document (options.note_entry), against a search engine
 * in memory: once all is done, both sides have been told alike, or one is unknown.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/hash.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <string.h>

#define IDS 16

enum side { SOURCE, ENGINE };

/* The last that was told of each id, and how often anything was. */
static struct lock lock = LOCK_INIT(LOCK_private);
static struct entry_note told[2][IDS];
static unsigned n_told[2][IDS];

static void note_entry(void *ctx, const struct target *target, const struct entry_note *n)
{
    size_t id = 0;

    (void)ctx;
    (void)target;
    for (size_t i = 0; i < n->id.len; i++)
        id = (id * 10 + (size_t)(n->id.ptr[i] - '0')) % IDS;
    lock_acquire(&lock);
    told[n->of_engine][id] = *n;
    n_told[n->of_engine][id]++;
    lock_release(&lock);
}

static uint64_t value(void *ctx, const struct target *target, struct str routing,
                      struct str body)
{
    (void)ctx;
    (void)target;
    return hash_bytes(body, hash_bytes(routing, 0)) | 1;
}

static void start(struct rig *r)
{
    memset(told, 0, sizeof(told));
    memset(n_told, 0, sizeof(n_told));
    rig_start(r, &(struct delivery_options){.note_entry = note_entry, .value = value});
}

static void check(enum side side, size_t id, enum entry_kind what)
{
    lock_acquire(&lock);
    assert_true(n_told[side][id] > 0);
    assert_int_equal(told[side][id].what, what);
    lock_release(&lock);
}

static void check_alike(size_t id)
{
    check(SOURCE, id, ENTRY_VALUE);
    check(ENGINE, id, ENTRY_VALUE);
    assert_int_equal(told[SOURCE][id].value, told[ENGINE][id].value);
}

static void a_write_is_told_of_the_source_and_once_it_is_taken_of_the_engine(void **state)
{
    struct rig *r = *state;

    start(r);
    rig_index(r, 1, 10, "one");
    rig_index(r, 2, 10, "two");
    rig_wait_done(r);
    check_alike(1);
    check_alike(2);
    assert_int_not_equal(told[SOURCE][1].value, told[SOURCE][2].value);
    rig_index(r, 1, 20, "two");
    rig_wait_done(r);
    check_alike(1);
    assert_int_equal(n_told[ENGINE][1], 2);
}

static void what_is_not_taken_is_told_of_the_source_alone(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 503});
    start(r);
    rig_index(r, 1, 10, "one");
    rig_wait_requests(r, 1);
    check(SOURCE, 1, ENTRY_VALUE);
    assert_int_equal(n_told[ENGINE][1], 0);
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    check_alike(1);
}

static void a_row_that_is_read_is_told_as_it_was_read(void **state)
{
    struct rig *r = *state;

    start(r);
    rig_set_reach(r, 100);
    rig_set_row(r, 3, "read");
    rig_refresh(r, 3, 10);
    rig_wait_done(r);
    check_alike(3);
    assert_int_equal(n_told[SOURCE][3], 1); /* a request to read tells nothing */
    rig_index(r, 4, 10, "four");
    rig_refresh(r, 4, 20); /* of a row that is gone */
    rig_wait_done(r);
    check(SOURCE, 4, ENTRY_GONE);
    check(ENGINE, 4, ENTRY_GONE);
}

static void a_delete_is_told_as_gone_but_under_a_routing_as_unknown(void **state)
{
    struct rig *r = *state;

    start(r);
    rig_index(r, 1, 10, "one");
    rig_delete(r, 1, 20);
    rig_wait_done(r);
    check(SOURCE, 1, ENTRY_GONE);
    check(ENGINE, 1, ENTRY_GONE);
    rig_leave(r, 2, 20, "a");
    rig_wait_done(r);
    check(SOURCE, 2, ENTRY_UNKNOWN);
    check(ENGINE, 2, ENTRY_UNKNOWN);
}

static void what_a_newer_document_refuses_is_unknown(void **state)
{
    struct rig *r = *state;

    start(r);
    rig_index(r, 1, 30, "newer");
    rig_wait_done(r);
    rig_index(r, 1, 20, "older");
    rig_wait_done(r);
    check(SOURCE, 1, ENTRY_VALUE);
    check(ENGINE, 1, ENTRY_UNKNOWN);
}

static void an_area_is_unknown(void **state)
{
    struct rig *r = *state;

    rig_use_area(r);
    start(r);
    rig_set_reach(r, 100);
    rig_set_row(r, 1, "row");
    rig_set_part(r, 1, "part");
    rig_refresh(r, 1, 10);
    rig_wait_done(r);
    rig_refresh_area(r, 1, 20);
    rig_wait_done(r);
    check(SOURCE, 1, ENTRY_UNKNOWN);
    check(ENGINE, 1, ENTRY_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_write_is_told_of_the_source_and_once_it_is_taken_of_the_engine),
        RIG_TEST(what_is_not_taken_is_told_of_the_source_alone),
        RIG_TEST(a_row_that_is_read_is_told_as_it_was_read),
        RIG_TEST(a_delete_is_told_as_gone_but_under_a_routing_as_unknown),
        RIG_TEST(what_a_newer_document_refuses_is_unknown),
        RIG_TEST(an_area_is_unknown),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_entries", tests, NULL, NULL);
}
