#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "sync/delivery/document_table.h"

#include <stdio.h>
#include <string.h>

/* One document "1" of one index, in a table. */
struct fixture {
    struct document_table *table;
    struct target *target;
    struct ticket_counters tickets;
    struct write_ends ends;
    struct document *doc;
};

static int set_up(void **state)
{
    static struct fixture f;

    f = (struct fixture){.table = document_table_new(), .target = a_target("orders_v2")};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    document_table_free(f->table, &f->ends);
    target_unref(f->target);
    return 0;
}

static void arrive(struct fixture *f, enum doc_op op, uint64_t version, const char *body)
{
    struct write *w = counted(a_write(f->target, op, "1", version, body), &f->tickets);
    bool to_place;

    f->doc = document_table_arrive(f->table, NULL, w, &f->ends, &to_place);
}

static void arrive_fill(struct fixture *f, uint64_t version, const char *body)
{
    struct write *w = counted(a_write(f->target, DOC_INDEX, "1", version, body), &f->tickets);
    bool to_place;

    w->strict = true;
    f->doc = document_table_arrive(f->table, NULL, w, &f->ends, &to_place);
}

static void loaded(struct fixture *f, uint64_t stamp, const char *body)
{
    document_loaded(f->doc, stamp, body == NULL ? (struct str){0} : str_from(body), &f->ends);
}

static void end(struct fixture *f, enum outcome how)
{
    if (document_end(f->doc, how, &f->ends))
        return;
    document_table_remove(f->table, f->doc);
    f->doc = NULL;
}

static uint64_t done(const struct fixture *f, enum outcome how)
{
    return f->tickets.done[how];
}

static uint64_t open_tickets(const struct fixture *f)
{
    uint64_t n = f->tickets.read;

    for (unsigned i = 0; i < N_OUTCOMES; i++)
        n -= f->tickets.done[i];
    return n;
}

#define CHECK_NOW(f, s, v, text)                                           \
    do {                                                                   \
        assert_int_equal((f)->doc->state, (s));                            \
        assert_true((f)->doc->now->version == (v));                        \
        assert_true(str_equal(write_body((f)->doc->now), str_from(text))); \
    } while (0)

static void a_write_is_ready_at_once(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    CHECK_NOW(f, DOCUMENT_READY, 10, "a");
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    assert_null(f->doc);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 1);
    assert_int_equal(document_table_count(f->table), 0);
}

static void of_two_waiting_writes_the_newer_stands_for_both(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    arrive(f, DOC_INDEX, 12, "c");
    arrive(f, DOC_INDEX, 11, "b");
    CHECK_NOW(f, DOCUMENT_READY, 12, "c");
    assert_null(f->doc->later);
    assert_int_equal(open_tickets(f), 3);
    document_take(f->doc);
    end(f, OUTCOME_SUPERSEDED);
    assert_int_equal(done(f, OUTCOME_SUPERSEDED), 3);
}

static void of_two_writes_at_one_version_the_later_stands(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    arrive(f, DOC_INDEX, 10, "b");
    CHECK_NOW(f, DOCUMENT_READY, 10, "b");
}

static void a_fill_loses_to_a_stream_write_of_its_version(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "stream");
    arrive_fill(f, 10, "fill");
    CHECK_NOW(f, DOCUMENT_READY, 10, "stream");
    end(f, OUTCOME_DELIVERED);
    arrive_fill(f, 10, "fill");
    arrive(f, DOC_INDEX, 10, "stream");
    CHECK_NOW(f, DOCUMENT_READY, 10, "stream");
    assert_false(f->doc->now->strict);
}

static void what_arrives_while_one_is_in_flight_waits(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 11, "b");
    arrive(f, DOC_DELETE, 13, "");
    arrive(f, DOC_INDEX, 12, "c");
    CHECK_NOW(f, DOCUMENT_IN_FLIGHT, 10, "a");
    end(f, OUTCOME_DELIVERED);
    CHECK_NOW(f, DOCUMENT_READY, 13, "");
    assert_int_equal(f->doc->now->op, DOC_DELETE);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 1);
    document_take(f->doc);
    end(f, OUTCOME_SUPERSEDED);
    assert_int_equal(done(f, OUTCOME_SUPERSEDED), 3);
}

