#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/store.h"
#include "sync/checkpoint/progress.h"
#include "sync/position/gtid_set.h"

#include <string.h>

static struct commit_position at(uint64_t offset)
{
    return (struct commit_position){
        .file_number = 1,
        .offset = offset,
        .gtid = {.family = GTID_MARIADB, .server = 1, .number = offset}};
}

static uint64_t safe_offset(struct progress *p)
{
    struct gtid_set *executed = gtid_set_new();
    struct commit_position m;

    (void)progress_safe(p, &m, executed);
    gtid_set_free(executed);
    return m.offset;
}

static void a_transaction_without_documents_is_safe_at_once(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200);
    struct progress *p = progress_new(&start);

    (void)state;
    progress_commit(p, &one);
    assert_int_equal(safe_offset(p), 100);
    progress_commit(p, &two);
    assert_int_equal(safe_offset(p), 200);
    assert_true(progress_idle(p));
    progress_free(p);
}

static void an_undelivered_document_holds_all_after_it(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200), three = at(300);
    struct progress *p = progress_new(&start);
    struct ticket *late = progress_ticket(p);

    (void)state;
    progress_commit(p, &one);

    struct ticket *early = progress_ticket(p);

    progress_commit(p, &two);
    progress_commit(p, &three);
    ticket_done(early, OUTCOME_DELIVERED);
    assert_int_equal(safe_offset(p), 4);
    assert_false(progress_idle(p));
    ticket_done(late, OUTCOME_DELIVERED);
    assert_int_equal(safe_offset(p), 300);
    assert_true(progress_idle(p));
    progress_free(p);
}

static void a_running_transaction_is_not_safe_when_its_documents_are(void **state)
{
    const struct commit_position start = at(4), one = at(100);
    struct progress *p = progress_new(&start);

    (void)state;
    ticket_done(progress_ticket(p), OUTCOME_DELIVERED);
    assert_int_equal(safe_offset(p), 4);
    progress_commit(p, &one);
    assert_int_equal(safe_offset(p), 100);
    progress_free(p);
}

/* The dump is cut and begins again; what of the transaction was read is not read once more. */
static void what_an_abandoned_transaction_opened_holds_all_after_it(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200);
    struct progress *p = progress_new(&start);
    struct ticket *first = progress_ticket(p);

    (void)state;
    progress_commit(p, &one);

    struct ticket *cut = progress_ticket(p);

    progress_abandon(p);
    progress_commit(p, &one); /* to see that the log is the same */
    progress_commit(p, &two); /* it had no further rows */
    ticket_done(first, OUTCOME_DELIVERED);
    assert_true(safe_offset(p) < 200);
    assert_false(progress_idle(p));
    ticket_done(cut, OUTCOME_DELIVERED);
    assert_int_equal(safe_offset(p), 200);
    assert_true(progress_idle(p));
    progress_free(p);
}

static void an_abandoned_transaction_alone_holds_all_after_it(void **state)
{
    const struct commit_position start = at(4), one = at(100);
    struct progress *p = progress_new(&start);
    struct ticket *cut = progress_ticket(p);

    (void)state;
    progress_abandon(p);
    progress_commit(p, &one);
    assert_int_equal(safe_offset(p), 4);
    assert_false(progress_idle(p));
    ticket_done(cut, OUTCOME_DELIVERED);
    assert_int_equal(safe_offset(p), 100);
    progress_free(p);
}

/* That many of them are safe together, only when the last one is, shows that no more is
 * kept. */
static void what_waits_behind_a_held_document_does_not_grow_for_ever(void **state)
{
    const struct commit_position start = at(4), end = at(2000100);
    struct progress *p = progress_new(&start);
    struct ticket *held = progress_ticket(p), *last = NULL;

    (void)state;
    for (uint64_t offset = 100; offset <= 2000000; offset += 100) {
        const struct commit_position one = at(offset);

        if (last != NULL)
            ticket_done(last, OUTCOME_DELIVERED);
        last = offset == 100 ? NULL : progress_ticket(p);
        progress_commit(p, &one);
    }
    assert_int_equal(safe_offset(p), 4);
    ticket_done(held, OUTCOME_DELIVERED);
    assert_in_range(safe_offset(p), 100, 1990000);
    ticket_done(last, OUTCOME_DELIVERED);
    assert_int_equal(safe_offset(p), 2000000);
    ticket_done(progress_ticket(p), OUTCOME_DELIVERED);
    progress_commit(p, &end);
    assert_int_equal(safe_offset(p), 2000100);
    progress_free(p);
}

