/*
 * Documents that are read again: what a read covers, and what comes while it is under way.
 */
#include "config.h"

#include "tests/unit/one_document.h"

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

static void a_write_during_the_read_stands_if_it_is_newer_than_the_stamp(void **state)
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

/* Something newer there is of whoever belongs there now. */
static void a_delete_where_a_document_no_longer_belongs_gives_way_to_what_is_newer(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    document_is_elsewhere(f->doc, &f->ends);
    assert_int_equal(f->doc->state, DOCUMENT_READY);
    assert_int_equal(f->doc->now->op, DOC_DELETE);
    assert_true(f->doc->now->version == 20);
    assert_true(f->doc->now->strict);
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

static void what_a_read_left_out_is_read_again_and_has_not_failed(void **state)
{
    struct fixture *f = *state;

    arrive(f, DOC_REFRESH, 20, "");
    document_take(f->doc);
    document_left_out(f->doc, &f->ends);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    assert_int_equal(f->doc->attempts, 0);
    document_take(f->doc);
    arrive(f, DOC_REFRESH, 25, "");
    document_left_out(f->doc, &f->ends);
    assert_true(f->doc->now->version == 25 && f->doc->later == NULL);
    document_take(f->doc);
    arrive(f, DOC_DELETE, 30, "");
    document_left_out(f->doc, &f->ends);
    CHECK_NOW(f, DOCUMENT_READY, 30, "");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        CASE(a_write_during_the_read_stands_if_it_is_newer_than_the_stamp),
        CASE(a_read_refused_by_its_gap_is_read_again_above_it),
        CASE(a_delete_where_a_document_no_longer_belongs_gives_way_to_what_is_newer),
        CASE(what_another_source_asks_for_is_read_after_it_came),
        CASE(what_another_source_asks_for_includes_a_delete_that_it_stands_for),
        CASE(a_failed_read_is_tried_again),
        CASE(what_a_read_left_out_is_read_again_and_has_not_failed),
        CASE(what_arrives_after_forgetting_a_read_does_not_join_it),
    };

    return cmocka_run_group_tests_name("document_reads", tests, NULL, NULL);
}
