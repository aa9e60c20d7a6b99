#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/thread.h"
#include "sync/standstill.h"

#include <time.h>

#define LONG_MS 60000

/* A stream of events that end at 1, 2, 3 ..., each with 10 row changes. */
struct stream {
    struct standstill *s;
    uint64_t changes;  /* atomic */
    uint64_t version;  /* atomic: worked off */
    uint64_t from, to; /* standstill_here() at from, if it is not 0 */
    pthread_t thread;
};

static void *run(void *arg)
{
    struct stream *st = arg;

    for (uint64_t v = 1; v <= st->to; v++) {
        standstill_pass(st->s, v);
        __atomic_add_fetch(&st->changes, 10, __ATOMIC_RELAXED);
        __atomic_store_n(&st->version, v, __ATOMIC_RELEASE);
        if (standstill_reaches(st->s, v))
            standstill_stand(st->s);
        if (v == st->from)
            standstill_here(st->s, v);
    }
    return NULL;
}

static void start(struct stream *st, int64_t wait_ms)
{
    st->s = standstill_new(&st->changes, wait_ms);
    assert_true(standstill_begin(st->s));
    st->thread = thread_start("stream", run, st);
}

static void end(struct stream *st)
{
    pthread_join(st->thread, NULL);
    assert_int_equal(st->version, st->to);
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

static uint64_t at(struct stream *st)
{
    return __atomic_load_n(&st->version, __ATOMIC_ACQUIRE);
}

static void it_stands_here_and_then_there(void **state)
{
    struct stream st = {.from = 100, .to = 1000};
    uint64_t between;

    (void)state;
    start(&st, LONG_MS);
    wait_for(st.s, standstill_is_frozen);
    assert_int_equal(at(&st), 100);
    standstill_go_to(st.s, 700, 703);
    wait_for(st.s, standstill_is_there);
    assert_int_equal(at(&st), 703);
    assert_true(standstill_end(st.s, &between));
    assert_int_equal(between, 30);
    end(&st);
}

static void the_place_may_be_where_it_is(void **state)
{
    struct stream st = {.from = 100, .to = 200};
    uint64_t between;

    (void)state;
    start(&st, LONG_MS);
    wait_for(st.s, standstill_is_frozen);
    standstill_go_to(st.s, 100, 100);
    wait_for(st.s, standstill_is_there);
    assert_int_equal(at(&st), 100);
    assert_true(standstill_end(st.s, &between));
    assert_int_equal(between, 0);
    end(&st);
}

static void one_at_a_time_has_it(void **state)
{
    struct stream st = {.from = 1, .to = 2};
    uint64_t between;

    (void)state;
    start(&st, LONG_MS);
    assert_false(standstill_begin(st.s));
    (void)standstill_end(st.s, &between);
    assert_true(standstill_begin(st.s));
    (void)standstill_end(st.s, &between);
    end(&st);
}

static void it_goes_on_when_whoever_asked_takes_too_long(void **state)
{
    struct stream st = {.from = 5, .to = 10};
    uint64_t between;

    (void)state;
    start(&st, 1);
    wait_for(st.s, standstill_is_lost);
    standstill_go_to(st.s, 6, 7);
    assert_false(standstill_end(st.s, &between));
    end(&st);
}

static void nobody_stands_once_it_is_closed(void **state)
{
    struct stream st = {.from = 5, .to = 10};
    uint64_t between;

    (void)state;
    start(&st, LONG_MS);
    wait_for(st.s, standstill_is_frozen);
    standstill_close(st.s);
    pthread_join(st.thread, NULL);
    assert_int_equal(st.version, 10);
    assert_false(standstill_end(st.s, &between));
    assert_false(standstill_begin(st.s));
    standstill_free(st.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stands_here_and_then_there),
        cmocka_unit_test(the_place_may_be_where_it_is),
        cmocka_unit_test(one_at_a_time_has_it),
        cmocka_unit_test(it_goes_on_when_whoever_asked_takes_too_long),
        cmocka_unit_test(nobody_stands_once_it_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