static void every_gtid_that_is_safe_is_in_the_executed_set(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200);
    struct progress *p = progress_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct ticket *t = progress_ticket(p);
    struct buf text = {0};
    struct commit_position m;

    (void)state;
    progress_commit(p, &one);
    progress_commit(p, &two);
    assert_false(progress_safe(p, &m, executed));
    assert_true(gtid_set_is_empty(executed));
    ticket_done(t, OUTCOME_DELIVERED);
    assert_true(progress_safe(p, &m, executed));
    gtid_set_format(&text, executed);
    assert_string_equal(text.ptr, "0-1-200");
    buf_free(&text);
    gtid_set_free(executed);
    progress_free(p);
}

static struct commit_position of_domain(uint64_t offset, uint32_t domain)
{
    struct commit_position m = at(offset);

    m.gtid.domain = domain;
    return m;
}

/* Each is of a domain of its own, so that none stands for another. */
static void
the_gtids_of_transactions_that_open_nothing_are_executed_with_those_they_follow(void **state)
{
    const struct commit_position start = at(4), one = of_domain(100, 1),
                                 two = of_domain(200, 2), three = of_domain(300, 3);
    struct progress *p = progress_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct ticket *t = progress_ticket(p);
    struct buf text = {0};
    struct commit_position m;

    (void)state;
    progress_commit(p, &one);
    progress_commit(p, &two);
    progress_commit(p, &three);
    assert_false(progress_safe(p, &m, executed));
    ticket_done(t, OUTCOME_DELIVERED);
    assert_true(progress_safe(p, &m, executed));
    assert_int_equal(m.offset, 300);
    gtid_set_format(&text, executed);
    assert_string_equal(text.ptr, "1-1-100,2-1-200,3-1-300");
    buf_free(&text);
    gtid_set_free(executed);
    progress_free(p);
}

static void tombstones_that_were_not_stored_are_given_out_again(void **state)
{
    const struct commit_position start = at(4);
    struct progress *p = progress_new(&start);
    struct arena *a = arena_new();
    struct stored_tombstone *tombstones;

    (void)state;
    progress_tombstone(p, STR("orders_v1"), STR("7"), STR(""), 99);
    assert_int_equal(progress_take_tombstones(p, a, &tombstones), 1);
    assert_int_equal(progress_tombstones(p), 0);
    progress_return_tombstones(p, tombstones, 1);
    assert_int_equal(progress_take_tombstones(p, a, &tombstones), 1);
    assert_true(str_equal(tombstones[0].id, STR("7")));
    assert_int_equal(tombstones[0].version, 99);
    arena_free(a);
    progress_free(p);
}

static void every_change_is_counted_in_and_out_once(void **state)
{
    const struct commit_position start = at(4), one = at(100);
    struct progress *p = progress_new(&start);
    const struct ticket_counters *c = progress_counters(p);
    struct ticket *t = progress_ticket(p);

    (void)state;
    assert_int_equal(c->read, 1);
    ticket_done(ticket_ref(t), OUTCOME_DELIVERED);
    assert_int_equal(c->done[OUTCOME_DELIVERED], 0);
    ticket_done(t, OUTCOME_DEAD);
    assert_int_equal(c->done[OUTCOME_DEAD], 1);
    assert_int_equal(c->done[OUTCOME_DELIVERED], 0);
    progress_commit(p, &one);
    progress_free(p);
}

static struct commit_position at_time(uint64_t offset, int64_t event_ms)
{
    struct commit_position m = at(offset);

    m.event_ms = event_ms;
    return m;
}

static void the_oldest_transaction_that_is_not_done_is_told_with_its_time(void **state)
{
    const struct commit_position start = at(4), one = at_time(100, 1000),
                                 two = at_time(200, 2000), three = at_time(300, 3000),
                                 four = at_time(400, 4000);
    struct progress *p = progress_new(&start);
    struct ticket *first = progress_ticket(p), *second;

    (void)state;
    assert_int_equal(progress_undone_ms(p), 0);
    progress_commit(p, &one);
    second = progress_ticket(p);
    progress_commit(p, &two);
    progress_commit(p, &three); /* concerns nothing: it only moves the end of the second */
    assert_int_equal(progress_undone_ms(p), 1000);
    ticket_done(first, OUTCOME_DELIVERED);
    assert_int_equal(progress_undone_ms(p), 2000);
    ticket_done(second, OUTCOME_DELIVERED);
    assert_int_equal(progress_undone_ms(p), 0);
    progress_commit(p, &four);
    assert_int_equal(progress_undone_ms(p), 0);
    progress_free(p);
}

