/*
 * The fuse of an index: examples, and random games beside a model that keeps all that happened
 * and looks through it each time.  A game that fails is made shorter, step by step, and
 * printed.
 *
 * MILLRACE_SEED begins with another seed, MILLRACE_STEPS plays longer (1,000,000).
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/random.h"
#include "sync/delivery/index/fuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fuse_options usual = {.failures = 3, .window_ms = 5000, .reset_ms = 30000};

static struct fuse a_fuse(void)
{
    struct fuse f;

    fuse_init(&f, &usual);
    return f;
}

/* Melts of requests that are sent when the one before is answered, so long after each other. */
static enum fuse_change melts(struct fuse *f, unsigned n, int64_t *now_ms, int64_t apart_ms)
{
    enum fuse_change change = FUSE_SAME;

    for (unsigned i = 0; i < n; i++) {
        const int64_t sent_ms = *now_ms;

        *now_ms += apart_ms;
        change = fuse_count_failure(f, FAILURE_ANSWER, sent_ms, *now_ms);
    }
    return change;
}

static void enough_failures_blow_it_and_nothing_goes_until_the_reset(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    assert_int_equal(melts(&f, 2, &now, 100), FUSE_SAME);
    assert_int_equal(fuse_opens_at(&f), 0);
    assert_int_equal(melts(&f, 1, &now, 100), FUSE_BLEW);
    assert_int_equal(f.state, FUSE_BLOWN);
    assert_int_equal(fuse_opens_at(&f), now + 30000);
}

static void failures_in_a_row_blow_it_however_slow_they_are(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    assert_int_equal(melts(&f, 2, &now, 60000), FUSE_SAME);
    assert_int_equal(melts(&f, 1, &now, 60000), FUSE_BLEW);
}

static void failures_among_good_answers_count_within_the_window_only(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(melts(&f, 1, &now, 3000), FUSE_SAME);
        assert_int_equal(fuse_good(&f, now), FUSE_SAME);
    }
    assert_int_equal(melts(&f, 1, &now, 1000), FUSE_BLEW);
}

static void one_request_is_tried_and_any_answer_heals(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    melts(&f, 3, &now, 100);
    now += 30000;
    fuse_begin(&f, now);
    assert_int_equal(f.state, FUSE_PROBING);
    assert_int_equal(fuse_opens_at(&f), FUSE_NEVER_MS);
    assert_int_equal(fuse_good(&f, now), FUSE_HEALED);
    assert_int_equal(fuse_opens_at(&f), 0);
    assert_int_equal(melts(&f, 2, &now, 100), FUSE_SAME);
}

static void a_try_that_fails_begins_the_wait_anew(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    melts(&f, 3, &now, 100);
    now += 30000;
    fuse_begin(&f, now);
    assert_int_equal(fuse_count_failure(&f, FAILURE_ANSWER, now, now + 7), FUSE_SAME);
    assert_int_equal(f.state, FUSE_BLOWN);
    assert_int_equal(fuse_opens_at(&f), now + 7 + 30000);
}

static void late_answers_of_what_was_sent_before_change_nothing(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    melts(&f, 3, &now, 100);
    assert_int_equal(fuse_good(&f, 1050), FUSE_SAME);
    now += 30000;
    fuse_begin(&f, now);
    assert_int_equal(fuse_good(&f, 1050), FUSE_SAME);
    assert_int_equal(fuse_count_failure(&f, FAILURE_ANSWER, 1050, now), FUSE_SAME);
    assert_int_equal(f.state, FUSE_PROBING);
    assert_int_equal(fuse_good(&f, now), FUSE_HEALED);
    for (int i = 0; i < 5; i++)
        assert_int_equal(fuse_count_failure(&f, FAILURE_ANSWER, 1050, now + i), FUSE_SAME);
}

static void connections_that_are_cut_together_are_one_failure(void **state)
{
    struct fuse f = a_fuse();

    (void)state;
    for (int i = 0; i < 10; i++)
        assert_int_equal(fuse_count_failure(&f, FAILURE_CONNECTION, 1000, 2000), FUSE_SAME);
    assert_int_equal(fuse_count_failure(&f, FAILURE_CONNECTION, 2001, 2002), FUSE_SAME);
    assert_int_equal(fuse_count_failure(&f, FAILURE_CONNECTION, 2003, 2004), FUSE_BLEW);
}

