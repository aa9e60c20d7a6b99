#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/dead_letter/purged_slice.h"
#include "sync/checkpoint/ticket.h"

static void each_document_ends_as_its_own_ticket_says(void **state)
{
    static const struct {
        enum outcome how;
        enum purged_state state;
    } cases[] = {
        {OUTCOME_DELIVERED, PURGED_WRITTEN}, {OUTCOME_SUPERSEDED, PURGED_WRITTEN},
        {OUTCOME_FILTERED, PURGED_WRITTEN},  {OUTCOME_DEAD, PURGED_WRITTEN},
        {OUTCOME_PURGED, PURGED_UNDONE},     {OUTCOME_DEFERRED, PURGED_UNDONE},
    };
    struct purged_slice *s = purged_slice_new(ARRAY_LEN(cases));
    struct ticket *tickets[ARRAY_LEN(cases)];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        tickets[i] = purged_slice_ticket(s, i);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(purged_slice_state(s, i), PURGED_OUT);
        assert_false(purged_slice_is_over(s));
        ticket_done(tickets[i], cases[i].how);
        assert_int_equal(purged_slice_state(s, i), cases[i].state);
    }
    assert_true(purged_slice_is_over(s));
    purged_slice_leave(s);
}

static void what_is_given_up_is_undone(void **state)
{
    struct purged_slice *s = purged_slice_new(1);

    (void)state;
    ticket_abandon(purged_slice_ticket(s, 0));
    assert_int_equal(purged_slice_state(s, 0), PURGED_UNDONE);
    assert_true(purged_slice_is_over(s));
    purged_slice_leave(s);
}

static void of_less_than_it_has_room_for_it_is_over_too(void **state)
{
    struct purged_slice *s = purged_slice_new(5);

    (void)state;
    assert_true(purged_slice_is_over(s));
    ticket_done(purged_slice_ticket(s, 0), OUTCOME_DELIVERED);
    assert_true(purged_slice_is_over(s));
    purged_slice_leave(s);
}

static void its_tickets_may_end_after_it_was_left(void **state)
{
    struct purged_slice *s = purged_slice_new(2);
    struct ticket *first = purged_slice_ticket(s, 0), *second = purged_slice_ticket(s, 1);

    (void)state;
    purged_slice_leave(s);
    ticket_done(first, OUTCOME_DELIVERED);
    ticket_abandon(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_document_ends_as_its_own_ticket_says),
        cmocka_unit_test(what_is_given_up_is_undone),
        cmocka_unit_test(of_less_than_it_has_room_for_it_is_over_too),
        cmocka_unit_test(its_tickets_may_end_after_it_was_left),
    };
    return cmocka_run_group_tests_name("purged_slice", tests, NULL, NULL);
}
