#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/random.h"
#include "sync/delivery/index/purge.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACES 5

/* T9: mark 4, and the fifth comes. */
static void each_strategy_takes_what_it_says(void **state)
{
    static const struct {
        enum purge_strategy how;
        size_t sum;
    } expected[] = {{PURGE_ONE, 1}, {PURGE_INDEX, 4}, {PURGE_ALL, 8}, {PURGE_OFF, 0}};
    struct random r;

    (void)state;
    random_init(&r, 1);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        struct purge_place places[] = {{true, 4, 9}, {false, 100, 9}, {true, 4, 9}};

        assert_int_equal(purge_choose(expected[i].how, places, 3, 1, &r), expected[i].sum);
        assert_int_equal(places[1].take, 0);
        assert_int_equal(places[0].take + places[2].take, expected[i].sum);
    }
}

static void each_index_that_takes_nothing_gives_at_times(void **state)
{
    struct purge_place places[] = {{true, 4, 0}, {true, 4, 0}, {true, 4, 0}};
    struct random r;
    size_t n[3] = {0};

    (void)state;
    random_init(&r, 7);
    for (unsigned i = 0; i < 3000; i++) {
        assert_int_equal(purge_choose(PURGE_ONE, places, 3, 1, &r), 1);
        for (size_t j = 0; j < 3; j++)
            n[j] += places[j].take;
    }
    for (size_t j = 0; j < 3; j++)
        assert_in_range(n[j], 800, 1200);
}

/* ---- the rules, at random ---- */

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static size_t sum_blown(const struct purge_place *p)
{
    size_t sum = 0;

    for (size_t i = 0; i < PLACES; i++)
        sum += p[i].is_blown ? p[i].n : 0;
    return sum;
}

static void check(enum purge_strategy how, const struct purge_place *p, size_t over, size_t sum)
{
    const size_t can = sum_blown(p);
    size_t taken = 0, n_part = 0;

    for (size_t i = 0; i < PLACES; i++) {
        assert_true(p[i].take <= p[i].n);
        assert_true(p[i].is_blown || p[i].take == 0);
        n_part += p[i].take > 0 && p[i].take < p[i].n;
        taken += p[i].take;
    }
    assert_int_equal(taken, sum);
    switch (how) {
    case PURGE_OFF: assert_int_equal(sum, 0); return;
    case PURGE_ONE: assert_int_equal(sum, over < can ? over : can); return;
    case PURGE_ALL: assert_int_equal(sum, over == 0 ? 0 : can); return;
    case PURGE_INDEX:
        assert_int_equal(n_part, 0);
        assert_true(sum >= (over < can ? over : can));
        return;
    case N_PURGE_STRATEGIES: break;
    }
    fail();
}

static void
no_more_goes_than_the_strategy_says_and_only_of_indexes_that_take_nothing(void **state)
{
    const uint64_t seed = number_from("MILLRACE_SEED", 20240607);
    const uint64_t steps = number_from("MILLRACE_STEPS", 1000000);
    struct random r;

    (void)state;
    print_message("MILLRACE_SEED=%llu MILLRACE_STEPS=%llu\n", (unsigned long long)seed,
                  (unsigned long long)steps);
    random_init(&r, seed);
    for (uint64_t i = 0; i < steps; i++) {
        const enum purge_strategy how =
            (enum purge_strategy)random_below(&r, N_PURGE_STRATEGIES);
        struct purge_place places[PLACES];
        const size_t over = random_below(&r, 12);

        for (size_t j = 0; j < PLACES; j++)
            places[j] = (struct purge_place){random_below(&r, 2) == 0, random_below(&r, 5),
                                             random_below(&r, 9)};
        check(how, places, over, purge_choose(how, places, PLACES, over, &r));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_strategy_takes_what_it_says),
        cmocka_unit_test(each_index_that_takes_nothing_gives_at_times),
        cmocka_unit_test(
            no_more_goes_than_the_strategy_says_and_only_of_indexes_that_take_nothing),
    };
    return cmocka_run_group_tests_name("purge", tests, NULL, NULL);
}
