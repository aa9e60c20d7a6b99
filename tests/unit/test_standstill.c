#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/thread.h"
#include "sync/standstill.h"

#include <time.h>

#define LONG_MS 60000

/* A stream of events 1, 2, 3 ..., that comes to standstill_here() at one of them. */
struct stream {
    struct standstill *s;
    uint64_t at; /* atomic: worked off */
    uint64_t here, to;
    pthread_t thread;
};

static void *run(void *arg)
{
    struct stream *st = arg;

    for (uint64_t i = 1; i <= st->to; i++) {
        __atomic_store_n(&st->at, i, __ATOMIC_RELEASE);
        if (i == st->here)
            standstill_here(st->s);
    }
    return NULL;
}

static void start(struct stream *st, int64_t wait_ms)
{
    st->s = standstill_new(wait_ms);
    assert_true(standstill_begin(st->s));
    st->thread = thread_start("stream", run, st);
}

static void end(struct stream *st)
{
    pthread_join(st->thread, NULL);
    assert_int_equal(st->at, st->to);
    standstill_free(st->s);
}

static void wait_for(struct standstill *s, bool (*is_so)(struct standstill *s))
{
    const int64_t until = clock_mono_ms() + LONG_MS;

    while (!is_so(s)) {
        assert_true(clock_mono_ms() < until);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

static void it_stands_until_it_is_told_to_go_on(void **state)
{
    struct stream st = {.here = 100, .to = 1000};

    (void)state;
    start(&st, LONG_MS);
    wait_for(st.s, standstill_is_there);
    assert_int_equal(__atomic_load_n(&st.at, __ATOMIC_ACQUIRE), 100);
    assert_false(standstill_is_lost(st.s));
    standstill_end(st.s);
    end(&st);
}

static void it_passes_when_nobody_asks_any_more(void **state)
{
    struct standstill *s = standstill_new(LONG_MS);

    (void)state;
    assert_true(standstill_begin(s));
    standstill_end(s);
    standstill_here(s);
    assert_false(standstill_is_there(s));
    standstill_free(s);
}

static void one_at_a_time_has_it(void **state)
{
    struct stream st = {.here = 1, .to = 2};

    (void)state;
    start(&st, LONG_MS);
    assert_false(standstill_begin(st.s));
    standstill_end(st.s);
    assert_true(standstill_begin(st.s));
    standstill_end(st.s);
    end(&st);
}

static void it_goes_on_when_whoever_asked_takes_too_long(void **state)
{
    struct stream st = {.here = 5, .to = 10};

    (void)state;
    start(&st, 1);
    wait_for(st.s, standstill_is_lost);
    assert_false(standstill_is_there(st.s));
    standstill_end(st.s);
    assert_true(standstill_begin(st.s));
    standstill_end(st.s);
    end(&st);
}

static void nobody_stands_once_it_is_closed(void **state)
{
    struct stream st = {.here = 5, .to = 10};

    (void)state;
    start(&st, LONG_MS);
    wait_for(st.s, standstill_is_there);
    standstill_close(st.s);
    pthread_join(st.thread, NULL);
    assert_int_equal(st.at, 10);
    standstill_end(st.s);
    assert_false(standstill_begin(st.s));
    standstill_free(st.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stands_until_it_is_told_to_go_on),
        cmocka_unit_test(it_passes_when_nobody_asks_any_more),
        cmocka_unit_test(one_at_a_time_has_it),
        cmocka_unit_test(it_goes_on_when_whoever_asked_takes_too_long),
        cmocka_unit_test(nobody_stands_once_it_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
