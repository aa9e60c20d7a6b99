#include "config.h"

#include "tests/unit/game.h"

#include "src/base/thread.h"
#include "sync/delivery/document/write.h"
#include "sync/delivery/index/worker_backlog.h"

#include <pthread.h>
#include <sched.h>

#define WORKERS 4

static void enter(struct worker_backlog *m, uint64_t hash, struct worker_backlog_turn *turn)
{
    struct write w = {.hash = hash};

    worker_backlog_enter(m, &w, turn);
}

struct caller {
    struct worker_backlog *mark;
    struct worker_backlog_turn turn;
    struct stop *stop;
    pthread_t thread;
};

static void *wait_here(void *arg)
{
    struct caller *c = arg;

    worker_backlog_wait(c->mark, &c->turn, c->stop);
    return NULL;
}

static void begin(struct caller *c)
{
    assert_int_equal(pthread_create(&c->thread, NULL, wait_here, c), 0);
}

static void wait_for_waiting(const struct worker_backlog *m, size_t n)
{
    while (worker_backlog_waiting(m) != n)
        sched_yield();
}

static void each_of_many_workers_has_its_own_count(void **state)
{
    struct worker_backlog *m = worker_backlog_new(BACKLOG_WORKERS_MAX, 1);
    struct worker_backlog_turn turn;

    (void)state;
    enter(m, BACKLOG_WORKERS_MAX - 1, &turn);
    enter(m, BACKLOG_WORKERS_MAX - 1, &turn);
    enter(m, 3, &turn);
    assert_int_equal(worker_backlog_most(m), 2);
    worker_backlog_leave(m, 3);
    enter(m, BACKLOG_WORKERS_MAX - 1, &turn);
    worker_backlog_leave(m, BACKLOG_WORKERS_MAX - 1);
    assert_true(worker_backlog_is_above(m, &turn));
    worker_backlog_leave(m, BACKLOG_WORKERS_MAX - 1);
    assert_false(worker_backlog_is_above(m, &turn));
    worker_backlog_leave(m, BACKLOG_WORKERS_MAX - 1);
    worker_backlog_free(m);
}

/* T2: as many as the mark return, the next one is counted and waits. */
static void a_caller_waits_after_its_change_is_counted_when_that_is_above_the_mark(void **state)
{
    (void)state;
    for (size_t high = 0; high <= 10; high++) {
        struct worker_backlog *m = worker_backlog_new(WORKERS, high);
        struct caller c = {.mark = m};

        for (size_t i = 0; i < high; i++) {
            enter(m, 1, &c.turn);
            assert_false(worker_backlog_is_above(m, &c.turn));
        }
        enter(m, 1, &c.turn);
        assert_int_equal(worker_backlog_count(m, 1), high + 1);
        begin(&c);
        wait_for_waiting(m, 1);
        worker_backlog_leave(m, 1);
        pthread_join(c.thread, NULL);
        assert_int_equal(worker_backlog_count(m, 1), high);
        worker_backlog_free(m);
    }
}

static void nobody_waits_for_a_worker_that_got_nothing(void **state)
{
    struct worker_backlog *m = worker_backlog_new(WORKERS, 1);
    struct worker_backlog_turn full, other;

    (void)state;
    enter(m, 1, &full);
    enter(m, 1, &full);
    enter(m, 2, &other);
    assert_false(worker_backlog_is_above(m, &other));
    worker_backlog_free(m);
}

static void all_who_wait_go_on_together(void **state)
{
    struct worker_backlog *m = worker_backlog_new(WORKERS, 2);
    struct caller c[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        c[i] = (struct caller){.mark = m};
        enter(m, 0, &c[i].turn);
    }
    enter(m, 0, &c[2].turn);
    for (size_t i = 0; i < 3; i++)
        begin(&c[i]);
    wait_for_waiting(m, 3);
    worker_backlog_leave(m, 0);
    wait_for_waiting(m, 3);
    worker_backlog_leave(m, 0);
    for (size_t i = 0; i < 3; i++)
        pthread_join(c[i].thread, NULL);
    assert_int_equal(worker_backlog_waiting(m), 0);
    worker_backlog_free(m);
}

