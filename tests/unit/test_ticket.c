#include "config.h"

#include "tests/unit/unit.h"

#include "sync/checkpoint/checkpoint.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/document/target.h"

#include <pthread.h>
#include <stdlib.h>

static void a_ticket_leaves_under_the_worst_outcome(void **state)
{
    struct ticket_counters c = {0};
    struct ticket *t = ticket_new(NULL, 0, &c);

    (void)state;
    ticket_ref(t);
    ticket_ref(t);
    ticket_done(t, OUTCOME_SUPERSEDED);
    ticket_done(t, OUTCOME_DEAD);
    assert_int_equal(c.read, 1);
    assert_int_equal(c.done[OUTCOME_DEAD], 0);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(c.done[OUTCOME_DEAD], 1);
    assert_int_equal(c.done[OUTCOME_DELIVERED] + c.done[OUTCOME_SUPERSEDED], 0);
}

/* What is not done is to be done, whatever became of the rest. */
static void nothing_hides_that_something_is_not_done(void **state)
{
    (void)state;
    for (unsigned other = 0; other < N_OUTCOMES; other++) {
        struct ticket_counters c = {0};
        struct ticket *t = ticket_new(NULL, 0, &c);

        ticket_done(ticket_ref(t), OUTCOME_DEFERRED);
        ticket_done(t, (enum outcome)other);
        assert_int_equal(c.done[OUTCOME_DEFERRED], 1);
    }
}

static void the_transaction_waits_for_the_last_reference(void **state)
{
    struct checkpoint *cp = checkpoint_new();
    uint64_t seq = checkpoint_open(cp);
    struct ticket *t = ticket_new(cp, seq, NULL);

    (void)state;
    checkpoint_close(cp, seq);
    ticket_ref(t);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(checkpoint_safe(cp), 0);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(checkpoint_safe(cp), seq);
    checkpoint_unref(cp);
}

static void an_abandoned_ticket_holds_the_checkpoint_back(void **state)
{
    struct checkpoint *cp = checkpoint_new();
    uint64_t seq = checkpoint_open(cp);
    struct ticket_counters c = {0};
    struct ticket *t = ticket_new(cp, seq, &c);

    (void)state;
    checkpoint_close(cp, seq);
    ticket_ref(t);
    ticket_abandon(t);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(checkpoint_safe(cp), 0);
    for (unsigned i = 0; i < N_OUTCOMES; i++)
        assert_int_equal(c.done[i], 0);
    checkpoint_unref(cp);
}

static void note(void *ctx, enum outcome worst)
{
    *(enum outcome *)ctx = worst;
}

static void the_callback_hears_the_worst_outcome_once(void **state)
{
    enum outcome heard = N_OUTCOMES;
    struct ticket *t = ticket_new_cb(note, &heard);

    (void)state;
    ticket_ref(t);
    ticket_done(t, OUTCOME_PURGED);
    assert_int_equal(heard, N_OUTCOMES);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(heard, OUTCOME_PURGED);
}

#define THREADS  4
#define REFS_PER 20000

static void *give_back(void *arg)
{
    for (int i = 0; i < REFS_PER; i++)
        ticket_done(arg, i % 1000 == 7 ? OUTCOME_SUPERSEDED : OUTCOME_DELIVERED);
    return NULL;
}

static void references_given_back_from_many_threads_are_counted_exactly(void **state)
{
    struct ticket_counters c = {0};
    struct ticket *t = ticket_new(NULL, 0, &c);
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS * REFS_PER; i++)
        ticket_ref(t);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, give_back, t), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.done[OUTCOME_SUPERSEDED], 0);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_int_equal(c.done[OUTCOME_SUPERSEDED], 1);
}

static void a_turnstile_is_left_with_the_last_reference_that_works(void **state)
{
    struct grace_period *gate = grace_period_new();
    enum outcome heard = OUTCOME_DELIVERED;
    struct ticket *t = ticket_new_cb(note, &heard);

    (void)state;
    ticket_pass(t, gate, grace_period_enter(gate));
    assert_true(grace_period_turn(gate, 0));
    ticket_done(ticket_ref(t), OUTCOME_DELIVERED);
    assert_false(grace_period_is_clear(gate));
    (void)ticket_hold(t);
    ticket_done(t, OUTCOME_DELIVERED);
    assert_true(grace_period_is_clear(gate));
    ticket_release(t, OUTCOME_DELIVERED);
    grace_period_unref(gate);
}

static void count_call(void *plan)
{
    ++*(int *)plan;
}

static void a_target_gives_its_plan_back_once(void **state)
{
    int calls = 0;
    struct target *t =
        target_new(STR("orders_v2"), STR("orders_write"), STR("shop.orders"), STR("shop"));

    (void)state;
    t->plan = &calls;
    t->plan_free = count_call;
    assert_string_equal(t->index, "orders_v2");
    target_unref(target_ref(t));
    assert_int_equal(calls, 0);
    target_unref(t);
    assert_int_equal(calls, 1);
    target_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ticket_leaves_under_the_worst_outcome),
        cmocka_unit_test(nothing_hides_that_something_is_not_done),
        cmocka_unit_test(the_transaction_waits_for_the_last_reference),
        cmocka_unit_test(an_abandoned_ticket_holds_the_checkpoint_back),
        cmocka_unit_test(the_callback_hears_the_worst_outcome_once),
        cmocka_unit_test(references_given_back_from_many_threads_are_counted_exactly),
        cmocka_unit_test(a_turnstile_is_left_with_the_last_reference_that_works),
        cmocka_unit_test(a_target_gives_its_plan_back_once),
    };
    return cmocka_run_group_tests_name("ticket", tests, NULL, NULL);
}
