#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/random.h"
#include "src/base/thread.h"
#include "sync/delivery/document/budget.h"

#include <pthread.h>
#include <sched.h>

struct taker {
    struct budget *budget;
    struct stop *stop;
    bool taken;
};

static struct allowance *of(struct budget *b, const char *index)
{
    return budget_allowance(b, str_from(index));
}

static bool take_for(struct budget *b, const char *index, size_t n)
{
    return budget_try(b, &(struct budget_claim){of(b, index), n, false}, 1);
}

static bool take(struct budget *b, size_t n)
{
    return take_for(b, "orders_v1", n);
}

static void give_back_of(struct budget *b, struct allowance *a, size_t n)
{
    a->freed += n;
    budget_settle(b);
}

static void give_back(struct budget *b, size_t n)
{
    give_back_of(b, of(b, "orders_v1"), n);
}

static void *take_ten(void *arg)
{
    struct taker *t = arg;

    t->taken = budget_take(
        t->budget, &(struct budget_claim){of(t->budget, "orders_v1"), 10, false}, 1, NULL);
    return NULL;
}

static void wait_for_waiting(struct budget *b, size_t n)
{
    while (budget_waiting(b) != n)
        sched_yield();
}

static void *take_ten_until(void *arg)
{
    struct taker *t = arg;

    t->taken = budget_take(
        t->budget, &(struct budget_claim){of(t->budget, "orders_v1"), 10, false}, 1, t->stop);
    return NULL;
}

static void a_taker_that_is_stopped_goes_without(void **state)
{
    struct budget *b = budget_new(100);
    struct stop stop;
    struct taker t = {.budget = b, .stop = &stop, .taken = true};
    pthread_t thread;

    (void)state;
    stop_init(&stop);
    assert_true(take(b, 101));
    assert_int_equal(pthread_create(&thread, NULL, take_ten_until, &t), 0);
    wait_for_waiting(b, 1);
    stop_set(&stop);
    pthread_join(thread, NULL);
    assert_false(t.taken);
    assert_int_equal(budget_held(b), 101);
    budget_free(b);
    stop_fini(&stop);
}

static void a_taker_waits_while_more_than_the_limit_is_held(void **state)
{
    struct budget *b = budget_new(100);
    struct taker t = {.budget = b};
    pthread_t thread;

    (void)state;
    assert_true(take(b, 100));
    assert_true(take(b, 50)); /* no more than the limit was held */
    assert_int_equal(pthread_create(&thread, NULL, take_ten, &t), 0);
    wait_for_waiting(b, 1);
    give_back(b, 49);
    wait_for_waiting(b, 1);
    give_back(b, 1);
    pthread_join(thread, NULL);
    assert_true(t.taken);
    assert_int_equal(budget_held(b), 110);
    give_back(b, 110);
    budget_free(b);
}

static bool take_for_job(struct budget *b, size_t n)
{
    return budget_try(b, &(struct budget_claim){of(b, "orders_v1"), n, true}, 1);
}

static void jobs_leave_a_quarter_of_what_is_common_to_the_stream(void **state)
{
    struct budget *b = budget_new(1600); /* of which an allowance has 400 */

    (void)state;
    assert_true(take_for_job(b, 400 + 900));
    assert_true(take_for_job(b, 1));
    assert_false(take_for_job(b, 1));
    assert_true(take(b, 299));
    assert_true(take(b, 1));
    assert_false(take(b, 1));
    give_back(b, 1601);
    budget_free(b);
}

static void closing_refuses_those_who_wait(void **state)
{
    struct budget *b = budget_new(0);
    struct taker t = {.budget = b, .taken = true};
    pthread_t thread;

    (void)state;
    of(b, "orders_v1")->taken = 1;
    budget_settle(b);
    assert_int_equal(pthread_create(&thread, NULL, take_ten, &t), 0);
    wait_for_waiting(b, 1);
    budget_close(b);
    pthread_join(thread, NULL);
    assert_false(t.taken);
    assert_false(take(b, 1));
    assert_int_equal(budget_held(b), 1);
    budget_free(b);
}

static void what_one_index_fills_leaves_the_others_what_is_theirs(void **state)
{
    struct budget *b = budget_new(800);

    (void)state;
    (void)of(b, "items_v1"); /* of 200 each has half */
    assert_true(take(b, 701));
    assert_false(take(b, 1));
    assert_true(take_for(b, "items_v1", 60));
    assert_true(take_for(b, "items_v1", 40));
    assert_false(take_for(b, "items_v1", 1));
    assert_int_equal(budget_held(b), 801);
    give_back(b, 1);
    assert_true(take_for(b, "items_v1", 1));
    budget_free(b);
}

static void an_index_that_is_gone_leaves_its_own_to_the_others(void **state)
{
    struct budget *b = budget_new(800);

    (void)state;
    assert_true(take_for(b, "items_v1", 100));
    budget_drop(of(b, "items_v1"));
    budget_drop(of(b, "items_v1"));
    assert_true(take(b, 700));
    assert_true(take(b, 1)); /* 600 are for all, of which 600 are held */
    assert_false(take(b, 1));
    give_back_of(b, of(b, "items_v1"), 100);
    assert_true(take(b, 1));
    budget_free(b);
}