static void what_is_older_than_the_one_in_flight_ends_with_it(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 9, "old");
    arrive(f, DOC_REFRESH, 10, "");
    assert_null(f->doc->later);
    end(f, OUTCOME_DELIVERED);
    assert_null(f->doc);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 3);
}

static void a_refresh_waits_for_its_turn_and_then_is_read(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    arrive(f, DOC_REFRESH, 20, "");
    assert_int_equal(f->doc->state, DOCUMENT_IN_FLIGHT);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    document_take(f->doc);
    assert_int_equal(f->doc->state, DOCUMENT_LOADING);
    loaded(f, 25, "read");
    CHECK_NOW(f, DOCUMENT_READY, 25, "read");
    assert_int_equal(f->doc->now->op, DOC_INDEX);
}

static void a_row_that_is_gone_is_a_delete_at_the_stamp_of_the_read(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    loaded(f, 21, NULL);
    CHECK_NOW(f, DOCUMENT_READY, 21, "");
    assert_int_equal(f->doc->now->op, DOC_DELETE);
}

static void refreshes_that_wait_are_one_read_for_the_largest(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    arrive(f, DOC_REFRESH, 22, "");
    arrive(f, DOC_REFRESH, 21, "");
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_true(f->doc->now->version == 22);
    assert_null(f->doc->later);
    document_take(f->doc);
    loaded(f, 22, "read");
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 3);
}

static void a_refresh_during_the_read_is_covered_by_a_stamp_that_reaches_it(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    arrive(f, DOC_REFRESH, 23, "");
    assert_non_null(f->doc->later);
    loaded(f, 23, "read");
    CHECK_NOW(f, DOCUMENT_READY, 23, "read");
    assert_null(f->doc->later);
}

static void a_refresh_beyond_the_stamp_that_comes_back_is_read_again(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    arrive(f, DOC_REFRESH, 30, "");
    loaded(f, 25, "first");
    CHECK_NOW(f, DOCUMENT_READY, 25,
              "first"); /* sent first, or a hot document never would be */
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_true(f->doc->now->version == 30);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 1);
}

static void a_read_below_what_was_asked_for_is_thrown_away(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    loaded(f, 19, "too old");
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_int_equal(f->doc->attempts, 1);
    assert_int_equal(open_tickets(f), 1);
}

static void a_refresh_joins_a_ready_read_that_reaches_it(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    loaded(f, 25, "read");
    arrive(f, DOC_REFRESH, 25, "");
    CHECK_NOW(f, DOCUMENT_READY, 25, "read");
    assert_null(f->doc->later);
}

static void against_a_ready_read_the_larger_version_stands(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    loaded(f, 25, "read");
    arrive(f, DOC_DELETE, 24, "");
    CHECK_NOW(f, DOCUMENT_READY, 25, "read");
    arrive(f, DOC_DELETE, 26, "");
    assert_int_equal(f->doc->now->op, DOC_DELETE);
    assert_true(f->doc->now->version == 26);
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 3);
}

static void a_write_at_or_beyond_a_waiting_refresh_needs_no_read(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    arrive(f, DOC_DELETE, 20, "");
    assert_int_equal(f->doc->state, DOCUMENT_READY);
    assert_int_equal(f->doc->now->op, DOC_DELETE);
}

static void a_write_older_than_a_waiting_refresh_is_covered_by_the_read(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    arrive(f, DOC_INDEX, 19, "old");
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_null(f->doc->later);
}

