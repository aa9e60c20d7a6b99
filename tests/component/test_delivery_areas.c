/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Areas that are written alone: each trap of an update without a version (ADR 18).
 * Documents are {"text":..., "part":...}, and "part" is the area.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/random.h"
#include "src/format/json.h"
#include "sync/delivery/document/area.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_up(void **state)
{
    struct rig *r = rig_new();

    rig_use_area(r);
    *state = r;
    return 0;
}

#define AREA_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, rig_tear_down)

static void set(struct rig *r, int id, const char *text, const char *part)
{
    rig_set_row(r, id, text);
    rig_set_part(r, id, part);
}

/* A whole write of the row at version. */
static void write_whole(struct rig *r, int id, uint64_t version)
{
    rig_refresh(r, id, version);
    rig_wait_done(r);
}

/* Started, with row 1 written whole at version: text "a", part "x". */
static struct rig *start_with_row(struct rig *r, uint64_t version)
{
    rig_start(r, NULL);
    set(r, 1, "a", "x");
    write_whole(r, 1, version);
    return r;
}

static void write_area(struct rig *r, int id, uint64_t version)
{
    rig_refresh_area(r, id, version);
    rig_wait_done(r);
}

static size_t updates_sent(struct rig *r)
{
    size_t n = 0;

    for (size_t i = 0; i < fake_search_items(r->fake); i++)
        n += fake_search_item(r->fake, i).is_update;
    return n;
}

static void an_area_is_read_and_written_alone(void **state)
{
    struct rig *r = start_with_row(*state, 100);

    set(r, 1, "not read", "y");
    write_area(r, 1, 200);
    rig_check_parts(r, 1, 101, "a", "y");
    assert_int_equal(r->reads.n_area_batches, 1);
    assert_int_equal(updates_sent(r), 1);
}

static void an_update_whose_answer_is_lost_is_repeated_and_applied_once(void **state)
{
    static const struct fake_rule lost[] = {
        {.act = FAKE_RESET, .applied = true, .times = 1},
        {.act = FAKE_CUT, .applied = true, .times = 1},
        {.act = FAKE_TRUNCATED, .applied = true, .times = 1},
        {.act = FAKE_ITEM_LESS, .applied = true, .times = 1},
        {.act = FAKE_RESET, .times = 1},
    };
    struct rig *r = start_with_row(*state, 100);

    for (size_t i = 0; i < ARRAY_LEN(lost); i++) {
        char part[16];

        snprintf(part, sizeof(part), "part %zu", i);
        rig_set_part(r, 1, part);
        fake_search_add_rule(r->fake, &lost[i]);
        write_area(r, 1, 200 + 100 * i);
        rig_check_parts(r, 1, 101 + i, "a", part);
        fake_search_clear_rules(r->fake);
    }
    assert_int_equal(updates_sent(r), 2 * ARRAY_LEN(lost));
}

static void a_late_copy_of_an_update_changes_nothing_newer(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 100}});
    set(r, 1, "a", "x");
    write_whole(r, 1, 100);
    rig_set_part(r, 1, "old");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 600});
    write_area(r, 1, 200); /* sent twice: the first copy is still on its way */
    rig_set_part(r, 1, "newer");
    write_area(r, 1, 300);
    rig_sleep(700);
    rig_check_parts(r, 1, 102, "a", "newer");
}

static void a_late_copy_of_an_update_changes_no_newer_whole_document(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 100}});
    set(r, 1, "a", "x");
    write_whole(r, 1, 100);
    rig_set_part(r, 1, "old");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 600});
    write_area(r, 1, 200);
    set(r, 1, "b", "newer");
    write_whole(r, 1, 300);
    rig_sleep(700);
    rig_check_parts(r, 1, 300, "b", "newer");
}

static void a_late_copy_of_an_update_brings_no_deleted_document_back(void **state)
{
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.settings = {.request_timeout_ms = 100}});
    set(r, 1, "a", "x");
    write_whole(r, 1, 100);
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_ZOMBIE, .times = 1, .late_ms = 600});
    rig_refresh_area(r, 1, 200);
    rig_wait_requests(r, 2);
    rig_delete(r, 1, 250);
    rig_wait_done(r);
    rig_sleep(700);
    rig_check_gone(r, 1);
}

