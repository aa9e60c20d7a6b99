#include "config.h"

#include "tests/unit/unit.h"

#include "sync/checkpoint/checkpoint.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/checkpoint/ticket.h"

static void what_entered_before_the_turn_is_waited_for(void **state)
{
    struct grace_period *t = grace_period_new();
    const unsigned before = grace_period_enter(t);

    (void)state;
    assert_true(grace_period_turn(t, 0));
    assert_false(grace_period_is_clear(t));

    const unsigned after = grace_period_enter(t);

    grace_period_leave(t, before);
    assert_true(grace_period_is_clear(t));
    grace_period_leave(t, after);
    grace_period_unref(t);
}

static void it_is_not_turned_while_somebody_is_left_from_before(void **state)
{
    struct grace_period *t = grace_period_new();
    const unsigned before = grace_period_enter(t);

    (void)state;
    assert_true(grace_period_turn(t, 5));
    assert_false(grace_period_turn(t, 9));
    assert_int_equal(grace_period_floor(t), 5);
    grace_period_leave(t, before);
    assert_true(grace_period_turn(t, 3));
    assert_int_equal(grace_period_floor(t), 5);
    grace_period_unref(t);
}

static void a_ticket_leaves_when_only_holders_are_left(void **state)
{
    struct grace_period *t = grace_period_new();
    struct checkpoint *cp = checkpoint_new();
    const uint64_t seq = checkpoint_open(cp);
    struct ticket_counters c = {0};
    struct ticket *ticket = ticket_new(cp, seq, &c);

    (void)state;
    checkpoint_close(cp, seq);
    ticket_pass(ticket, t, grace_period_enter(t));
    assert_true(grace_period_turn(t, 0));
    assert_ptr_equal(ticket_hold(ticket), ticket);
    ticket_ref(ticket);
    ticket_done(ticket, OUTCOME_DELIVERED);
    assert_false(grace_period_is_clear(t));
    ticket_done(ticket, OUTCOME_DELIVERED);
    assert_true(grace_period_is_clear(t));
    assert_int_equal(checkpoint_safe(cp), 0);
    ticket_release(ticket, OUTCOME_DEAD);
    assert_int_equal(checkpoint_safe(cp), seq);
    assert_int_equal(c.done[OUTCOME_DEAD], 1);
    checkpoint_unref(cp);
    grace_period_unref(t);
}

static void note(void *ctx)
{
    ++*(int *)ctx;
}

static void never(void *ctx, enum outcome worst)
{
    (void)ctx;
    (void)worst;
    fail();
}

static void an_abandoned_ticket_leaves_and_says_so_at_the_end(void **state)
{
    struct grace_period *t = grace_period_new();
    int abandoned = 0;
    struct ticket *ticket = ticket_new_cb(never, &abandoned);

    (void)state;
    ticket_on_abandon(ticket, note);
    ticket_pass(ticket, t, grace_period_enter(t));
    assert_true(grace_period_turn(t, 0));
    assert_non_null(ticket_hold(ticket));
    ticket_abandon(ticket);
    assert_true(grace_period_is_clear(t));
    assert_int_equal(abandoned, 0);
    ticket_release(ticket, OUTCOME_DELIVERED);
    assert_int_equal(abandoned, 1);
    grace_period_unref(t);
}

/* As those of a source that has ended, while the engine has not answered yet. */
static void a_ticket_outlives_what_it_counts_for(void **state)
{
    struct grace_period *t = grace_period_new();
    struct checkpoint *cp = checkpoint_new();
    const uint64_t seq = checkpoint_open(cp);
    struct ticket *done = ticket_new(cp, seq, checkpoint_counters(cp)),
                  *lost = ticket_new(cp, seq, checkpoint_counters(cp));

    (void)state;
    ticket_pass(done, t, grace_period_enter(t));
    ticket_pass(lost, t, grace_period_enter(t));
    grace_period_unref(t);
    checkpoint_unref(cp);
    ticket_abandon(lost);
    assert_int_equal(checkpoint_counters(cp)->read, 2); /* the other one has it still */
    ticket_done(done, OUTCOME_DELIVERED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_entered_before_the_turn_is_waited_for),
        cmocka_unit_test(it_is_not_turned_while_somebody_is_left_from_before),
        cmocka_unit_test(a_ticket_outlives_what_it_counts_for),
        cmocka_unit_test(a_ticket_leaves_when_only_holders_are_left),
        cmocka_unit_test(an_abandoned_ticket_leaves_and_says_so_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
