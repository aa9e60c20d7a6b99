/*
 * The drain: how it ends, and against a model at random.
 *
 * The model is a few workers with a queue, an auxiliary queue and what is in flight, over two
 * indexes that blow and heal.  Changes arrive with growing numbers.  After every step:
 *
 *  - each worker's changes are sent in the order in which they came, and none is lost or
 * doubled,
 *  - what came to a worker after its drain began was not sent before that drain had ended,
 *  - workers that the drain is not of are never kept from sending,
 *  - one drain goes at a time, and it ends for the reason that it says, in time.
 *
 * tests/unit/game.h plays it, makes what fails shorter, and says how to play it again.
 */
#include "config.h"

#include "tests/unit/game.h"

#include "sync/delivery/index/drain.h"

/* ---- examples ---- */

static enum drain_end look(struct drain *d, size_t n, size_t n_blown, size_t n_in_flight,
                           int64_t now_ms)
{
    return drain_look(d, &(struct drain_left){n, n_blown, n_in_flight}, now_ms);
}

static void nothing_to_do_is_done_at_once(void **state)
{
    struct drain d = {0};

    (void)state;
    assert_true(drain_begin(&d, DRAIN_ALL, 0, 0, 0));
    assert_int_equal(look(&d, 0, 0, 0, 0), DRAIN_DONE);
    assert_false(drain_is_on(&d));
}

static void a_second_drain_is_told_that_one_goes_and_leaves_it_alone(void **state)
{
    struct drain d = {0};

    (void)state;
    assert_true(drain_begin(&d, 2, 0, 100, 10));
    assert_false(drain_begin(&d, DRAIN_ALL, 0, 1, 1));
    assert_false(drain_begin(&d, 2, 0, 1, 1));
    assert_false(drain_covers(&d, 1));
    assert_int_equal(look(&d, 1, 0, 1, 99), DRAIN_GOING);
    assert_true(drain_covers(&d, 2));
    assert_false(drain_withholds(&d, 2));
}

static void
what_waits_for_a_blown_index_blocks_at_once_and_not_before_the_rest_is_out(void **state)
{
    struct drain d = {0};

    (void)state;
    assert_true(drain_begin(&d, DRAIN_ALL, 0, 60000, 5000));
    assert_int_equal(look(&d, 5, 3, 1, 0), DRAIN_GOING);
    assert_int_equal(look(&d, 4, 3, 1, 1), DRAIN_GOING);
    assert_int_equal(look(&d, 3, 3, 0, 2), DRAIN_BLOCKED);
}

static void
what_is_in_flight_to_a_blown_index_is_waited_for_no_longer_than_a_cancel(void **state)
{
    struct drain d = {0};

    (void)state;
    assert_true(drain_begin(&d, DRAIN_ALL, 0, 60000, 50));
    assert_int_equal(look(&d, 2, 2, 1, 10), DRAIN_GOING);
    assert_true(drain_withholds(&d, 0));
    assert_int_equal(look(&d, 2, 2, 1, 59), DRAIN_GOING);
    assert_int_equal(look(&d, 2, 2, 1, 60), DRAIN_BLOCKED);
}

static void out_of_time_it_waits_for_what_is_in_flight_and_sends_no_more(void **state)
{
    struct drain d = {0};

    (void)state;
    assert_true(drain_begin(&d, 3, 0, 100, 50));
    assert_int_equal(look(&d, 9, 0, 2, 100), DRAIN_GOING);
    assert_true(drain_withholds(&d, 3));
    assert_false(drain_withholds(&d, 4));
    assert_true(drain_covers(&d, 3));
    assert_int_equal(look(&d, 8, 0, 1, 149), DRAIN_GOING);
    assert_int_equal(look(&d, 7, 0, 0, 149), DRAIN_TIMED_OUT);
}

static void what_is_not_answered_is_given_up_after_the_cancel_timeout(void **state)
{
    struct drain d = {0};

    (void)state;
    assert_true(drain_begin(&d, DRAIN_ALL, 0, 100, 50));
    assert_int_equal(look(&d, 1, 0, 1, 100), DRAIN_GOING);
    assert_int_equal(drain_due_ms(&d), 150);
    assert_int_equal(look(&d, 1, 0, 1, 150), DRAIN_CANCEL_TIMED_OUT);
    assert_false(drain_is_on(&d));
}

static void a_cancelled_drain_ends_as_stopped(void **state)
{
    struct drain d = {0};

    (void)state;
    assert_true(drain_begin(&d, DRAIN_ALL, 0, 100, 50));
    drain_cancel(&d, 10);
    assert_int_equal(look(&d, 4, 0, 1, 10), DRAIN_GOING);
    assert_int_equal(look(&d, 3, 0, 0, 11), DRAIN_STOPPED);
}

static void every_end_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < N_DRAIN_ENDS; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(drain_end_name((enum drain_end)i),
                                    drain_end_name((enum drain_end)k));
}

/* ---- the model ---- */