static void of_several_claims_all_are_taken_or_none(void **state)
{
    struct budget *b = budget_new(800);
    struct budget_claim claims[] = {{of(b, "items_v1"), 50, false},
                                    {of(b, "orders_v1"), 50, false}};

    (void)state;
    assert_true(take(b, 701));
    assert_false(budget_try(b, claims, 2));
    assert_int_equal(budget_held(b), 701);
    give_back(b, 1);
    assert_true(budget_try(b, claims, 2));
    assert_int_equal(budget_held(b), 800);
    budget_free(b);
}

static void a_large_document_goes_alone_and_takes_nobodys_room(void **state)
{
    struct budget *b = budget_new(800);
    struct allowance *large = budget_large(b);

    (void)state;
    assert_false(budget_is_large(b, 200));
    assert_true(budget_is_large(b, 201));
    assert_true(budget_try(b, &(struct budget_claim){large, 5000, false}, 1));
    assert_false(budget_try(b, &(struct budget_claim){large, 201, false}, 1));
    assert_true(budget_holds_large(b));
    assert_true(take(b, 800));
    assert_true(take(b, 1));
    assert_int_equal(budget_held(b), 5801);
    assert_int_equal(budget_excess(b, 0, 0), 1);
    give_back_of(b, large, 5000);
    assert_false(budget_holds_large(b));
    assert_true(budget_try(b, &(struct budget_claim){large, 201, false}, 1));
    budget_free(b);
}

static void *take_large(void *arg)
{
    struct taker *t = arg;

    t->taken = budget_take(
        t->budget, &(struct budget_claim){budget_large(t->budget), 300, false}, 1, NULL);
    return NULL;
}

static void what_is_too_much_is_what_others_wait_for(void **state)
{
    struct budget *b = budget_new(800);
    struct taker t = {.budget = b};
    pthread_t thread;

    (void)state;
    assert_true(take(b, 799));
    assert_int_equal(budget_excess(b, 0, 100), 0);
    assert_true(take(b, 11));
    assert_int_equal(budget_excess(b, 0, 100), 110);
    assert_int_equal(budget_excess(b, 10, 100), 100);
    assert_int_equal(budget_excess(b, 11, 100), 0);
    assert_true(budget_try(b, &(struct budget_claim){budget_large(b), 700, false}, 1));
    assert_int_equal(budget_excess(b, 11, 100), 0);
    assert_int_equal(pthread_create(&thread, NULL, take_large, &t), 0);
    wait_for_waiting(b, 1);
    assert_true(budget_waits_for_large(b));
    assert_int_equal(budget_excess(b, 11, 100), 0); /* nothing else makes room for it */
    give_back_of(b, budget_large(b), 700);
    pthread_join(thread, NULL);
    assert_true(t.taken);
    budget_free(b);
}

#define INDEXES 5

static const char *const names[INDEXES] = {"a_v1", "b_v1", "c_v1", "d_v1", "e_v1"};

/* What is let in: never more than the limit and a piece, and always what is an index's own. */
static void whoever_fills_it_the_limit_is_kept_and_none_waits_for_what_is_his(void **state)
{
    enum { MAX = 100000, PIECE = 9000, OWN = MAX / 4 / INDEXES };
    struct budget *b = budget_new(MAX);
    size_t held[INDEXES] = {0};
    struct random random;

    (void)state;
    random_init(&random, 11);
    for (size_t i = 0; i < INDEXES; i++)
        (void)of(b, names[i]);
    for (int step = 0; step < 200000; step++) {
        const size_t i = random_below(&random, step % 1000 < 900 ? 2 : INDEXES);
        const size_t n = 1 + random_below(&random, PIECE),
                     out = random_below(&random, held[i] + 1);

        if (random_below(&random, 3) == 0) {
            give_back_of(b, of(b, names[i]), out);
            held[i] -= out;
            continue;
        }

        const bool taken = take_for(b, names[i], n);

        assert_true(taken || held[i] + n > OWN);
        held[i] += taken ? n : 0;
        assert_true(budget_held(b) <= MAX + PIECE);
    }
    budget_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taker_that_is_stopped_goes_without),
        cmocka_unit_test(a_taker_waits_while_more_than_the_limit_is_held),
        cmocka_unit_test(jobs_leave_a_quarter_of_what_is_common_to_the_stream),
        cmocka_unit_test(closing_refuses_those_who_wait),
        cmocka_unit_test(what_one_index_fills_leaves_the_others_what_is_theirs),
        cmocka_unit_test(an_index_that_is_gone_leaves_its_own_to_the_others),
        cmocka_unit_test(of_several_claims_all_are_taken_or_none),
        cmocka_unit_test(a_large_document_goes_alone_and_takes_nobodys_room),
        cmocka_unit_test(what_is_too_much_is_what_others_wait_for),
        cmocka_unit_test(whoever_fills_it_the_limit_is_kept_and_none_waits_for_what_is_his),
    };
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