static void a_whole_write_stands_for_every_area_up_to_its_version(void **state)
{
    struct rig *r = start_with_row(*state, 300);

    rig_set_part(r, 1, "read before");
    write_area(r, 1, 300);
    rig_check_parts(r, 1, 300, "a", "x");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 2);
}

static void an_area_of_a_document_that_is_not_there_becomes_a_whole_read(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    set(r, 1, "a", "x");
    write_area(r, 1, 200);
    rig_check_parts(r, 1, 200, "a", "x");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

static void an_area_of_a_row_that_is_gone_deletes_the_document(void **state)
{
    struct rig *r = start_with_row(*state, 100);

    rig_set_row(r, 1, NULL);
    write_area(r, 1, 200);
    rig_check_gone(r, 1);
}

static void an_area_that_no_document_can_be_made_of_is_a_dead_letter_of_the_whole(void **state)
{
    struct rig *r = start_with_row(*state, 100);

    rig_set_row(r, 1, "reject");
    write_area(r, 1, 200);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
    rig_set_row(r, 1, "b");
    rig_set_part(r, 1, "y");
    write_area(r, 1, 300);
    rig_check_parts(r, 1, 101, "a", "y");
    assert_int_equal(r->dead.n_cleared, 0); /* the whole document is still not written */
    write_whole(r, 1, 400);
    rig_wait_cleared(r, 1);
}

static void after_eighteen_updates_the_whole_document_is_written(void **state)
{
    struct rig *r = start_with_row(*state, 1000);

    rig_set_row(r, 1, "b");
    for (uint64_t i = 1; i <= AREA_UPDATES_MAX; i++)
        write_area(r, 1, 1000 + 1000 * i);
    rig_check_parts(r, 1, 1000 + AREA_UPDATES_MAX, "a", "x");
    rig_set_part(r, 1, "y");
    write_area(r, 1, 30000);
    rig_check_parts(r, 1, 30000, "b", "y");
    rig_set_part(r, 1, "z");
    write_area(r, 1, 40000);
    rig_check_parts(r, 1, 30001, "b", "z");
}

/* The version that updates have raised lies above that of the next event. */
static void a_whole_write_between_updates_is_not_lost(void **state)
{
    struct rig *r = start_with_row(*state, 1000);

    for (uint64_t i = 1; i <= 10; i++)
        write_area(r, 1, 1000 + 1000 * i);
    rig_set_row(r, 1, "b");
    write_whole(r, 1, 1005);
    rig_check_parts(r, 1, 1011, "b", "x");
}

static void a_delete_between_updates_is_not_lost(void **state)
{
    struct rig *r = start_with_row(*state, 1000);

    for (uint64_t i = 1; i <= 10; i++)
        write_area(r, 1, 1000 + 1000 * i);
    rig_set_row(r, 1, NULL);
    rig_delete(r, 1, 1005);
    rig_wait_done(r);
    rig_check_gone(r, 1);
}

static void the_version_never_rises_above_what_was_read(void **state)
{
    struct rig *r = *state;

    rig_start(r, NULL);
    r->versions.stamp_max = 1001;
    set(r, 1, "a", "x");
    write_whole(r, 1, 1000);
    write_area(r, 1, 1001);
    rig_check_parts(r, 1, 1001, "a", "x");
    fake_search_put(r->fake, "orders_v2", "2", 1001,
                    "{\"_millrace\":{\"version\":1000},\"text\":\"a\",\"part\":\"x\"}");
    set(r, 2, "b", "y");
    write_area(r, 2, 1001); /* an update would make it 1002, which nobody has given out */
    rig_check_parts(r, 2, 1001, "b", "y");
}

/* It was in the engine's queue when its daemon was killed. */
static void a_late_whole_write_of_an_earlier_daemon_undoes_no_area(void **state)
{
    struct rig *r = *state;
    const struct doc_write late = {.op = DOC_INDEX,
                                   .target = r->target,
                                   .id = STR("1"),
                                   .version = 1000,
                                   .body = STR("{\"text\":\"a\",\"part\":\"of 1000\"}")};

    r->versions.area_floor = 1018; /* the log ended at 1000 when this one started */
    fake_search_put(r->fake, "orders_v2", "1", 900,
                    "{\"_millrace\":{\"version\":900},\"text\":\"a\",\"part\":\"x\"}");
    rig_start(r, NULL);
    set(r, 1, "a", "of 1050");
    write_area(r, 1, 1050);

    struct doc_write again = late;

    again.target = target_ref(r->target);
    again.ticket = ticket_new(NULL, 0, &r->tickets);
    rig_submit(r, &again);
    rig_wait_done(r);
    rig_check_parts(r, 1, 1050, "a", "of 1050");
    rig_set_part(r, 1, "of 1100");
    write_area(r, 1, 1100);
    rig_check_parts(r, 1, 1051, "a", "of 1100"); /* nothing late is newer than that */
}

static void a_document_from_before_there_were_areas_is_written_whole(void **state)
{
    struct rig *r = *state;

    fake_search_put(r->fake, "orders_v2", "1", 100, "{\"text\":\"a\",\"part\":\"x\"}");
    rig_start(r, NULL);
    set(r, 1, "b", "y");
    write_area(r, 1, 200);
    rig_check_parts(r, 1, 200, "b", "y");
}

static void a_conflict_of_two_updates_becomes_a_whole_read(void **state)
{
    struct rig *r = start_with_row(*state, 100);

    set(r, 1, "b", "y");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.id = "1",
                                             .times = 1,
                                             .status = 409,
                                             .type = "version_conflict_engine_exception",
                                             .reason = "required seqNo [7], current [8]"});
    write_area(r, 1, 200);
    rig_check_parts(r, 1, 200, "b", "y");
}