static void closing_a_stop_and_a_higher_mark_let_callers_go(void **state)
{
    struct worker_backlog *m = worker_backlog_new(WORKERS, 0);
    struct stop stop;
    struct caller c = {.mark = m, .stop = &stop};

    (void)state;
    stop_init(&stop);
    enter(m, 3, &c.turn);
    begin(&c);
    wait_for_waiting(m, 1);
    stop_set(&stop);
    pthread_join(c.thread, NULL);
    c.stop = NULL;
    begin(&c);
    wait_for_waiting(m, 1);
    worker_backlog_set(m, WORKERS, 1);
    pthread_join(c.thread, NULL);
    worker_backlog_set(m, WORKERS, 0);
    begin(&c);
    wait_for_waiting(m, 1);
    worker_backlog_close(m);
    pthread_join(c.thread, NULL);
    assert_int_equal(worker_backlog_count(m, 3), 1);
    worker_backlog_free(m);
    stop_fini(&stop);
}

static void what_is_moved_counts_for_the_worker_that_it_is_of_now(void **state)
{
    struct worker_backlog *m = worker_backlog_new(WORKERS, 1);
    struct write w = {.hash = 3}, v = {.hash = 3}, aside = {.hash = 3, .aside = true};
    struct worker_backlog_turn turn;

    (void)state;
    worker_backlog_enter(m, &w, &turn);
    worker_backlog_set(m, 2, 1);
    worker_backlog_enter(m, &v, &turn);
    assert_int_equal(worker_backlog_count(m, 3), 1);
    worker_backlog_move(m, &w);
    worker_backlog_move(m, &v);
    worker_backlog_move(m, &aside);
    assert_int_equal(worker_backlog_count(m, 3), 0);
    assert_int_equal(worker_backlog_count(m, 1), 2);
    worker_backlog_leave(m, w.worker);
    assert_int_equal(worker_backlog_count(m, 1), 1);
    worker_backlog_free(m);
}

/* ---- at random, beside a plain count ---- */

#define STEPS       300
#define WORKERS_MAX 8
#define WRITES_MAX  200
#define TURNS_MAX   6

struct world {
    struct random random;
    struct worker_backlog *mark;
    struct stop stop; /* set: who would wait goes on */
    unsigned workers;
    size_t high;
    struct write writes[WRITES_MAX]; /* that there are */
    size_t n;
    struct worker_backlog_turn turns[TURNS_MAX]; /* the last of them */
    bool of[TURNS_MAX][WORKERS_MAX];
    size_t n_turns;
};

static size_t below(struct world *w, size_t n)
{
    return random_below(&w->random, n);
}

static size_t should_count(const struct world *w, unsigned worker)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        n += !w->writes[i].aside && w->writes[i].worker == worker;
    return n;
}

static void hand_over(struct world *w)
{
    const size_t n = 1 + below(w, 5), turn = w->n_turns % TURNS_MAX;
    struct write *first = &w->writes[w->n];

    if (w->n + n > WRITES_MAX)
        return;
    w->n_turns++;
    for (size_t i = 0; i < n; i++)
        first[i] = (struct write){.hash = random_next(&w->random),
                                  .next = i + 1 < n ? &first[i + 1] : NULL};
    worker_backlog_enter(w->mark, first, &w->turns[turn]);
    w->n += n;
    memset(w->of[turn], 0, sizeof(w->of[turn]));
    for (size_t i = 0; i < n; i++) {
        must(first[i].worker == first[i].hash % w->workers);
        first[i].next = NULL;
        w->of[turn][first[i].worker] = true;
    }
    game_say("%zu are handed over", n);
}

static void leave(struct world *w)
{
    if (w->n == 0)
        return;

    struct write *x = &w->writes[below(w, w->n)];

    game_say("one of %u is no more", x->worker);
    if (!x->aside)
        worker_backlog_leave(w->mark, x->worker);
    *x = w->writes[--w->n];
}

static void stand_aside(struct world *w)
{
    if (w->n == 0)
        return;

    struct write *x = &w->writes[below(w, w->n)];

    if (!x->aside)
        worker_backlog_leave(w->mark, x->worker);
    x->aside = true;
}

static void change(struct world *w)
{
    w->workers = 1 + (unsigned)below(w, WORKERS_MAX);
    w->high = below(w, 12);
    game_say("%u workers, %zu each", w->workers, w->high);
    worker_backlog_set(w->mark, w->workers, w->high);
    for (size_t i = 0; i < w->n; i++)
        worker_backlog_move(w->mark, &w->writes[i]);
    for (size_t i = 0; i < w->n; i++)
        must(w->writes[i].worker == w->writes[i].hash % w->workers);
}