static void a_write_during_the_read_stands_if_it_to_placeer_than_the_stamp(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 30, "newer");
    loaded(f, 25, "read");
    CHECK_NOW(f, DOCUMENT_READY, 30, "newer");
    assert_null(f->doc->later);

    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    arrive(f, DOC_REFRESH, 40, "");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 41, "older");
    loaded(f, 45, "read");
    CHECK_NOW(f, DOCUMENT_READY, 45, "read");
    assert_null(f->doc->later);
}

static void an_unknown_result_keeps_the_document_to_the_same_write(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    document_lost_answer(f->doc);
    CHECK_NOW(f, DOCUMENT_UNKNOWN, 10, "a");
    arrive(f, DOC_DELETE, 11, "");
    CHECK_NOW(f, DOCUMENT_UNKNOWN, 10, "a");
    document_take(f->doc);
    document_not_applied(f->doc, &f->ends); /* this copy; the first may still come */
    CHECK_NOW(f, DOCUMENT_UNKNOWN, 10, "a");
    document_take(f->doc);
    end(f, OUTCOME_SUPERSEDED);
    CHECK_NOW(f, DOCUMENT_READY, 11, "");
    assert_int_equal(done(f, OUTCOME_SUPERSEDED), 1);
}

/* A copy of the first may still be on its way, at the version of the second. */
static void a_write_at_the_version_of_one_whose_answer_was_lost_is_read_again_above_it(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    document_lost_answer(f->doc);
    arrive(f, DOC_INDEX, 10, "b");
    CHECK_NOW(f, DOCUMENT_UNKNOWN, 10, "a");
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_true(f->doc->now->version == 11);
    document_take(f->doc);
    document_loaded(f->doc, 20, STR("b"), &f->ends);
    CHECK_NOW(f, DOCUMENT_READY, 20, "b");
    document_take(f->doc);
    document_lost_answer(f->doc);
    arrive(f, DOC_INDEX, 21, "c");
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    CHECK_NOW(f, DOCUMENT_READY, 21, "c");
}

static void a_write_that_was_not_applied_can_be_replaced(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 11, "b");
    document_not_applied(f->doc, &f->ends);
    CHECK_NOW(f, DOCUMENT_READY, 11, "b");
    assert_int_equal(f->doc->attempts, 0);
    document_take(f->doc);
    document_not_applied(f->doc, &f->ends);
    assert_int_equal(f->doc->attempts, 1);
    arrive(f, DOC_INDEX, 12, "c");
    CHECK_NOW(f, DOCUMENT_READY, 12, "c");
}

static void a_read_refused_by_its_gap_is_read_again_above_it(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    loaded(f, 20, "a");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 23, "between"); /* not newer than what is stored */
    document_read_again(f->doc, 26, &f->ends);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_true(f->doc->now->version == 26);
    assert_null(f->doc->later);
    document_take(f->doc);
    loaded(f, 26, "b");
    CHECK_NOW(f, DOCUMENT_READY, 26, "b");
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 2);
}

static void arrive_fresh(struct fixture *f, uint64_t version)
{
    struct write *w = counted(a_write(f->target, DOC_REFRESH, "1", version, ""), &f->tickets);
    bool to_place;

    w->fresh = true;
    f->doc = document_table_arrive(f->table, NULL, w, &f->ends, &to_place);
}

static void what_another_source_asks_for_is_read_after_it_came(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 30, "");
    arrive_fresh(f, 20); /* the read is still to begin */
    assert_null(f->doc->later);
    document_take(f->doc);
    arrive_fresh(f, 20); /* it has begun */
    assert_non_null(f->doc->later);
    loaded(f, 30, "a");
    CHECK_NOW(f, DOCUMENT_READY, 30, "a");
    document_take(f->doc);
    arrive_fresh(f, 21);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_int_equal(open_tickets(f), 2);
    document_take(f->doc);
    loaded(f, 30, "b");
    CHECK_NOW(f, DOCUMENT_READY, 30, "b");
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    assert_null(f->doc);
}

static void what_another_source_asks_for_includes_a_delete_that_it_stands_for(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    arrive(f, DOC_DELETE, 20, "");
    arrive_fresh(f, 15);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_true(f->doc->now->version == 20);
}