#define STEPS   500
#define WORKERS 3
#define INDEXES 2
#define ROOM    64

struct change {
    unsigned number;
    unsigned index;
    unsigned before_drain; /* drains that had begun for this worker when it came */
};

struct row {
    struct change changes[ROOM];
    size_t n;
};

struct worker {
    struct row queue, aux, flight;
    unsigned last_sent[INDEXES]; /* number */
    unsigned n_drains, n_ended;  /* that were of this worker */
    unsigned n_done;
    unsigned n_came;
};

struct world {
    struct random random;
    struct drain drain;
    struct worker workers[WORKERS];
    bool blown[INDEXES];
    int64_t now_ms, began_ms, timeout_ms, cancel_ms;
    bool is_cancelled, was_blocked;
    unsigned numbers;
};

static uint64_t below(struct world *w, uint64_t n)
{
    return random_below(&w->random, n);
}

static void push(struct row *r, struct change c)
{
    must(r->n < ROOM);
    r->changes[r->n++] = c;
}

static void take(struct row *r, size_t i)
{
    r->n--;
    memmove(&r->changes[i], &r->changes[i + 1], (r->n - i) * sizeof(r->changes[0]));
}

static void arrive(struct world *w)
{
    const unsigned at = (unsigned)below(w, WORKERS);
    struct worker *x = &w->workers[at];

    if (x->queue.n + x->aux.n + x->flight.n >= ROOM / 2)
        return;
    x->n_came++;
    game_say("%u comes to %u%s", w->numbers + 1, at,
             drain_covers(&w->drain, at) ? ", apart" : "");
    push(drain_covers(&w->drain, at) ? &x->aux : &x->queue,
         (struct change){++w->numbers, (unsigned)below(w, INDEXES), x->n_drains});
}

/* The oldest of the queue whose index takes something. */
static void send(struct world *w)
{
    const unsigned at = (unsigned)below(w, WORKERS);
    struct worker *x = &w->workers[at];
    const bool is_of = w->drain.partition == DRAIN_ALL || w->drain.partition == at;

    if (drain_withholds(&w->drain, at)) {
        must(is_of && drain_is_on(&w->drain));
        return;
    }
    for (size_t i = 0; i < x->queue.n; i++) {
        const struct change c = x->queue.changes[i];

        if (w->blown[c.index])
            continue;
        must(c.number > x->last_sent[c.index]);
        must(c.before_drain <= x->n_ended);
        x->last_sent[c.index] = c.number;
        game_say("%u sends %u", at, c.number);
        take(&x->queue, i);
        push(&x->flight, c);
        return;
    }
}

static void answer(struct world *w)
{
    struct worker *x = &w->workers[below(w, WORKERS)];

    if (x->flight.n == 0)
        return;
    game_say("an answer to %zu", (size_t)(x - w->workers));
    take(&x->flight, below(w, x->flight.n));
    x->n_done++;
}

static void begin(struct world *w)
{
    const unsigned partition = below(w, 2) == 0 ? DRAIN_ALL : (unsigned)below(w, WORKERS);
    const int64_t timeout_ms = (int64_t)below(w, 60), cancel_ms = (int64_t)below(w, 20);
    const bool was_on = drain_is_on(&w->drain);

    must(drain_begin(&w->drain, partition, w->now_ms, timeout_ms, cancel_ms) == !was_on);
    if (was_on)
        return;
    game_say("a drain of %u begins, for %lld and %lld ms", partition, (long long)timeout_ms,
             (long long)cancel_ms);
    w->began_ms = w->now_ms;
    w->timeout_ms = timeout_ms;
    w->cancel_ms = cancel_ms;
    w->is_cancelled = w->was_blocked = false;
    for (unsigned at = 0; at < WORKERS; at++)
        w->workers[at].n_drains += drain_covers(&w->drain, at);
}

static struct drain_left left_of(const struct world *w, unsigned partition)
{
    struct drain_left left = {0};

    for (unsigned at = 0; at < WORKERS; at++) {
        const struct worker *x = &w->workers[at];

        if (partition != DRAIN_ALL && partition != at)
            continue;
        left.n += x->queue.n + x->flight.n;
        left.n_in_flight += x->flight.n;
        for (size_t i = 0; i < x->queue.n; i++)
            left.n_blown += w->blown[x->queue.changes[i].index];
        for (size_t i = 0; i < x->flight.n; i++)
            left.n_blown += w->blown[x->flight.changes[i].index];
    }
    return left;
}

static void check_end(const struct world *w, const struct drain_left *left, enum drain_end end)
{
    const int64_t took_ms = w->now_ms - w->began_ms;

    if (end == DRAIN_DONE)
        must(left->n == 0);
    if (end == DRAIN_BLOCKED)
        must(w->was_blocked && left->n > 0);
    if (end == DRAIN_TIMED_OUT)
        must(took_ms >= w->timeout_ms && left->n_in_flight == 0 && !w->is_cancelled &&
             !w->was_blocked);
    if (end == DRAIN_CANCEL_TIMED_OUT)
        must(took_ms >= w->cancel_ms && left->n_in_flight > 0);
    if (end == DRAIN_STOPPED)
        must(w->is_cancelled && left->n_in_flight == 0);
    must(end != DRAIN_IN_PROGRESS);
}

