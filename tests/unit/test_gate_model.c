/*
 * The gate of an index, and its limiter, beside a model that keeps all that happened and looks
 * back through it each time (tests/unit/game.h).  Requests are sent where it lets them, and are
 * answered in any order; what a random wait may be is bounded, what it was is taken over.
 */
#include "config.h"

#include "tests/unit/game.h"

#include "sync/delivery/index/gate.h"

#define STEPS         300
#define IN_FLIGHT_MAX 20

enum what { GOOD, FAILED, HELD, RELEASED, DROPPED, PROBED };

struct past {
    enum what what;
    int64_t sent_ms, now_ms;
    int64_t until_ms; /* FAILED, HELD: what nothing goes before */
    bool begins;      /* FAILED: a wait of its own */
    enum hold hold;   /* after it */
};

struct world {
    struct random random;
    struct gate gate;
    bool is_paused;
    struct fuse_options fuse;
    size_t bytes, aim, bytes_max; /* the limiter's, as they should be */
    unsigned width, width_max, n_good;
    int64_t now_ms;
    int64_t sent_ms[IN_FLIGHT_MAX];
    size_t n_sent;
    size_t n;
    struct past past[STEPS];
};

static size_t below(struct world *w, size_t n)
{
    return random_below(&w->random, n);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- what should be ---- */

/* Was all that is known to have failed known when that was sent? */
static bool is_clear(const struct world *w, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (w->past[i].what == FAILED && w->past[i].now_ms > w->past[at].sent_ms)
            return false;
    return w->past[at].what == GOOD;
}

/* Where what failed since then begins. */
static size_t trouble_since(const struct world *w)
{
    for (size_t i = w->n; i > 0; i--)
        if (w->past[i - 1].what == DROPPED || is_clear(w, i - 1))
            return i;
    return 0;
}

/* What failed first since then; NULL: nothing did. */
static const struct past *first_failure(const struct world *w)
{
    for (size_t i = trouble_since(w); i < w->n; i++)
        if (w->past[i].what == FAILED)
            return &w->past[i];
    return NULL;
}

static bool is_failing(const struct world *w)
{
    return first_failure(w) != NULL;
}

/* No request before then, of what failed since the last hand on it. */
static int64_t paused_until(const struct world *w)
{
    int64_t until_ms = 0;

    for (size_t i = trouble_since(w); i < w->n; i++) {
        if (w->past[i].what == FAILED)
            until_ms = larger(until_ms, w->past[i].until_ms);
        if (w->past[i].what == PROBED)
            until_ms = 0;
    }
    return until_ms;
}

static enum hold held(const struct world *w)
{
    return w->n == 0 ? HOLD_NONE : w->past[w->n - 1].hold;
}

static int64_t probed_at(const struct world *w)
{
    for (size_t i = w->n; i > 0; i--)
        if (w->past[i - 1].what == HELD || w->past[i - 1].what == PROBED)
            return w->past[i - 1].until_ms;
    return 0;
}

/* Where the last hold begins that came long after the one before; n: the next one will. */
static size_t free_since(const struct world *w)
{
    int64_t tried_ms = 0;
    enum hold before = HOLD_NONE;
    size_t since = 0;

    for (size_t i = 0; i < w->n; i++) {
        const struct past *p = &w->past[i];

        if (p->what == DROPPED ||
            (p->what == HELD && before == HOLD_NONE && p->now_ms - tried_ms >= 30000))
            since = i;
        if (p->what == HELD || p->what == PROBED)
            tried_ms = p->until_ms;
        before = p->hold;
    }
    return before == HOLD_NONE && w->now_ms - tried_ms >= 30000 ? w->n : since;
}

/* How many waits of that kind there were in a row: it limits the next. */
static int64_t longest(const struct world *w, enum what what, int64_t base_ms, int64_t max_ms)
{
    int64_t limit_ms = base_ms;

    for (size_t i = what == FAILED ? trouble_since(w) : free_since(w); i < w->n; i++)
        if (w->past[i].what == what && w->past[i].begins && limit_ms < max_ms)
            limit_ms *= 2;
    return limit_ms < max_ms ? limit_ms : max_ms;
}

static int64_t should_open_at(const struct world *w, size_t n_requests)
{
    const bool is_blown = w->gate.fuse.state != FUSE_CLOSED;
    const size_t width = held(w) != HOLD_NONE || is_failing(w) ? 1 : w->width;

    if (w->is_paused || held(w) >= HOLD_STOP)
        return GATE_NEVER_MS;
    if (is_blown)
        return larger(fuse_opens_at(&w->gate.fuse), paused_until(w));
    if (n_requests >= width)
        return GATE_NEVER_MS;
    return larger(held(w) == HOLD_NONE ? 0 : probed_at(w), paused_until(w));
}

static struct past *note(struct world *w, enum what what, enum hold hold)
{
    struct past *p = &w->past[w->n++];

    *p = (struct past){.what = what, .now_ms = w->now_ms, .hold = hold};
    return p;
}

/* ---- the limiter ---- */

static size_t fit(const struct world *w, size_t bytes)
{
    if (bytes < 64 << 10)
        bytes = 64 << 10;
    return bytes < w->bytes_max ? bytes : w->bytes_max;
}

static void set_aim(struct world *w, size_t bytes)
{
    w->aim = fit(w, bytes);
    w->bytes = w->bytes < w->aim ? w->bytes : w->aim;
}

static void busy(struct world *w)
{
    limiter_busy(&w->gate.limiter);
    set_aim(w, w->aim / 2);
    w->width = w->width / 2 > 0 ? w->width / 2 : 1;
    w->n_good = 0;
}

static void collapse(struct world *w)
{
    limiter_failed(&w->gate.limiter);
    set_aim(w, w->aim / 2);
    w->bytes = w->bytes < 16 << 10 ? w->bytes : 16 << 10;
    w->width = w->width / 2 > 0 ? w->width / 2 : 1;
    w->n_good = 0;
}

static void well(struct world *w)
{
    const size_t bytes = below(w, 2) == 0 ? w->bytes : below(w, w->bytes + 1);
    const int64_t took_ms = (int64_t)below(w, 1500);

    limiter_good(&w->gate.limiter, bytes, took_ms);
    if (took_ms > 1000) {
        set_aim(w, w->aim - w->aim / 8);
    } else if (bytes >= w->bytes / 2 && w->bytes < w->aim) {
        w->bytes = w->bytes * 2 < w->aim ? w->bytes * 2 : w->aim;
    } else if (bytes >= w->bytes / 2 && took_ms < 250) {
        set_aim(w, w->aim + w->aim / 8);
        w->bytes = w->aim;
    }
    if (++w->n_good >= 8 * w->width) {
        w->n_good = 0;
        w->width += w->width < w->width_max;
    }
}

static void too_large(struct world *w)
{
    const size_t bytes = 2 + below(w, w->bytes);

    limiter_too_large(&w->gate.limiter, bytes);
    if (bytes / 2 < w->bytes_max)
        w->bytes_max = bytes / 2;
    set_aim(w, w->aim);
}

static void set(struct world *w)
{
    w->bytes_max = 1 + below(w, 8 << 20);
    w->width_max = 1 + (unsigned)below(w, 10);
    limiter_set(&w->gate.limiter, w->bytes_max, w->width_max);
    set_aim(w, w->aim);
    if (w->width > w->width_max)
        w->width = w->width_max;
    w->fuse.reset_ms = 1 + (int64_t)below(w, 40000);
    fuse_set(&w->gate.fuse, &w->fuse);
    game_say("at most %zu bytes, %u requests", w->bytes_max, w->width_max);
}

/* ---- what happens ---- */

static void send(struct world *w)
{
    if (w->n_sent == IN_FLIGHT_MAX || gate_opens_at(&w->gate, (unsigned)w->n_sent) > w->now_ms)
        return;
    game_say("a request goes");
    fuse_begin(&w->gate.fuse, w->now_ms);
    w->sent_ms[w->n_sent++] = w->now_ms;
}

static int64_t take_sent(struct world *w)
{
    const size_t i = below(w, w->n_sent);
    const int64_t sent_ms = w->sent_ms[i];

    w->sent_ms[i] = w->sent_ms[--w->n_sent];
    return sent_ms;
}

static void good(struct world *w, int64_t sent_ms)
{
    game_say("one of %lld is answered well", (long long)sent_ms);
    gate_good(&w->gate, sent_ms);
    (void)fuse_good(&w->gate.fuse, sent_ms);
    well(w);
    note(w, GOOD, held(w))->sent_ms = sent_ms;
}

static void fail_one(struct world *w, int64_t sent_ms, int64_t retry_after_ms)
{
    const int64_t before_ms = paused_until(w);
    const bool begins = before_ms <= w->now_ms;
    const int64_t most_ms = begins ? w->now_ms + longest(w, FAILED, 50, 5000) : before_ms;
    const int64_t asked_ms = retry_after_ms < 300000 ? retry_after_ms : 300000;
    struct past *p;

    game_say("one of %lld fails, to be tried after %lld", (long long)sent_ms,
             (long long)retry_after_ms);
    gate_failed(&w->gate, sent_ms, w->now_ms, retry_after_ms);
    p = note(w, FAILED, held(w));
    p->sent_ms = sent_ms;
    p->begins = begins;
    p->until_ms = w->gate.paused_until_ms;
    must(p->until_ms > w->now_ms);
    must(p->until_ms >= w->now_ms + asked_ms);
    must(begins || p->until_ms >= before_ms);
    must(p->until_ms <= larger(most_ms, w->now_ms + asked_ms));
}

/* At one of some addresses; often another one could have been used. */
static void melt(struct world *w, int64_t sent_ms)
{
    const uint64_t address = 1 + below(w, 3);

    if (below(w, 2) == 0 && fuse_excuses(&w->gate.fuse, address, sent_ms))
        return;
    if (held(w) == HOLD_NONE)
        (void)fuse_count_failure(&w->gate.fuse, (enum failure)below(w, FAILURE_ITEMS + 1),
                                 sent_ms, w->now_ms);
}

static void answer(struct world *w)
{
    static const int64_t retries_ms[] = {-1, -1, -1, 0, 20, 7000, 1000000};
    const int64_t retry_after_ms = retries_ms[below(w, ARRAY_LEN(retries_ms))];
    const size_t what = below(w, 10);

    if (w->n_sent == 0)
        return;

    const int64_t sent_ms = take_sent(w);

    if (what < 5) {
        good(w, sent_ms);
        return;
    }
    if (what < 6) {
        too_large(w);
        (void)fuse_good(&w->gate.fuse, sent_ms);
        return;
    }
    if (below(w, 2) == 0)
        busy(w);
    else
        collapse(w);
    fail_one(w, sent_ms, retry_after_ms);
    if (what < 7)
        (void)fuse_good(&w->gate.fuse, sent_ms); /* it is busy */
    else
        melt(w, sent_ms);
}

static void hold(struct world *w, enum hold how)
{
    const enum hold before = held(w);
    struct err why;
    struct past *p;

    game_say("held, %d", (int)how);
    err_set(&why, ERR_RETRY, "closed");
    (void)fuse_close(&w->gate.fuse, w->now_ms);

    const int64_t most_ms = longest(w, HELD, 1000, 30000);
    const bool is_news = gate_hold(&w->gate, how, &why, w->now_ms);

    if (before == HOLD_BACK && how == HOLD_ASTRAY)
        must(!is_news);
    else
        must(is_news == (before < HOLD_STOP ? before != how : before < how));
    if (before >= HOLD_STOP && !is_news)
        return;
    p = note(w, HELD, how);
    p->begins = true;
    p->until_ms = w->gate.probe_ms;
    must(p->until_ms > w->now_ms && p->until_ms <= w->now_ms + most_ms);
}

static void release(struct world *w)
{
    const enum hold before = held(w);

    game_say("released");
    must(gate_release(&w->gate) == (before != HOLD_NONE && before < HOLD_STOP));
    if (before < HOLD_STOP)
        note(w, RELEASED, HOLD_NONE);
}

static void end_astray(struct world *w)
{
    const bool was_astray = held(w) == HOLD_ASTRAY;

    game_say("led back");
    gate_end_astray(&w->gate);
    if (was_astray)
        w->past[w->n - 1].hold = HOLD_BACK;
}

static void drop(struct world *w)
{
    game_say("dropped");
    gate_drop(&w->gate, w->now_ms);
    w->is_paused = false;
    note(w, DROPPED, HOLD_NONE);
}

static void probe(struct world *w)
{
    game_say("tried by hand");
    gate_probe(&w->gate, w->now_ms);
    note(w, PROBED, held(w) == HOLD_STOP ? HOLD_BLOCK : held(w))->until_ms = w->now_ms;
}

/* Whatever else holds it stays as it is. */
static void turn_pause(struct world *w)
{
    struct err why;

    err_set(&why, ERR_STOP, "the cluster is upgraded");
    w->is_paused = !w->is_paused;
    game_say(w->is_paused ? "paused" : "no longer paused");
    if (w->is_paused)
        gate_pause(&w->gate, &why);
    else
        gate_unpause(&w->gate);
}

/* ---- games ---- */

static void check(const struct world *w)
{
    const struct limiter *l = &w->gate.limiter;

    for (size_t n = 0; n <= w->width_max + 1u; n++)
        must(gate_opens_at(&w->gate, (unsigned)n) == should_open_at(w, n));
    must(gate_is_blown(&w->gate) ==
         (w->is_paused || held(w) != HOLD_NONE || w->gate.fuse.state != FUSE_CLOSED));
    must(w->gate.hold == held(w));
    must(w->gate.failing == is_failing(w));
    must(!is_failing(w) || w->gate.failing_since_ms == first_failure(w)->sent_ms);
    must(l->bytes == w->bytes && l->bytes <= w->bytes_max && l->bytes > 0);
    must(l->width == w->width && l->width >= 1 && l->width <= w->width_max);
}

static void step(struct world *w)
{
    static const int64_t times_ms[] = {0, 0, 1, 5, 50, 1000, 30000};
    static const enum hold holds[] = {HOLD_BLOCK, HOLD_BLOCK, HOLD_GUARD, HOLD_STOP,
                                      HOLD_ASTRAY};
    const size_t what = below(w, 100);

    w->now_ms += times_ms[below(w, ARRAY_LEN(times_ms))];
    if (what < 45)
        send(w);
    else if (what < 85)
        answer(w);
    else if (what < 91)
        hold(w, holds[below(w, ARRAY_LEN(holds))]);
    else if (what < 93)
        release(w);
    else if (what < 94)
        end_astray(w);
    else if (what < 96)
        probe(w);
    else if (what < 98)
        set(w);
    else if (what < 99)
        below(w, 3) == 0 ? drop(w) : turn_pause(w);
    else
        must(gate_retry_ms(&w->gate, (unsigned)below(w, 20)) <= 10000);
    check(w);
}

/* Whatever was, requests go on within a bounded time once they are answered well. */
static void calm_down(struct world *w)
{
    const int64_t longest_ms = 300000 + w->fuse.reset_ms;
    int64_t at_ms;

    while (w->n_sent > 0)
        melt(w, take_sent(w));
    gate_end_astray(&w->gate);
    gate_unpause(&w->gate);
    if (w->gate.hold == HOLD_STOP)
        gate_probe(&w->gate, w->now_ms);
    at_ms = gate_opens_at(&w->gate, 0);
    must(at_ms <= w->now_ms + longest_ms);
    w->now_ms = larger(w->now_ms, at_ms);
    fuse_begin(&w->gate.fuse, w->now_ms);
    gate_good(&w->gate, w->now_ms);
    (void)fuse_good(&w->gate.fuse, w->now_ms);
    (void)gate_release(&w->gate);
    must(!gate_is_blown(&w->gate));
    must(gate_opens_at(&w->gate, w->gate.limiter.width - 1) == 0);
}

static void play(struct game *g)
{
    struct world w = {.now_ms = 1000000};
    struct limiter limiter;

    random_init(&w.random, g->seed);
    w.bytes_max = 1 + below(&w, 8 << 20);
    w.width_max = 1 + (unsigned)below(&w, 10);
    w.bytes = w.bytes_max < 1 << 20 ? w.bytes_max : 1 << 20;
    w.aim = w.bytes;
    w.width = w.width_max < 4 ? w.width_max : 4;
    w.fuse = (struct fuse_options){.failures = 1 + (unsigned)below(&w, 4),
                                   .window_ms = 1 + (int64_t)below(&w, 5000),
                                   .reset_ms = 1 + (int64_t)below(&w, 40000)};
    limiter_init(&limiter, w.bytes_max, w.width_max);
    gate_init(&w.gate, &limiter, &w.fuse, g->seed);
    check(&w);
    while (game_next(g, &w.random))
        step(&w);
    calm_down(&w);
}

static void whatever_happens_it_opens_as_the_model_says(void **state)
{
    (void)state;
    games_play(play, STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_it_opens_as_the_model_says),
    };

    return cmocka_run_group_tests_name("gate_model", tests, NULL, NULL);
}