static void an_update_that_the_engine_cannot_do_becomes_a_whole_read(void **state)
{
    struct rig *r = start_with_row(*state, 100);

    set(r, 1, "b", "y");
    fake_search_add_rule(
        r->fake, &(struct fake_rule){.id = "1", .times = 5, .status = 500, .type = "x"});
    write_area(r, 1, 200);
    rig_check_parts(r, 1, 200, "b", "y");
    assert_int_equal(r->dead.n, 0);
}

static void where_no_script_runs_documents_are_written_whole(void **state)
{
    const struct fake_rule refusal = {.id = "1",
                                      .times = 1,
                                      .status = 400,
                                      .type = "illegal_argument_exception",
                                      .reason = "cannot execute [inline] scripts"};
    struct rig *r = start_with_row(*state, 100);

    set(r, 1, "b", "y");
    fake_search_add_rule(r->fake, &refusal);
    write_area(r, 1, 200);
    rig_check_parts(r, 1, 200, "b", "y");
    set(r, 1, "c", "z");
    write_area(r, 1, 300);
    rig_check_parts(r, 1, 300, "c", "z");
    assert_int_equal(updates_sent(r), 1);
}

static void updates_that_ask_for_whole_documents_do_not_hold_the_index(void **state)
{
    struct rig *r = *state;

    for (int i = 0; i < 100; i++)
        set(r, i, "a", "x");
    rig_start(r, NULL);
    for (int i = 0; i < 100; i++)
        rig_refresh_area(r, i, 200);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 100);
    assert_false(rig_is_held(r));
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 100);
}

static void areas_and_whole_documents_are_read_in_batches_of_their_own(void **state)
{
    struct rig *r = *state;

    for (int i = 0; i < 400; i++)
        set(r, i, "a", "x");
    rig_start(r, NULL);
    for (int i = 0; i < 400; i++)
        rig_refresh(r, i, 100);
    rig_wait_done(r);

    const size_t n = r->reads.n_batches;

    for (int i = 0; i < 400; i++)
        (i % 2 == 0 ? rig_refresh_area : rig_refresh)(r, i, 200);
    rig_wait_done(r);
    assert_true(r->reads.n_batches - n < 200); /* alternating, but not one by one */
    for (int i = 0; i < 400; i++)
        rig_check_parts(r, i, i % 2 == 0 ? 101 : 200, "a", "x");
}

/* ---- random days ---- */

#define DOCUMENTS 6
#define CHANGES   120