static void one_node_does_not_blow_the_fuse_of_an_index_that_others_serve(void **state)
{
    struct fuse f = a_fuse();

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(fuse_count_failure(&f, FAILURE_CONNECTION, 1000 + i, 1000 + i),
                         FUSE_SAME);
        fuse_good(&f, 1000 + i);
    }
}

static void one_shard_does_not_blow_the_fuse_of_an_index_that_answers(void **state)
{
    struct fuse f = a_fuse();

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(fuse_count_failure(&f, FAILURE_ITEMS, 1000 + i, 1000 + i), FUSE_SAME);
        assert_int_equal(fuse_count_failure(&f, FAILURE_ITEMS, 1000 + i, 1000 + i), FUSE_SAME);
        fuse_good(&f, 1000 + i);
    }
}

static void one_of_several_addresses_does_not_blow_it_and_two_do(void **state)
{
    struct fuse f = a_fuse();
    const int64_t now = 1000;

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(fuse_excuses(&f, 7, now));
    assert_false(fuse_excuses(&f, 8, now));
    assert_false(fuse_excuses(&f, 8, now));
    assert_false(fuse_excuses(&f, 7, now)); /* neither is sick alone */
    fuse_good(&f, now);
    assert_true(fuse_excuses(&f, 8, now));
    assert_false(fuse_excuses(&f, 7, now));
    fuse_close(&f, now + 1);
    assert_true(fuse_excuses(&f, 7, now));
    assert_true(fuse_excuses(&f, 8, now + 1));
}

static void what_shows_whether_it_heals_is_never_excused(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    melts(&f, 3, &now, 100);
    fuse_try(&f, now);
    fuse_begin(&f, now);
    assert_false(fuse_excuses(&f, 7, now));
    fuse_count_failure(&f, FAILURE_ANSWER, now, now + 1);
    assert_int_equal(fuse_opens_at(&f), now + 1 + 30000);
}

static void a_hand_tries_it_now(void **state)
{
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    fuse_try(&f, now);
    assert_int_equal(fuse_opens_at(&f), 0);
    melts(&f, 3, &now, 100);
    fuse_try(&f, now);
    assert_int_equal(fuse_opens_at(&f), now);
}

static void a_new_reset_time_counts_from_when_it_blew(void **state)
{
    const struct fuse_options soon = {.failures = 1, .window_ms = 1, .reset_ms = 100};
    struct fuse f = a_fuse();
    int64_t now = 1000;

    (void)state;
    melts(&f, 3, &now, 100);
    fuse_set(&f, &soon);
    assert_int_equal(fuse_opens_at(&f), now + 100);
}

/* --- random games --- */

#define STEPS_MAX 120

enum move { MELT, GOOD, BEGIN, TRY, CLOSE, N_MOVES };

struct step {
    enum move move;
    enum failure how;
    uint64_t address; /* where it failed, while another could be used; 0: none could */
    int64_t after_ms; /* since the step before */
    int64_t took_ms;  /* of the request that is answered */
};

struct game {
    struct fuse_options opt;
    size_t n;
    struct step steps[STEPS_MAX];
};

/* What happened since the state last changed. */
struct past {
    bool good;
    uint64_t
        address; /* it failed there, which by itself counts for nothing; 0: none of these */
    enum failure how;
    int64_t at_ms;
};

struct model {
    enum fuse_state state;
    int64_t since_ms, opens_ms;
    size_t n;
    struct past past[2 * STEPS_MAX];
};

static void enter(struct model *m, enum fuse_state state, int64_t since_ms, int64_t opens_ms)
{
    *m = (struct model){.state = state, .since_ms = since_ms, .opens_ms = opens_ms};
}

/* Was one of those that count in flight with what was sent then? */
static bool is_same_failure(const struct model *m, int64_t sent_ms)
{
    for (size_t i = 0; i < m->n; i++)
        if (!m->past[i].good && m->past[i].address == 0 && m->past[i].at_ms >= sent_ms)
            return true;
    return false;
}

