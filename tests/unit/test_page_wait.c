#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/build/page_wait.h"
#include "src/base/thread.h"
#include "sync/checkpoint/ticket.h"

/* Two documents end so; whether the page's wait ends well, and else the kind of its error. */
static bool ends_well(enum outcome one, enum outcome other, enum err_kind *kind)
{
    struct ticket *ticket;
    struct page_wait *w = page_wait_new(&ticket);
    struct err err = {0};
    struct stop stop;

    stop_init(&stop);
    ticket_done(ticket_ref(ticket), one);
    ticket_done(ticket, other);

    const bool ok = page_wait_end(w, &stop, &err);

    *kind = err.kind;
    page_wait_free(w);
    stop_fini(&stop);
    return ok;
}

static void
a_page_is_done_when_its_documents_are_acknowledged_or_the_store_has_them(void **state)
{
    enum err_kind kind;

    (void)state;
    assert_true(ends_well(OUTCOME_DELIVERED, OUTCOME_SUPERSEDED, &kind));
    assert_true(ends_well(OUTCOME_DELIVERED, OUTCOME_DEAD, &kind));
    assert_true(ends_well(OUTCOME_PURGED, OUTCOME_DELIVERED, &kind));
}

static void a_page_of_which_a_document_was_given_up_is_read_again(void **state)
{
    enum err_kind kind;

    (void)state;
    assert_false(ends_well(OUTCOME_DELIVERED, OUTCOME_DEFERRED, &kind));
    assert_int_equal(kind, ERR_RETRY);
    assert_false(ends_well(OUTCOME_DEAD, OUTCOME_DEFERRED, &kind));
    assert_int_equal(kind, ERR_RETRY);
}

static void a_page_whose_documents_are_thrown_away_is_read_again(void **state)
{
    struct ticket *ticket;
    struct page_wait *w = page_wait_new(&ticket);
    struct err err = {0};
    struct stop stop;

    (void)state;
    stop_init(&stop);
    ticket_abandon(ticket);
    assert_false(page_wait_end(w, &stop, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    page_wait_free(w);
    stop_fini(&stop);
}

static void a_page_that_is_not_waited_for_may_end_later(void **state)
{
    struct ticket *ticket;
    struct page_wait *w = page_wait_new(&ticket);
    struct err err = {0};
    struct stop stop;

    (void)state;
    stop_init(&stop);
    stop_set(&stop);
    assert_false(page_wait_end(w, &stop, &err));
    assert_int_equal(err.kind, ERR_STOP);
    page_wait_free(w);
    ticket_done(ticket, OUTCOME_DELIVERED);
    stop_fini(&stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_page_is_done_when_its_documents_are_acknowledged_or_the_store_has_them),
        cmocka_unit_test(a_page_of_which_a_document_was_given_up_is_read_again),
        cmocka_unit_test(a_page_whose_documents_are_thrown_away_is_read_again),
        cmocka_unit_test(a_page_that_is_not_waited_for_may_end_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