/* Whoever has something to wait for would wait, and nobody else. */
static void check(struct world *w)
{
    const size_t n = w->n_turns < TURNS_MAX ? w->n_turns : TURNS_MAX;

    for (unsigned i = 0; i < WORKERS_MAX; i++)
        must(worker_backlog_count(w->mark, i) == should_count(w, i));
    for (size_t i = 0; i < n; i++) {
        bool is_above = false;

        for (unsigned k = 0; k < WORKERS_MAX; k++)
            is_above = is_above || (w->of[i][k] && should_count(w, k) > w->high);
        must(worker_backlog_is_above(w->mark, &w->turns[i]) == is_above);
    }
    must(worker_backlog_waiting(w->mark) == 0);
}

static void step(struct world *w)
{
    const size_t what = below(w, 100);

    if (what < 40)
        hand_over(w);
    else if (what < 90)
        leave(w);
    else if (what < 96)
        stand_aside(w);
    else
        change(w);
    check(w);
}

static void play(struct game *g)
{
    struct world w = {0};

    random_init(&w.random, g->seed);
    stop_init(&w.stop);
    stop_set(&w.stop);
    w.workers = 1 + (unsigned)below(&w, WORKERS_MAX);
    w.high = below(&w, 12);
    w.mark = worker_backlog_new(w.workers, w.high);
    while (game_next(g, &w.random))
        step(&w);
    while (w.n > 0)
        leave(&w);
    check(&w);
    worker_backlog_free(w.mark);
    stop_fini(&w.stop);
}

static void whatever_happens_each_worker_counts_what_it_has(void **state)
{
    (void)state;
    games_play(play, STEPS);
}

/* ---- many callers, one that ends their writes ---- */

#define CALLERS 4
#define HIGH    7

struct shop {
    struct worker_backlog *mark;
    uint64_t ended[WORKERS], entered[WORKERS]; /* atomic */
    unsigned n_open;                           /* atomic: callers */
};

static void *push(void *arg)
{
    struct shop *s = arg;
    struct random r;

    random_init(&r, (uint64_t)(uintptr_t)&r);
    for (unsigned i = 0; i < 20000; i++) {
        struct write writes[3];
        struct worker_backlog_turn turn;
        const size_t n = 1 + random_below(&r, 3);

        for (size_t j = 0; j < n; j++) {
            writes[j] = (struct write){.hash = random_next(&r)};
            writes[j].next = j + 1 < n ? &writes[j + 1] : NULL;
        }
        worker_backlog_enter(s->mark, writes, &turn);
        for (size_t j = 0; j < n; j++)
            __atomic_fetch_add(&s->entered[writes[j].hash % WORKERS], 1, __ATOMIC_SEQ_CST);
        worker_backlog_wait(s->mark, &turn, NULL);
    }
    __atomic_fetch_sub(&s->n_open, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static bool end_some(struct shop *s, unsigned worker)
{
    const uint64_t n =
        __atomic_load_n(&s->entered[worker], __ATOMIC_SEQ_CST) - s->ended[worker];

    assert_true(worker_backlog_count(s->mark, worker) <= HIGH + CALLERS * 3);
    if (n == 0)
        return false;
    s->ended[worker]++;
    worker_backlog_leave(s->mark, worker);
    return true;
}

static void no_worker_has_more_than_the_mark_and_what_those_who_wait_brought(void **state)
{
    struct shop s = {.mark = worker_backlog_new(WORKERS, HIGH), .n_open = CALLERS};
    pthread_t threads[CALLERS];
    bool any = true;

    (void)state;
    for (unsigned i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, push, &s), 0);
    while (any) {
        /* Asked first: what the last caller brings is looked for after it. */
        any = __atomic_load_n(&s.n_open, __ATOMIC_SEQ_CST) > 0;
        for (unsigned w = 0; w < WORKERS; w++)
            any = end_some(&s, w) || any;
    }
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned w = 0; w < WORKERS; w++)
        assert_int_equal(worker_backlog_count(s.mark, w), 0);
    worker_backlog_free(s.mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_many_workers_has_its_own_count),
        cmocka_unit_test(
            a_caller_waits_after_its_change_is_counted_when_that_is_above_the_mark),
        cmocka_unit_test(nobody_waits_for_a_worker_that_got_nothing),
        cmocka_unit_test(all_who_wait_go_on_together),
        cmocka_unit_test(closing_a_stop_and_a_higher_mark_let_callers_go),
        cmocka_unit_test(what_is_moved_counts_for_the_worker_that_it_is_of_now),
        cmocka_unit_test(whatever_happens_each_worker_counts_what_it_has),
        cmocka_unit_test(no_worker_has_more_than_the_mark_and_what_those_who_wait_brought),
    };
    return cmocka_run_group_tests_name("worker_backlog", tests, NULL, NULL);
}
