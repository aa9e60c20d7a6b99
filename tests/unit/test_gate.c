/*
 * The guard of an index: examples, and random games beside a model that keeps every answer and
 * looks back through them (tests/unit/game.h).
 */
#include "config.h"

#include "tests/unit/game.h"

#include "sync/delivery/index/gate.h"

#define STEPS 300

static void a_trickle_of_nothing_but_refused_documents_is_the_index(void **state)
{
    struct guard g = {0};

    (void)state;
    for (unsigned i = 1; i < GUARD_DOCUMENTS; i++)
        assert_false(guard_judge(&g, 1, 0, false));
    assert_true(guard_judge(&g, 1, 0, false));
}

static void one_refused_among_good_ones_is_to_blame_itself(void **state)
{
    struct guard g = {0};

    (void)state;
    for (unsigned i = 0; i < 10 * GUARD_DOCUMENTS; i++) {
        assert_false(guard_judge(&g, 1, 0, false));
        assert_false(guard_judge(&g, 0, 1, false));
    }
}

static void a_good_one_now_and_then_does_not_hide_that_most_are_refused(void **state)
{
    struct guard g = {0};
    unsigned n = 0;

    (void)state;
    while (!guard_judge(&g, 3, 0, false)) {
        assert_false(guard_judge(&g, 0, 1, false));
        assert_true(++n < GUARD_DOCUMENTS);
    }
}

static void an_answer_of_many_tells_alone(void **state)
{
    struct guard g = {0};

    (void)state;
    assert_false(guard_judge(&g, 500, 500, false));
    assert_true(guard_judge(&g, 501, 499, false));
}

static void a_sample_of_a_held_index_is_judged_whatever_came_before(void **state)
{
    struct guard g = {0};

    (void)state;
    assert_true(guard_judge(&g, 1000, 0, false));
    assert_true(guard_judge(&g, 1, 0, true));
    assert_false(guard_judge(&g, 0, 0, true));
    assert_false(guard_judge(&g, 1, 1, true));
    assert_false(guard_judge(&g, 1, 0, false));
}

struct answer {
    size_t n_refused, n_taken;
    bool is_held;
};

/* The index is to blame when more than half are refused, and enough, of the answers since the
 * last one up to which no more than half were. */
static bool should_blame(const struct answer *all, size_t n)
{
    size_t n_refused = 0, n_judged = 0;

    for (size_t i = 0; i < n; i++) {
        const bool begins = all[i].is_held || n_refused * 2 <= n_judged;

        n_refused = all[i].n_refused + (begins ? 0 : n_refused);
        n_judged = all[i].n_refused + all[i].n_taken + (begins ? 0 : n_judged);
    }
    return n_refused * 2 > n_judged && (all[n - 1].is_held || n_refused >= GUARD_DOCUMENTS);
}

static void play(struct game *game)
{
    struct answer all[STEPS];
    struct guard g = {0};
    struct random r;
    size_t n = 0;
    bool is_held = false;

    while (game_next(game, &r)) {
        const size_t max = random_below(&r, 4) == 0 ? 40 : 4;
        struct answer *a = &all[n++];

        *a = (struct answer){random_below(&r, max), random_below(&r, max),
                             is_held && random_below(&r, 8) > 0};
        is_held = guard_judge(&g, a->n_refused, a->n_taken, a->is_held);
        game_say("%zu refused, %zu taken%s: %s", a->n_refused, a->n_taken,
                 a->is_held ? ", held" : "", is_held ? "the index" : "they");
        must(is_held == should_blame(all, n));
    }
}

static void the_guard_is_as_its_model_in_random_games(void **state)
{
    (void)state;
    games_play(play, STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trickle_of_nothing_but_refused_documents_is_the_index),
        cmocka_unit_test(one_refused_among_good_ones_is_to_blame_itself),
        cmocka_unit_test(a_good_one_now_and_then_does_not_hide_that_most_are_refused),
        cmocka_unit_test(an_answer_of_many_tells_alone),
        cmocka_unit_test(a_sample_of_a_held_index_is_judged_whatever_came_before),
        cmocka_unit_test(the_guard_is_as_its_model_in_random_games),
    };
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