static enum progress_move move_of(struct progress *p)
{
    struct gtid_set *executed = gtid_set_new();
    struct commit_position m;
    const enum progress_move move = progress_safe(p, &m, executed);

    gtid_set_free(executed);
    return move;
}

static void a_move_over_transactions_that_concern_nothing_is_told_apart(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200), three = at(300);
    struct progress *p = progress_new(&start);
    struct ticket *t;

    (void)state;
    assert_int_equal(move_of(p), PROGRESS_STAYS);
    progress_commit(p, &one);
    assert_int_equal(move_of(p), PROGRESS_ASIDE);
    assert_int_equal(move_of(p), PROGRESS_STAYS);
    t = progress_ticket(p);
    progress_commit(p, &two);
    progress_commit(p, &three);
    assert_int_equal(move_of(p), PROGRESS_STAYS);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(move_of(p), PROGRESS_CHANGES);
    assert_int_equal(move_of(p), PROGRESS_STAYS);
    progress_free(p);
}

static void a_change_that_waited_longer_than_others_is_told_when_it_is_safe(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200), three = at(300);
    struct progress *p = progress_new(&start);
    struct ticket *t;

    (void)state;
    progress_commit(p, &one);
    t = progress_ticket(p);
    progress_commit(p, &two);
    assert_int_equal(move_of(p), PROGRESS_ASIDE);
    ticket_done(t, OUTCOME_DELIVERED);
    progress_commit(p, &three);
    assert_int_equal(move_of(p), PROGRESS_CHANGES);
    progress_free(p);
}

static void
a_ddl_concerns_a_definition_without_a_ticket_and_one_that_was_cut_does_not(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200), three = at(300);
    struct progress *p = progress_new(&start);

    (void)state;
    progress_concern(p);
    progress_commit(p, &one);
    assert_int_equal(move_of(p), PROGRESS_CHANGES);
    progress_commit(p, &two);
    assert_int_equal(move_of(p), PROGRESS_ASIDE);
    progress_concern(p);
    progress_abandon(p);
    progress_commit(p, &three);
    assert_int_equal(move_of(p), PROGRESS_ASIDE);
    progress_free(p);
}

static void the_end_of_a_prepared_transaction_is_a_change(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200), three = at(300);
    struct progress *p = progress_new(&start);
    uint64_t hold;

    (void)state;
    progress_commit(p, &one);
    hold = progress_hold(p);
    progress_commit(p, &two);
    assert_int_equal(move_of(p), PROGRESS_ASIDE); /* to the hold's place */
    progress_release(p, hold);
    progress_commit(p, &three);
    assert_int_equal(move_of(p), PROGRESS_CHANGES);
    progress_free(p);
}

static struct commit_position at_mysql(uint64_t offset)
{
    struct commit_position m = at(offset);

    m.gtid = (struct gtid){.family = GTID_MYSQL, .uuid = {1}, .number = offset};
    return m;
}

/* Of MySQL each counts for itself. */
static void
transactions_that_join_one_that_waits_have_their_gtids_executed_with_it(void **state)
{
    const struct commit_position start = at(4), one = at_mysql(100), two = at_mysql(200),
                                 three = at_mysql(300);
    struct progress *p = progress_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct ticket *t = progress_ticket(p);
    struct commit_position m;

    (void)state;
    progress_commit(p, &one);
    progress_commit(p, &two);
    progress_commit(p, &three);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_true(progress_safe(p, &m, executed));
    assert_true(gtid_set_contains(executed, &one.gtid));
    assert_true(gtid_set_contains(executed, &two.gtid));
    assert_true(gtid_set_contains(executed, &three.gtid));
    gtid_set_free(executed);
    progress_free(p);
}

static void what_comes_behind_a_hold_is_not_one_with_what_lies_before_it(void **state)
{
    const struct commit_position start = at(4), one = at_mysql(100), two = at_mysql(200);
    struct progress *p = progress_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct ticket *t = progress_ticket(p);
    struct commit_position m;

    (void)state;
    progress_commit(p, &one);
    (void)progress_hold(p);
    progress_commit(p, &two);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_true(progress_safe(p, &m, executed));
    assert_int_equal(m.offset, 100);
    assert_true(gtid_set_contains(executed, &one.gtid));
    assert_false(gtid_set_contains(executed, &two.gtid));
    gtid_set_free(executed);
    progress_free(p);
}