static bool is_enough(const struct model *m, const struct fuse_options *opt, int64_t now_ms)
{
    unsigned n_row = 0, n_window = 0;
    bool row = true;

    for (size_t i = m->n; i-- > 0;) {
        const struct past *p = &m->past[i];

        if (p->address != 0)
            continue;
        row = row && !p->good;
        n_row += row;
        n_window += !p->good && p->how == FAILURE_ANSWER && now_ms - p->at_ms <= opt->window_ms;
    }
    return n_row >= opt->failures || n_window >= opt->failures;
}

/* Has no other address failed since the last answer? */
static bool model_excuses(struct model *m, const struct step *s, int64_t now)
{
    if (m->state != FUSE_CLOSED)
        return false;
    if (now - s->took_ms < m->since_ms)
        return true;

    bool others = false;

    for (size_t i = m->n; i-- > 0 && !m->past[i].good;)
        others = others || (m->past[i].address != 0 && m->past[i].address != s->address);
    m->past[m->n++] = (struct past){.address = s->address, .at_ms = now};
    return !others;
}

static enum fuse_change model_count_failure(struct model *m, const struct fuse_options *opt,
                                            const struct step *s, int64_t now)
{
    const int64_t sent = now - s->took_ms;

    if (sent < m->since_ms || m->state == FUSE_BLOWN)
        return FUSE_SAME;
    if (m->state == FUSE_PROBING) {
        enter(m, FUSE_BLOWN, now, now + opt->reset_ms);
        return FUSE_SAME;
    }
    if (s->how == FAILURE_CONNECTION && is_same_failure(m, sent))
        return FUSE_SAME;
    m->past[m->n++] = (struct past){.how = s->how, .at_ms = now};
    if (!is_enough(m, opt, now))
        return FUSE_SAME;
    enter(m, FUSE_BLOWN, now, now + opt->reset_ms);
    return FUSE_BLEW;
}

static enum fuse_change model_good(struct model *m, const struct step *s, int64_t now)
{
    const int64_t sent = now - s->took_ms;

    if (sent < m->since_ms || m->state == FUSE_BLOWN)
        return FUSE_SAME;
    if (m->state == FUSE_PROBING) {
        enter(m, FUSE_CLOSED, m->since_ms, 0);
        return FUSE_HEALED;
    }
    m->past[m->n++] = (struct past){.good = true, .at_ms = now};
    return FUSE_SAME;
}

static enum fuse_change model_close(struct model *m, int64_t now)
{
    const enum fuse_change change = m->state == FUSE_CLOSED ? FUSE_SAME : FUSE_HEALED;

    enter(m, FUSE_CLOSED, now, 0);
    return change;
}

/* True: both say the same. */
static bool play_step(struct fuse *f, struct model *m, const struct game *g,
                      const struct step *s, int64_t now)
{
    enum fuse_change is = FUSE_SAME, should = FUSE_SAME;
    bool excused;

    switch (s->move) {
    case MELT:
        excused = s->address != 0 && fuse_excuses(f, s->address, now - s->took_ms);
        if (s->address != 0 && excused != model_excuses(m, s, now))
            return false;
        if (excused)
            break;
        is = fuse_count_failure(f, s->how, now - s->took_ms, now);
        should = model_count_failure(m, &g->opt, s, now);
        break;
    case GOOD:
        is = fuse_good(f, now - s->took_ms);
        should = model_good(m, s, now);
        break;
    case BEGIN:
        if (m->opens_ms > now)
            break;
        fuse_begin(f, now);
        if (m->state == FUSE_BLOWN)
            enter(m, FUSE_PROBING, now, FUSE_NEVER_MS);
        break;
    case TRY:
        fuse_try(f, now);
        if (m->state == FUSE_BLOWN)
            m->opens_ms = now;
        break;
    case CLOSE:
        is = fuse_close(f, now);
        should = model_close(m, now);
        break;
    case N_MOVES: break;
    }
    return is == should && f->state == m->state && fuse_opens_at(f) == m->opens_ms;
}

static bool play(const struct game *g)
{
    struct fuse f;
    struct model m = {0};
    int64_t now = 1000000;

    fuse_init(&f, &g->opt);
    for (size_t i = 0; i < g->n; i++) {
        now += g->steps[i].after_ms;
        if (!play_step(&f, &m, g, &g->steps[i], now))
            return false;
    }
    return true;
}

