#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/thread.h"
#include "sync/pipeline/stream_pause.h"

#include <time.h>

#define LONG_MS 60000

/* A stream of events 1, 2, 3 ..., that comes to stream_pause_here() at one of them. */
struct stream {
    struct stream_pause *s;
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
            stream_pause_here(st->s);
    }
    return NULL;
}

static void start(struct stream *st, int64_t wait_ms)
{
    st->s = stream_pause_new(wait_ms);
    assert_true(stream_pause_begin(st->s));
    st->thread = thread_start("stream", run, st);
}

static void end(struct stream *st)
{
    pthread_join(st->thread, NULL);
    assert_int_equal(st->at, st->to);
    stream_pause_free(st->s);
}

static void wait_for(struct stream_pause *s, bool (*is_so)(struct stream_pause *s))
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
    wait_for(st.s, stream_pause_is_there);
    assert_int_equal(__atomic_load_n(&st.at, __ATOMIC_ACQUIRE), 100);
    assert_false(stream_pause_is_lost(st.s));
    stream_pause_end(st.s);
    end(&st);
}

static void it_passes_when_nobody_asks_any_more(void **state)
{
    struct stream_pause *s = stream_pause_new(LONG_MS);

    (void)state;
    assert_true(stream_pause_begin(s));
    stream_pause_end(s);
    stream_pause_here(s);
    assert_false(stream_pause_is_there(s));
    stream_pause_free(s);
}

static void one_at_a_time_has_it(void **state)
{
    struct stream st = {.here = 1, .to = 2};

    (void)state;
    start(&st, LONG_MS);
    assert_false(stream_pause_begin(st.s));
    stream_pause_end(st.s);
    assert_true(stream_pause_begin(st.s));
    stream_pause_end(st.s);
    end(&st);
}

static void it_goes_on_when_whoever_asked_takes_too_long(void **state)
{
    struct stream st = {.here = 5, .to = 10};

    (void)state;
    start(&st, 1);
    wait_for(st.s, stream_pause_is_lost);
    assert_false(stream_pause_is_there(st.s));
    stream_pause_end(st.s);
    assert_true(stream_pause_begin(st.s));
    stream_pause_end(st.s);
    end(&st);
}

static void nobody_stands_once_it_is_closed(void **state)
{
    struct stream st = {.here = 5, .to = 10};

    (void)state;
    start(&st, LONG_MS);
    wait_for(st.s, stream_pause_is_there);
    stream_pause_close(st.s);
    pthread_join(st.thread, NULL);
    assert_int_equal(st.at, 10);
    stream_pause_end(st.s);
    assert_false(stream_pause_begin(st.s));
    stream_pause_free(st.s);
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