static void break_something(struct rig *r, struct random *random)
{
    static const struct fake_rule rules[] = {
        {.act = FAKE_RESET},
        {.act = FAKE_RESET, .applied = true},
        {.act = FAKE_CUT, .applied = true},
        {.act = FAKE_TRUNCATED, .applied = true},
        {.act = FAKE_ITEM_MORE, .applied = true},
        {.act = FAKE_SILENT, .applied = true},
        {.act = FAKE_ZOMBIE, .late_ms = 150},
        {.status = 429, .type = "rejected_execution_exception"},
        {.delay_ms = 10},
    };
    struct fake_rule rule = rules[random_below(random, ARRAY_LEN(rules))];

    if (random_below(random, 2) == 0)
        fake_search_clear_rules(r->fake);
    rule.times = 1;
    rule.skip = (unsigned)random_below(random, 3);
    fake_search_add_rule(r->fake, &rule);
}

static void change_something(struct rig *r, struct random *random, uint64_t version)
{
    const int id = (int)random_below(random, DOCUMENTS);
    char text[32];

    snprintf(text, sizeof(text), "at %llu", (unsigned long long)version);
    switch (random_below(random, 5)) {
    case 0:
        rig_set_row(r, id, NULL);
        rig_delete(r, id, version);
        break;
    case 1:
        rig_set_row(r, id, text);
        rig_refresh(r, id, version + 1);
        break;
    default: rig_set_part(r, id, text); rig_refresh_area(r, id, version + 1);
    }
}

static void check_document(struct rig *r, int id)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);

    const char *row = map_find(r->table.rows, str_from(name));

    if (row == NULL)
        rig_check_gone(r, id);
    else
        rig_check_parts(r, id, 0, row, map_find(r->table.parts, str_from(name)));
}

static void documents_end_right_on_random_bad_days(void **state)
{
    const char *seed_text = getenv("MILLRACE_SEED");
    const uint64_t seed = seed_text == NULL ? 4711 : strtoull(seed_text, NULL, 10);
    struct rig *r = *state;
    struct random random;

    fprintf(stderr, "# MILLRACE_SEED=%llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    for (int i = 0; i < DOCUMENTS; i++)
        rig_set_part(r, i, "first");
    rig_start(r, &(struct delivery_options){
                     .settings = {.request_timeout_ms = 100, .load_batch_max = 4}});
    for (uint64_t i = 1; i <= CHANGES; i++) {
        if (i % 4 == 0)
            break_something(r, &random);
        change_something(r, &random, i * 20);
        if (random_below(&random, 6) == 0)
            rig_wait_done(r);
    }
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    rig_sleep(200);
    for (int i = 0; i < DOCUMENTS; i++)
        check_document(r, i);
    assert_true(updates_sent(r) > 0);
    assert_int_equal(r->dead.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AREA_TEST(an_area_is_read_and_written_alone),
        AREA_TEST(an_update_whose_answer_is_lost_is_repeated_and_applied_once),
        AREA_TEST(a_late_copy_of_an_update_changes_nothing_newer),
        AREA_TEST(a_late_copy_of_an_update_changes_no_newer_whole_document),
        AREA_TEST(a_late_copy_of_an_update_brings_no_deleted_document_back),
        AREA_TEST(a_whole_write_stands_for_every_area_up_to_its_version),
        AREA_TEST(an_area_of_a_document_that_is_not_there_becomes_a_whole_read),
        AREA_TEST(an_area_of_a_row_that_is_gone_deletes_the_document),
        AREA_TEST(an_area_that_no_document_can_be_made_of_is_a_dead_letter_of_the_whole),
        AREA_TEST(after_eighteen_updates_the_whole_document_is_written),
        AREA_TEST(a_whole_write_between_updates_is_not_lost),
        AREA_TEST(a_delete_between_updates_is_not_lost),
        AREA_TEST(the_version_never_rises_above_what_was_read),
        AREA_TEST(a_late_whole_write_of_an_earlier_daemon_undoes_no_area),
        AREA_TEST(a_document_from_before_there_were_areas_is_written_whole),
        AREA_TEST(a_conflict_of_two_updates_becomes_a_whole_read),
        AREA_TEST(an_update_that_the_engine_cannot_do_becomes_a_whole_read),
        AREA_TEST(where_no_script_runs_documents_are_written_whole),
        AREA_TEST(updates_that_ask_for_whole_documents_do_not_hold_the_index),
        AREA_TEST(areas_and_whole_documents_are_read_in_batches_of_their_own),
        AREA_TEST(documents_end_right_on_random_bad_days),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_areas", tests, NULL, NULL);
}