static void a_hold_lasts_until_the_transaction_that_ends_it_is_done(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200), three = at(300);
    struct progress *p = progress_new(&start);
    uint64_t hold;
    struct ticket *t;

    (void)state;
    progress_commit(p, &one);
    hold = progress_hold(p);
    progress_commit(p, &two);
    t = progress_ticket(p);
    progress_release(p, hold);
    progress_commit(p, &three);
    assert_int_equal(safe_offset(p), 100);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(safe_offset(p), 300);
    progress_free(p);
}

static void what_was_abandoned_and_is_done_does_not_overtake_what_is_in_line(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200);
    struct progress *p = progress_new(&start);
    struct ticket *t = progress_ticket(p);

    (void)state;
    progress_commit(p, &one);
    ticket_done(t, OUTCOME_DELIVERED);
    ticket_done(progress_ticket(p), OUTCOME_DELIVERED);
    progress_abandon(p);
    progress_commit(p, &two);
    assert_int_equal(safe_offset(p), 200);
    progress_free(p);
}

#define MANY 100

static void the_line_keeps_its_order_when_it_gets_longer(void **state)
{
    const struct commit_position start = at(4);
    struct progress *p = progress_new(&start);
    struct ticket *tickets[MANY];

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        const struct commit_position end = at(100 * (i + 1));

        tickets[i] = progress_ticket(p);
        progress_commit(p, &end);
        if (i < 10) { /* so that the line does not begin where its room does */
            ticket_done(tickets[i], OUTCOME_DELIVERED);
            assert_int_equal(safe_offset(p), end.offset);
        }
    }
    for (uint64_t i = 10; i < MANY; i++) {
        ticket_done(tickets[i], OUTCOME_DELIVERED);
        assert_int_equal(safe_offset(p), 100 * (i + 1));
    }
    progress_free(p);
}

static void it_is_not_idle_while_any_transaction_waits(void **state)
{
    const struct commit_position start = at(4), one = at(100), two = at(200);
    struct progress *p = progress_new(&start);
    struct ticket *first = progress_ticket(p), *second;

    (void)state;
    progress_commit(p, &one);
    second = progress_ticket(p);
    progress_commit(p, &two);
    ticket_done(first, OUTCOME_DELIVERED);
    assert_false(progress_idle(p));
    ticket_done(second, OUTCOME_DELIVERED);
    assert_true(progress_idle(p));
    progress_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            transactions_that_join_one_that_waits_have_their_gtids_executed_with_it),
        cmocka_unit_test(what_comes_behind_a_hold_is_not_one_with_what_lies_before_it),
        cmocka_unit_test(a_hold_lasts_until_the_transaction_that_ends_it_is_done),
        cmocka_unit_test(what_was_abandoned_and_is_done_does_not_overtake_what_is_in_line),
        cmocka_unit_test(the_line_keeps_its_order_when_it_gets_longer),
        cmocka_unit_test(it_is_not_idle_while_any_transaction_waits),
        cmocka_unit_test(a_transaction_without_documents_is_safe_at_once),
        cmocka_unit_test(an_undelivered_document_holds_all_after_it),
        cmocka_unit_test(a_running_transaction_is_not_safe_when_its_documents_are),
        cmocka_unit_test(what_an_abandoned_transaction_opened_holds_all_after_it),
        cmocka_unit_test(an_abandoned_transaction_alone_holds_all_after_it),
        cmocka_unit_test(what_waits_behind_a_held_document_does_not_grow_for_ever),
        cmocka_unit_test(every_gtid_that_is_safe_is_in_the_executed_set),
        cmocka_unit_test(
            the_gtids_of_transactions_that_open_nothing_are_executed_with_those_they_follow),
        cmocka_unit_test(tombstones_that_were_not_stored_are_given_out_again),
        cmocka_unit_test(every_change_is_counted_in_and_out_once),
        cmocka_unit_test(the_oldest_transaction_that_is_not_done_is_told_with_its_time),
        cmocka_unit_test(a_move_over_transactions_that_concern_nothing_is_told_apart),
        cmocka_unit_test(a_change_that_waited_longer_than_others_is_told_when_it_is_safe),
        cmocka_unit_test(
            a_ddl_concerns_a_definition_without_a_ticket_and_one_that_was_cut_does_not),
        cmocka_unit_test(the_end_of_a_prepared_transaction_is_a_change),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
