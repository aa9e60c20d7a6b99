#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store.h"
#include "sync/binlog/gtid_set.h"
#include "sync/progress.h"

#include <string.h>

static struct mark at(uint64_t offset)
{
    return (struct mark){.file_number = 1,
                         .offset = offset,
                         .gtid = {.family = GTID_MARIADB, .server = 1, .number = offset}};
}

static uint64_t safe_offset(struct progress *p)
{
    struct gtid_set *executed = gtid_set_new();
    struct mark m;

    (void)progress_safe(p, &m, executed);
    gtid_set_free(executed);
    return m.offset;
}

static void a_transaction_without_documents_is_safe_at_once(void **state)
{
    const struct mark start = at(4), one = at(100), two = at(200);
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
    const struct mark start = at(4), one = at(100), two = at(200), three = at(300);
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
    const struct mark start = at(4), one = at(100);
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
    const struct mark start = at(4), one = at(100), two = at(200);
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
    const struct mark start = at(4), one = at(100);
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

/* That many of them are safe together, only when the last one is, shows that no more is kept. */
static void what_waits_behind_a_held_document_does_not_grow_for_ever(void **state)
{
    const struct mark start = at(4), end = at(2000100);
    struct progress *p = progress_new(&start);
    struct ticket *held = progress_ticket(p), *last = NULL;

    (void)state;
    for (uint64_t offset = 100; offset <= 2000000; offset += 100) {
        const struct mark one = at(offset);

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
    const struct mark start = at(4), one = at(100), two = at(200);
    struct progress *p = progress_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct ticket *t = progress_ticket(p);
    struct buf text = {0};
    struct mark m;

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

static void tombstones_that_were_not_stored_are_given_out_again(void **state)
{
    const struct mark start = at(4);
    struct progress *p = progress_new(&start);
    struct arena *a = arena_new();
    struct stored_tombstone *graves;

    (void)state;
    progress_tombstone(p, STR("orders_v1"), STR("7"), STR(""), 99);
    assert_int_equal(progress_take_tombstones(p, a, &graves), 1);
    assert_int_equal(progress_tombstones(p), 0);
    progress_return_tombstones(p, graves, 1);
    assert_int_equal(progress_take_tombstones(p, a, &graves), 1);
    assert_true(str_equal(graves[0].id, STR("7")));
    assert_int_equal(graves[0].version, 99);
    arena_free(a);
    progress_free(p);
}

static void every_change_is_counted_in_and_out_once(void **state)
{
    const struct mark start = at(4), one = at(100);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transaction_without_documents_is_safe_at_once),
        cmocka_unit_test(an_undelivered_document_holds_all_after_it),
        cmocka_unit_test(a_running_transaction_is_not_safe_when_its_documents_are),
        cmocka_unit_test(what_an_abandoned_transaction_opened_holds_all_after_it),
        cmocka_unit_test(an_abandoned_transaction_alone_holds_all_after_it),
        cmocka_unit_test(what_waits_behind_a_held_document_does_not_grow_for_ever),
        cmocka_unit_test(every_gtid_that_is_safe_is_in_the_executed_set),
        cmocka_unit_test(tombstones_that_were_not_stored_are_given_out_again),
        cmocka_unit_test(every_change_is_counted_in_and_out_once),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
