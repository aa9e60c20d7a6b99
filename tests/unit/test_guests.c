/*
 * How much jobs send at a time, to an engine that is reckoned: some processors take requests
 * in the order in which they come, each for a while that follows from its size, and something
 * beside that takes as long for every request.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/random.h"
#include "sync/delivery/index/guests.h"

#include <stdint.h>

#define PROCESSORS_MAX 64
#define REQUESTS_MAX   10
#define BYTES_MAX      ((size_t)8 << 20)
#define NS_A_BYTE      100 /* of one processor: 10 MB/s */

struct sent {
    int64_t at_us, ends_us;
    size_t bytes;
};

struct world {
    struct guests guests;
    struct random random;
    unsigned processors;
    int64_t beside_us; /* each answer takes so much longer, on no processor */
    int64_t free_us[PROCESSORS_MAX];
    struct sent sent[REQUESTS_MAX + 1];
    unsigned n, n_most,
        n_alone; /* requests in flight, the most of them; small ones that went alone */
    int64_t now_us, waited_us; /* waited: by a write of somebody else, the last one */
    uint64_t done;             /* bytes */
};

static void set_up(struct world *w, unsigned processors, bool polite)
{
    *w = (struct world){.processors = processors};
    random_init(&w->random, 1);
    guests_init(&w->guests, &(struct guests_options){polite, REQUESTS_MAX, BYTES_MAX});
}

static unsigned first_free(const struct world *w)
{
    unsigned first = 0;

    for (unsigned i = 1; i < w->processors; i++)
        if (w->free_us[i] < w->free_us[first])
            first = i;
    return first;
}

/* Returns when the engine will have done so much work that comes now. */
static int64_t occupy(struct world *w, int64_t us)
{
    int64_t *free_us = &w->free_us[first_free(w)];

    *free_us = (*free_us > w->now_us ? *free_us : w->now_us) + us;
    return *free_us;
}

static void send_all(struct world *w)
{
    guests_turn(&w->guests, w->now_us / 1000);
    while (w->n < REQUESTS_MAX && guests_may_go(&w->guests)) {
        const size_t bytes = guests_bytes(&w->guests);

        w->n_alone += w->guests.look == GUESTS_LOOK_DUE;
        w->sent[w->n++] = (struct sent){
            w->now_us, occupy(w, (int64_t)bytes * NS_A_BYTE / 1000) + w->beside_us, bytes};
        w->n_most = w->n > w->n_most ? w->n : w->n_most;
        guests_begin(&w->guests);
    }
}

/* Time goes on to the next answer. */
static void answer(struct world *w)
{
    unsigned next = 0;

    for (unsigned i = 1; i < w->n; i++)
        if (w->sent[i].ends_us < w->sent[next].ends_us)
            next = i;

    const struct sent r = w->sent[next];

    w->sent[next] = w->sent[--w->n];
    w->now_us = r.ends_us;
    w->done += r.bytes;
    guests_answered(&w->guests, r.bytes, w->now_us - r.at_us);
    guests_end(&w->guests);
}

/* How long a write waits that comes at any time before the next answer. */
static int64_t wait_of_another(struct world *w)
{
    const int64_t free_us = w->free_us[first_free(w)];
    const int64_t at_us = w->now_us + (int64_t)random_below(&w->random, 20000);

    return free_us > at_us ? free_us - at_us : 0;
}

/* What happened in some seconds. */
struct stretch {
    double rate, wait_ms; /* bytes a second; the mean wait of others' writes */
};

static struct stretch go_on(struct world *w, int seconds)
{
    const int64_t begin_us = w->now_us, end_us = begin_us + (int64_t)seconds * 1000000;
    const uint64_t before = w->done;
    double waited_us = 0;
    unsigned n = 0;

    w->n_most = 0;
    while (w->now_us < end_us) {
        send_all(w);
        waited_us += (double)wait_of_another(w);
        n++;
        answer(w);
    }
    return (struct stretch){(double)(w->done - before) * 1e6 / (double)(w->now_us - begin_us),
                            waited_us / n / 1000};
}

static double capacity(unsigned processors)
{
    return processors * 1e9 / NS_A_BYTE;
}

static void on_few_processors_others_wait_little_and_jobs_get_nearly_all(void **state)
{
    (void)state;
    for (unsigned processors = 1; processors <= 4; processors++) {
        struct world w;

        set_up(&w, processors, true);
        go_on(&w, 5);
        for (int i = 0; i < 30; i++) { /* however long they stay */
            const struct stretch s = go_on(&w, 10);

            assert_true(s.wait_ms < GUESTS_EXTRA_MS);
            assert_true(s.rate > capacity(processors) * 0.9);
        }
    }
}

static void greedy_jobs_take_all_there_is(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, 2, false);
    assert_true(go_on(&w, 10).wait_ms > 10 * GUESTS_EXTRA_MS);
    assert_int_equal(w.n_most, REQUESTS_MAX);
    assert_int_equal(guests_bytes(&w.guests), BYTES_MAX);
}

static void an_engine_with_time_gets_as_many_requests_as_may_be(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, 64, true);
    go_on(&w, 5);
    assert_true(go_on(&w, 30).rate > capacity(REQUESTS_MAX) * 0.9);
    assert_int_equal(w.n_most, REQUESTS_MAX);
}

