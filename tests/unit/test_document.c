#include "config.h"

#include "tests/unit/one_document.h"

#include <stdio.h>

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
static void
a_write_at_the_version_of_one_whose_answer_was_lost_is_read_again_above_it(void **state)
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

static void routing_is_part_of_the_lock_and_so_is_the_index(void **state)
{
    struct fixture *f = *state;
    struct index_queue *other =
        (struct index_queue *)(void *)f; /* an address is all that counts */
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
    assert_true(f->ends.freed < taken + f->ends.taken);
    document_table_free(f->table, &f->ends);
    f->table = document_table_new();

    /* A waiter that lost its write costs a little; nothing else may be left. */
    assert_int_equal(f->ends.freed, taken + f->ends.taken);
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

static void a_dropped_document_is_deleted_at_its_version(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    document_drop(f->doc, &f->ends);
    CHECK_NOW(f, DOCUMENT_READY, 10, "");
    assert_int_equal(f->doc->now->op, DOC_DELETE);
    assert_true(f->doc->now->dropped);
    document_take(f->doc);
    end(f, OUTCOME_DELIVERED);
    assert_int_equal(done(f, OUTCOME_DELIVERED), 1);
}

static void a_newer_write_takes_the_place_of_a_dropped_document(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    arrive(f, DOC_INDEX, 11, "b");
    document_drop(f->doc, &f->ends);
    CHECK_NOW(f, DOCUMENT_READY, 11, "b");
    assert_int_equal(f->doc->now->op, DOC_INDEX);
    assert_false(f->doc->now->dropped);
}

static void a_dropped_document_that_may_have_been_applied_before_keeps_its_version(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_INDEX, 10, "a");
    document_take(f->doc);
    document_lost_answer(f->doc);
    document_take(f->doc);
    arrive(f, DOC_INDEX, 11, "b");
    document_drop(f->doc, &f->ends);
    CHECK_NOW(f, DOCUMENT_UNKNOWN, 10, "");
    assert_int_equal(f->doc->now->op, DOC_DELETE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_write_is_ready_at_once),
        CASE(of_two_waiting_writes_the_newer_stands_for_both),
        CASE(of_two_writes_at_one_version_the_later_stands),
        CASE(a_fill_loses_to_a_stream_write_of_its_version),
        CASE(what_arrives_while_one_is_in_flight_waits),
        CASE(what_is_older_than_the_one_in_flight_ends_with_it),
        CASE(an_unknown_result_keeps_the_document_to_the_same_write),
        CASE(a_write_at_the_version_of_one_whose_answer_was_lost_is_read_again_above_it),
        CASE(a_write_that_was_not_applied_can_be_replaced),
        CASE(a_refused_document_is_dead_and_its_newer_write_goes_on),
        CASE(a_dropped_document_is_deleted_at_its_version),
        CASE(a_newer_write_takes_the_place_of_a_dropped_document),
        CASE(a_dropped_document_that_may_have_been_applied_before_keeps_its_version),
        CASE(forgetting_keeps_only_what_is_in_flight),
        CASE(what_stays_is_held_by_all_who_wait_for_it_and_waits_for_nobody),
        CASE(routing_is_part_of_the_lock_and_so_is_the_index),
        CASE(bytes_come_back_exactly),
        CASE(what_a_build_writes_is_not_purged_and_what_leaves_a_place_is),
    };

    return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