static void a_refused_document_is_dead_and_its_newer_write_goes_on(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "bad");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 11, "good");
    document_refuse(f->doc);
    CHECK_NOW(f, DOCUMENT_REFUSED, 10, "bad"); /* until its dead letter is stored */
    assert_int_equal(done(f, OUTCOME_DEAD), 0);
    end(f, OUTCOME_DEAD);
    assert_int_equal(done(f, OUTCOME_DEAD), 1);
    CHECK_NOW(f, DOCUMENT_READY, 11, "good");
}

static void a_failed_read_is_tried_again(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    document_not_loaded(f->doc, &f->ends);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    document_take(f->doc);
    arrive(f, DOC_DELETE, 30, "");
    document_not_loaded(f->doc, &f->ends);
    CHECK_NOW(f, DOCUMENT_READY, 30, "");
}

static void forgetting_keeps_only_what_is_in_flight(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 11, "b");
    assert_true(document_forget(f->doc, OUTCOME_DEFERRED, &f->ends));
    assert_int_equal(done(f, OUTCOME_DEFERRED), 1);
    end(f, OUTCOME_DELIVERED);
    assert_null(f->doc);

    arrive(f, DOC_INDEX, 12, "c");
    assert_false(document_forget(f->doc, OUTCOME_DEFERRED, &f->ends));
    document_table_remove(f->table, f->doc);
    assert_int_equal(done(f, OUTCOME_DEFERRED), 2);
    assert_int_equal(open_tickets(f), 0);
}

static void what_stays_is_held_by_all_who_wait_for_it_and_waits_for_nobody(void **state)
{
    struct fixture *f = *state;
    struct ticket *held[2];

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    arrive(f, DOC_REFRESH, 15, "");
    assert_int_equal(write_count_tickets(f->doc->now), 2);
    write_hold_tickets(f->doc->now, held, &f->ends);
    end(f, OUTCOME_DELIVERED);
    assert_null(f->doc);
    assert_int_equal(open_tickets(f), 2);
    ticket_release(held[0], OUTCOME_DELIVERED);
    ticket_release(held[1], OUTCOME_SUPERSEDED);
    assert_int_equal(open_tickets(f), 0);
    assert_int_equal(done(f, OUTCOME_SUPERSEDED), 1);
}

static void one_read_for_several_is_as_deep_as_the_least_of_them(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    f->doc->now->depth = 3;
    arrive(f, DOC_REFRESH, 15, "");
    assert_int_equal(f->doc->now->depth, 0);
    end(f, OUTCOME_DELIVERED);
}

static void what_arrives_after_forgetting_a_read_does_not_join_it(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    assert_true(document_forget(f->doc, OUTCOME_DEFERRED, &f->ends));
    assert_int_equal(open_tickets(f), 0);
    arrive(f, DOC_REFRESH, 15, "");
    assert_int_equal(f->doc->state, DOCUMENT_LOADING);
    assert_int_equal(open_tickets(f), 1);
    end(f, OUTCOME_DEFERRED); /* the read comes back, for nobody */
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_true(f->doc->now->version == 15);
    assert_false(f->doc->forgotten);
}

static void routing_is_part_of_the_lock_and_so_is_the_index(void **state)
{
    struct fixture *f = *state;
    struct outlet *other = (struct outlet *)(void *)f; /* an address is all that counts */
    const struct doc_write in = {.target = f->target,
                                 .op = DOC_INDEX,
                                 .id = STR("1"),
                                 .version = 1,
                                 .routing = STR("r")};
    bool to_place;

    arrive(f, DOC_INDEX, 1, "a");
    target_ref(f->target);
    assert_ptr_not_equal(
        document_table_arrive(f->table, NULL, write_new(&in), &f->ends, &to_place), f->doc);
    assert_true(to_place);
    document_table_arrive(f->table, other, a_write(f->target, DOC_INDEX, "1", 1, "a"), &f->ends,
                          &to_place);
    assert_true(to_place);
    assert_int_equal(document_table_count(f->table), 3);
}