/* What waited apart follows what is queued. */
static void follow(struct world *w, unsigned partition)
{
    for (unsigned at = 0; at < WORKERS; at++) {
        struct worker *x = &w->workers[at];

        if (partition != DRAIN_ALL && partition != at)
            continue;
        x->n_ended++;
        for (size_t i = 0; i < x->aux.n; i++)
            push(&x->queue, x->aux.changes[i]);
        x->aux.n = 0;
    }
}

static enum drain_end look_around(struct world *w)
{
    const unsigned partition = w->drain.partition;
    const bool was_on = drain_is_on(&w->drain);
    const struct drain_left left = left_of(w, partition);

    if (w->drain.state == DRAIN_STATE_GOING && left.n > 0 && left.n == left.n_blown)
        w->was_blocked = true;

    const enum drain_end end = drain_look(&w->drain, &left, w->now_ms);

    if (!was_on)
        must(end == DRAIN_GOING);
    else if (end == DRAIN_GOING)
        must(w->now_ms < drain_due_ms(&w->drain));
    if (end == DRAIN_GOING)
        return end;
    game_say("the drain is %s", drain_end_word(end));
    must(!drain_is_on(&w->drain));
    check_end(w, &left, end);
    follow(w, partition);
    return end;
}

static void check_account(const struct world *w)
{
    for (unsigned at = 0; at < WORKERS; at++) {
        const struct worker *x = &w->workers[at];

        must(x->n_came == x->n_done + x->queue.n + x->aux.n + x->flight.n);
        if (!drain_covers(&w->drain, at))
            must(x->aux.n == 0);
    }
}

static void blow(struct world *w)
{
    const size_t index = below(w, INDEXES);

    w->blown[index] = below(w, 3) == 0;
    game_say("index %zu takes %s", index, w->blown[index] ? "nothing" : "changes");
}

static void cancel(struct world *w)
{
    game_say("cancelled");
    w->is_cancelled = w->is_cancelled || w->drain.state == DRAIN_STATE_GOING;
    drain_cancel(&w->drain, w->now_ms);
}

static enum drain_end step(struct world *w)
{
    const uint64_t what = below(w, 100);

    w->now_ms += (int64_t)below(w, 4);
    if (what < 35)
        arrive(w);
    else if (what < 60)
        send(w);
    else if (what < 80)
        answer(w);
    else if (what < 88)
        begin(w);
    else if (what < 93)
        blow(w);
    else if (what == 93 && drain_is_on(&w->drain))
        cancel(w);

    const enum drain_end end = look_around(w);

    check_account(w);
    return end;
}

static void calm_down(struct world *w)
{
    memset(w->blown, 0, sizeof(w->blown));
    for (unsigned i = 0; i < 2000; i++) {
        w->now_ms++;
        send(w);
        answer(w);
        look_around(w);
    }
    must(!drain_is_on(&w->drain));
    for (unsigned at = 0; at < WORKERS; at++)
        must(w->workers[at].n_done == w->workers[at].n_came);
}

/* How often drains ended, over all games. */
static uint64_t ends[N_DRAIN_ENDS];

static void play(struct game *g)
{
    struct world w = {0};

    random_init(&w.random, g->seed);
    while (game_next(g, &w.random))
        ends[step(&w)]++;
    random_init(&w.random, g->seed);
    calm_down(&w);
}

static void whatever_happens_a_drain_ends_as_it_says_and_keeps_the_order(void **state)
{
    (void)state;
    games_play(play, STEPS);
    /* In one game not every end can be met. */
    for (int end = DRAIN_DONE; ends[DRAIN_GOING] > GAME_STEPS / 2 && end < N_DRAIN_ENDS; end++)
        assert_true(end == DRAIN_IN_PROGRESS || ends[end] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_do_is_done_at_once),
        cmocka_unit_test(a_second_drain_is_told_that_one_goes_and_leaves_it_alone),
        cmocka_unit_test(
            what_waits_for_a_blown_index_blocks_at_once_and_not_before_the_rest_is_out),
        cmocka_unit_test(
            what_is_in_flight_to_a_blown_index_is_waited_for_no_longer_than_a_cancel),
        cmocka_unit_test(out_of_time_it_waits_for_what_is_in_flight_and_sends_no_more),
        cmocka_unit_test(what_is_not_answered_is_given_up_after_the_cancel_timeout),
        cmocka_unit_test(a_cancelled_drain_ends_as_stopped),
        cmocka_unit_test(every_end_has_a_name_of_its_own),
        cmocka_unit_test(whatever_happens_a_drain_ends_as_it_says_and_keeps_the_order),
    };
    return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
