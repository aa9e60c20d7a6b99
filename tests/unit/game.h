/*
 * Random games: a machine is played beside a model, step by step, until they differ.
 *
 * Each step has a seed of its own, which is all that it draws from, so that steps can be left
 * out and the others do what they did.  A game that fails is made shorter that way, as far as
 * it goes on failing, and played once more with each step told.  must() fails a game, and so
 * does an assertion in the machine.
 *
 * MILLRACE_SEED is the first game's seed, MILLRACE_STEPS how many steps are played in all.
 */
#ifndef TESTS_UNIT_GAME_H
#define TESTS_UNIT_GAME_H

#include "tests/unit/unit.h"

#include "src/base/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAME_STEPS   1000000
#define GAME_PRINTED 200 /* steps of a game that fails */

struct game {
    uint64_t named; /* MILLRACE_SEED of it */
    uint64_t seed;  /* of how it begins; steps have their own */
    size_t n;
    uint64_t *steps;
    size_t at; /* the step that is played */
    bool tells;
    char wrong[500];
    sigjmp_buf failed;
};

/* Plays a whole game; it may be left by must(). */
typedef void game_player(struct game *g);

static struct game *game_now;

static inline void game_fail(const char *what, const char *file, int line)
{
    snprintf(game_now->wrong, sizeof(game_now->wrong), "%s:%d: not so: %s", file, line, what);
    siglongjmp(game_now->failed, 1);
}

#define must(condition)                                \
    do {                                               \
        if (!(condition))                              \
            game_fail(#condition, __FILE__, __LINE__); \
    } while (0)

/* What a step does, for whoever reads the game that failed. */
#define game_say(...)                                         \
    do {                                                      \
        if (game_now->tells && game_now->n <= GAME_PRINTED) { \
            print_message("  step %zu: ", game_now->at);      \
            print_message(__VA_ARGS__);                       \
            print_message("\n");                              \
        }                                                     \
    } while (0)

/* The next step: r draws from its seed.  False: the game is over. */
static inline bool game_next(struct game *g, struct random *r)
{
    if (g->at == SIZE_MAX)
        g->at = 0;
    else
        g->at++;
    if (g->at >= g->n)
        return false;
    random_init(r, g->steps[g->at]);
    return true;
}

static inline void game_on_abort(int signal)
{
    (void)signal;
    snprintf(game_now->wrong, sizeof(game_now->wrong), "an assertion in the machine");
    siglongjmp(game_now->failed, 1);
}

/* What is left then is no ground to play on. */
static inline void game_on_crash(int signal)
{
    fprintf(stderr, "MILLRACE_SEED=%" PRIu64 " MILLRACE_STEPS=1 crashes it\n", game_now->named);
    (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)raise(signal);
}

/* False: it failed, and g->wrong says how. */
static inline bool game_play(struct game *g, game_player *play)
{
    const struct sigaction on_abort = {.sa_handler = game_on_abort};
    const struct sigaction on_crash = {.sa_handler = game_on_crash};
    bool well = true;

    g->at = SIZE_MAX;
    game_now = g;
    sigaction(SIGABRT, &on_abort, NULL);
    sigaction(SIGSEGV, &on_crash, NULL);
    if (sigsetjmp(g->failed, 1) == 0)
        play(g);
    else
        well = false;
    return well;
}

/* Does it fail as well without those steps?  Then they stay out. */
static inline bool game_drop(struct game *g, game_player *play, size_t from, size_t n)
{
    struct game less = {.named = g->named, .seed = g->seed, .n = g->n - n};
    bool fails;

    less.steps = malloc((less.n + 1) * sizeof(*less.steps));
    memcpy(less.steps, g->steps, from * sizeof(*less.steps));
    memcpy(less.steps + from, g->steps + from + n, (less.n - from) * sizeof(*less.steps));
    fails = !game_play(&less, play);
    if (fails) {
        memcpy(g->steps, less.steps, less.n * sizeof(*less.steps));
        g->n = less.at < less.n ? less.at + 1 : less.n;
    }
    free(less.steps);
    return fails;
}

/* Leave out halves, quarters ... and single steps, until every one is needed. */
static inline void game_shrink(struct game *g, game_player *play)
{
    bool shorter = true;

    if (g->at < g->n)
        g->n = g->at + 1; /* nothing is needed of what came after */
    while (shorter) {
        shorter = false;
        for (size_t size = g->n / 2 > 0 ? g->n / 2 : 1; size > 0; size /= 2)
            for (size_t end = g->n; end >= size && end > 0;) {
                shorter |= game_drop(g, play, end - size, size);
                end = end - size < g->n ? end - size : g->n;
            }
    }
}

static inline uint64_t game_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static inline void game_begin(struct game *g, uint64_t seed, size_t steps_max)
{
    struct random r;

    random_init(&r, seed);
    *g = (struct game){
        .named = seed, .seed = random_next(&r), .n = 1 + random_below(&r, steps_max)};
    g->steps = malloc(g->n * sizeof(*g->steps));
    for (size_t i = 0; i < g->n; i++)
        g->steps[i] = random_next(&r);
}

/* Games of up to steps_max steps each, until enough steps were played, or one of them fails.
 * Each step counts for weight steps, as it takes about that many times as long as others. */
static inline void games_play_heavy(game_player *play, size_t steps_max, uint64_t weight)
{
    const uint64_t first = game_number("MILLRACE_SEED", 20240607);
    const uint64_t n_steps = game_number("MILLRACE_STEPS", GAME_STEPS);
    uint64_t done = 0;

    print_message("games from MILLRACE_SEED=%" PRIu64 " on, %" PRIu64 " steps\n", first,
                  n_steps);
    for (uint64_t seed = first; done < n_steps; seed++) {
        struct game g;
        size_t n;

        game_begin(&g, seed, steps_max);
        n = g.n;
        done += n * weight;
        if (!game_play(&g, play)) {
            game_shrink(&g, play);
            print_message("of %zu steps these are enough:\n", n);
            g.tells = true;
            (void)game_play(&g, play);
            fail_msg("%s; MILLRACE_SEED=%" PRIu64 " MILLRACE_STEPS=1 plays it alone", g.wrong,
                     g.named);
        }
        free(g.steps);
    }
}

static inline void games_play(game_player *play, size_t steps_max)
{
    games_play_heavy(play, steps_max, 1);
}

#endif