/* A disk that writes slowly, or a long way. */
static void what_takes_as_long_without_jobs_does_not_make_them_smaller(void **state)
{
    (void)state;
    for (int64_t ms = 20; ms <= 320; ms *= 2) {
        struct world w;

        set_up(&w, 64, true);
        w.beside_us = ms * 1000;
        go_on(&w, 30);
        go_on(&w, 10);
        assert_int_equal(w.n_most, REQUESTS_MAX);
        assert_true(guests_bytes(&w.guests) >= GUESTS_EXTRA_MS * 1000000 / NS_A_BYTE * 3 / 4);
    }
}

/* Somebody has the processors half the time, 50 ms each time. */
static void when_others_keep_the_engine_busy_jobs_make_room(void **state)
{
    struct world w;
    size_t before;

    (void)state;
    set_up(&w, 2, true);
    go_on(&w, 11); /* it has just looked */
    before = w.guests.window;
    for (const int64_t end_us = w.now_us + 5000000; w.now_us < end_us;) {
        send_all(&w);
        if (w.free_us[first_free(&w)] - w.now_us < 50000)
            (void)occupy(&w, 50000);
        answer(&w);
    }
    assert_true(w.guests.window < before / 2);
    go_on(&w, 30);
    assert_true(w.guests.window > before / 2);
}

static void what_is_sent_to_look_goes_small_and_alone(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, 8, true);
    for (int i = 0; i < GUESTS_LOOKS; i++) {
        send_all(&w);
        assert_int_equal(w.n, 1);
        assert_true(w.sent[0].bytes < w.guests.window);
        answer(&w);
    }
    send_all(&w);
    assert_true(w.n > 1);
    w.now_us += (int64_t)GUESTS_LOOK_MS * 1000;
    for (int i = 0; i < 100; i++) {
        send_all(&w);
        if (w.n_alone > GUESTS_LOOKS)
            break;
        answer(&w);
    }
    assert_int_equal(w.n, 1);
    assert_int_equal(w.n_alone, GUESTS_LOOKS + 1);
}

static void jobs_that_send_little_say_nothing_of_what_the_engine_can_take(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, 64, true);
    go_on(&w, 1);
    while (w.n > 0)
        answer(&w);

    const size_t before = w.guests.window;

    for (int i = 0; i < 100; i++) {
        guests_begin(&w.guests);
        guests_answered(&w.guests, guests_bytes(&w.guests), 1000);
        guests_end(&w.guests);
    }
    assert_int_equal(w.guests.window, before);
}

static void an_engine_without_room_gets_half(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, 64, true);
    go_on(&w, 1);

    const size_t before = w.guests.window;

    guests_busy(&w.guests);
    assert_int_equal(w.guests.window, before / 2);
    for (int i = 0; i < 100; i++)
        guests_busy(&w.guests);
    assert_true(w.guests.window > 0);
    while (w.n > 0)
        answer(&w);
    assert_true(guests_may_go(&w.guests));
}

/* Whatever they sent meanwhile, others wait as little as if they had never been alone. */
static void jobs_that_are_alone_take_all_until_they_are_not(void **state)
{
    struct world w;
    size_t before;

    (void)state;
    set_up(&w, 2, true);
    go_on(&w, 11);
    before = w.guests.window;
    guests_set_alone(&w.guests, true);
    assert_true(go_on(&w, 30).wait_ms > 10 * GUESTS_EXTRA_MS);
    assert_int_equal(w.n_most, REQUESTS_MAX);
    assert_int_equal(w.guests.window, before);
    guests_set_alone(&w.guests, false);
    assert_false(guests_may_go(&w.guests)); /* what is in flight goes first */
    while (w.n > 0)
        answer(&w);
    send_all(&w);
    assert_int_equal(w.n, 1); /* a look */
    assert_true(go_on(&w, 10).wait_ms < GUESTS_EXTRA_MS);
}

static void other_settings_hold_at_once(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, 64, true);
    go_on(&w, 30);
    guests_set(&w.guests, &(struct guests_options){true, 2, 100000});
    assert_true(guests_bytes(&w.guests) <= 100000);
    while (w.n > 2)
        answer(&w);
    assert_false(guests_may_go(&w.guests));
    guests_set(&w.guests, &(struct guests_options){false, 2, 100000});
    assert_true(guests_may_go(&w.guests));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_few_processors_others_wait_little_and_jobs_get_nearly_all),
        cmocka_unit_test(greedy_jobs_take_all_there_is),
        cmocka_unit_test(an_engine_with_time_gets_as_many_requests_as_may_be),
        cmocka_unit_test(what_takes_as_long_without_jobs_does_not_make_them_smaller),
        cmocka_unit_test(when_others_keep_the_engine_busy_jobs_make_room),
        cmocka_unit_test(what_is_sent_to_look_goes_small_and_alone),
        cmocka_unit_test(jobs_that_send_little_say_nothing_of_what_the_engine_can_take),
        cmocka_unit_test(an_engine_without_room_gets_half),
        cmocka_unit_test(jobs_that_are_alone_take_all_until_they_are_not),
        cmocka_unit_test(other_settings_hold_at_once),
    };

    return cmocka_run_group_tests_name("guests", tests, NULL, NULL);
}