static void bytes_come_back_exactly(void **state)
{
    struct fixture *f = *state;
    size_t taken = 0;

    for (unsigned i = 0; i < 5000; i++) {
        char id[16];
        bool to_place;

        snprintf(id, sizeof(id), "%u", i % 700);

        struct write *w =
            counted(a_write(f->target, DOC_INDEX, id, i, "some body"), &f->tickets);

        taken += w->cost;
        document_table_arrive(f->table, NULL, w, &f->ends, &to_place);
    }
    assert_int_equal(document_table_count(f->table), 700);
    assert_true(f->ends.freed < taken);
    document_table_free(f->table, &f->ends);
    f->table = document_table_new();

    /* A waiter that lost its write costs a little; nothing else may be left. */
    assert_int_equal(f->ends.freed, taken);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 0);
}

static void what_a_build_writes_is_not_purged_and_what_leaves_a_place_is(void **state)
{
    struct fixture *f = *state;

    arrive_fill(f, 10, "{}");
    assert_false(document_may_be_purged(f->doc));
    arrive(f, DOC_DELETE, 20, "");
    assert_true(document_may_be_purged(f->doc));
    f->doc->now->strict = true;
    assert_true(document_may_be_purged(f->doc));
    f->doc->now->key_len = 0; /* of a build: a row that was deleted meanwhile */
    assert_false(document_may_be_purged(f->doc));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_a_build_writes_is_not_purged_and_what_leaves_a_place_is),
        CASE(a_write_is_ready_at_once),
        CASE(of_two_waiting_writes_the_newer_stands_for_both),
        CASE(of_two_writes_at_one_version_the_later_stands),
        CASE(a_fill_loses_to_a_stream_write_of_its_version),
        CASE(what_arrives_while_one_is_in_flight_waits),
        CASE(what_is_older_than_the_one_in_flight_ends_with_it),
        CASE(a_refresh_waits_for_its_turn_and_then_is_read),
        CASE(a_row_that_is_gone_is_a_delete_at_the_stamp_of_the_read),
        CASE(refreshes_that_wait_are_one_read_for_the_largest),
        CASE(a_refresh_during_the_read_is_covered_by_a_stamp_that_reaches_it),
        CASE(a_refresh_beyond_the_stamp_that_comes_back_is_read_again),
        CASE(a_read_below_what_was_asked_for_is_thrown_away),
        CASE(a_refresh_joins_a_ready_read_that_reaches_it),
        CASE(against_a_ready_read_the_larger_version_stands),
        CASE(a_write_at_or_beyond_a_waiting_refresh_needs_no_read),
        CASE(a_write_older_than_a_waiting_refresh_is_covered_by_the_read),
        CASE(a_write_during_the_read_stands_if_it_to_placeer_than_the_stamp),
        CASE(an_unknown_result_keeps_the_document_to_the_same_write),
        CASE(a_write_at_the_version_of_one_whose_answer_was_lost_is_read_again_above_it),
        CASE(a_write_that_was_not_applied_can_be_replaced),
        CASE(a_read_refused_by_its_gap_is_read_again_above_it),
        CASE(what_another_source_asks_for_is_read_after_it_came),
        CASE(what_another_source_asks_for_includes_a_delete_that_it_stands_for),
        CASE(a_refused_document_is_dead_and_its_newer_write_goes_on),
        CASE(a_failed_read_is_tried_again),
        CASE(forgetting_keeps_only_what_is_in_flight),
        CASE(what_stays_is_held_by_all_who_wait_for_it_and_waits_for_nobody),
        CASE(one_read_for_several_is_as_deep_as_the_least_of_them),
        CASE(what_arrives_after_forgetting_a_read_does_not_join_it),
        CASE(routing_is_part_of_the_lock_and_so_is_the_index),
        CASE(bytes_come_back_exactly),
    };
    return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