static struct game a_game(uint64_t seed)
{
    static const enum move moves[] = {MELT, MELT, MELT, MELT,  MELT,  MELT, GOOD,
                                      GOOD, GOOD, TRY,  BEGIN, BEGIN, CLOSE};
    static const int64_t times[] = {0, 0, 1, 2, 10, 50, 100};
    struct random r;
    struct game g = {.n = STEPS_MAX};

    random_init(&r, seed);
    g.opt.failures = 1 + (unsigned)random_below(&r, 5);
    g.opt.window_ms = 1 + (int64_t)random_below(&r, 200);
    g.opt.reset_ms = 1 + (int64_t)random_below(&r, 200);
    for (size_t i = 0; i < g.n; i++)
        g.steps[i] = (struct step){
            .move =
                moves[random_below(&r, i % 20 == 0 ? ARRAY_LEN(moves) : ARRAY_LEN(moves) - 1)],
            .how = (enum failure)random_below(&r, FAILURE_ITEMS + 1),
            .address = random_below(&r, 4),
            .after_ms = times[random_below(&r, ARRAY_LEN(times))],
            .took_ms = times[random_below(&r, ARRAY_LEN(times))],
        };
    return g;
}

/* Leave out whatever is not needed for it to fail. */
static void shrink(struct game *g)
{
    for (size_t i = g->n; i-- > 0;) {
        struct game less = *g;

        memmove(&less.steps[i], &less.steps[i + 1], (less.n - i - 1) * sizeof(less.steps[0]));
        less.n--;
        if (!play(&less)) {
            *g = less;
            i = g->n;
        }
    }
}

static void print(const struct game *g)
{
    static const char *const names[N_MOVES] = {"melt", "good", "begin", "try", "close"};

    print_message("failures %u, window %lld ms, reset %lld ms\n", g->opt.failures,
                  (long long)g->opt.window_ms, (long long)g->opt.reset_ms);
    for (size_t i = 0; i < g->n; i++)
        print_message("  after %lld ms: %s %d at %d, sent %lld ms ago\n",
                      (long long)g->steps[i].after_ms, names[g->steps[i].move], g->steps[i].how,
                      (int)g->steps[i].address, (long long)g->steps[i].took_ms);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void whatever_happens_it_is_as_the_model_says(void **state)
{
    const uint64_t first = number_from("MILLRACE_SEED", 1);
    const uint64_t n_games = number_from("MILLRACE_STEPS", 1000000) / STEPS_MAX;

    (void)state;
    for (uint64_t seed = first; seed < first + n_games; seed++) {
        struct game g = a_game(seed);

        if (play(&g))
            continue;
        shrink(&g);
        print(&g);
        fail_msg("MILLRACE_SEED=%llu shows it", (unsigned long long)seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_failures_blow_it_and_nothing_goes_until_the_reset),
        cmocka_unit_test(failures_in_a_row_blow_it_however_slow_they_are),
        cmocka_unit_test(failures_among_good_answers_count_within_the_window_only),
        cmocka_unit_test(one_request_is_tried_and_any_answer_heals),
        cmocka_unit_test(a_try_that_fails_begins_the_wait_anew),
        cmocka_unit_test(late_answers_of_what_was_sent_before_change_nothing),
        cmocka_unit_test(connections_that_are_cut_together_are_one_failure),
        cmocka_unit_test(one_node_does_not_blow_the_fuse_of_an_index_that_others_serve),
        cmocka_unit_test(one_shard_does_not_blow_the_fuse_of_an_index_that_answers),
        cmocka_unit_test(one_of_several_addresses_does_not_blow_it_and_two_do),
        cmocka_unit_test(what_shows_whether_it_heals_is_never_excused),
        cmocka_unit_test(a_hand_tries_it_now),
        cmocka_unit_test(a_new_reset_time_counts_from_when_it_blew),
        cmocka_unit_test(whatever_happens_it_is_as_the_model_says),
    };

    return cmocka_run_group_tests_name("fuse", tests, NULL, NULL);
}
