#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/index/pace.h"

#define T 1000000

/* Eight in 25 ms are a flow; 50 are worth a read, 250 enough. */
static struct pace a_pace(int64_t window_ms)
{
    struct pace p;

    pace_init(&p, &(struct pace_options){.window_ms = window_ms,
                                         .longest_ms = 5 * window_ms,
                                         .flow = 8,
                                         .worth = 50,
                                         .enough = 250});
    return p;
}

/* Asked for n reads among others, one a millisecond; the time of the last. */
static int64_t ask(struct pace *p, int64_t from_ms, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pace_ask(p, from_ms + i, PACE_AMONG);
    return from_ms + n - 1;
}

/* One that flows: the last read was at `at`. */
static struct pace a_flow(int64_t at)
{
    struct pace p = a_pace(100);

    (void)ask(&p, at - 99, 100);
    pace_read(&p, at);
    return p;
}

static void changes_that_are_no_flow_are_read_at_once(void **state)
{
    struct pace p = a_pace(100);

    (void)state;
    for (int64_t t = T; t < T + 1000; t += 5) { /* 200 a second */
        pace_ask(&p, t, PACE_AMONG);
        assert_int_equal(pace_reads_at(&p, 1, t), t);
        pace_read(&p, t);
    }
}

static void of_a_flow_one_read_follows_the_other_after_the_window(void **state)
{
    struct pace p = a_flow(T);
    const int64_t t = ask(&p, T + 1, 80);

    (void)state;
    assert_int_equal(pace_reads_at(&p, 80, t), T + 100);
    assert_int_equal(pace_reads_at(&p, 80, T + 101), T + 101);
}

static void a_flow_begins_with_the_first_changes_that_come_close_together(void **state)
{
    struct pace p = a_pace(100);
    int64_t t;

    (void)state;
    pace_read(&p, T);
    t = ask(&p, T, 7);
    assert_int_equal(pace_reads_at(&p, 7, t), t);
    pace_read(&p, t);
    t = ask(&p, t + 1, 1);
    assert_true(pace_reads_at(&p, 1, t) > t);
}

static void fewer_documents_than_a_read_is_worth_wait_for_more(void **state)
{
    struct pace p = a_flow(T);

    (void)state;
    for (int64_t t = T + 10; t < T + 450; t += 5) /* slower, but a flow */
        pace_ask(&p, t, PACE_AMONG);
    assert_true(pace_reads_at(&p, 49, T + 450) > T + 450);
    assert_int_equal(pace_reads_at(&p, 50, T + 450), T + 450);
    for (int64_t t = T + 450; t < T + 500; t += 5)
        pace_ask(&p, t, PACE_AMONG);
    assert_int_equal(pace_reads_at(&p, 49, T + 499), T + 500);
}

static void where_nothing_more_comes_nothing_is_waited_for(void **state)
{
    struct pace p = a_flow(T);

    (void)state;
    pace_ask(&p, T + 3, PACE_AMONG);
    assert_int_equal(pace_reads_at(&p, 1, T + 4), T + 28);
}

static void a_change_that_comes_alone_is_read_at_once_in_a_flow_too(void **state)
{
    struct pace p = a_flow(T);

    (void)state;
    pace_ask(&p, T + 3, PACE_ALONE);
    assert_int_equal(pace_reads_at(&p, 1, T + 3), T + 3);
    pace_read(&p, T + 3);
    pace_ask(&p, T + 4, PACE_AMONG);
    assert_true(pace_reads_at(&p, 1, T + 4) > T + 4);
}

static void what_is_enough_for_a_read_is_not_waited_with(void **state)
{
    struct pace p = a_flow(T);
    const int64_t t = ask(&p, T + 1, 40);

    (void)state;
    assert_true(pace_reads_at(&p, 249, t) > t);
    assert_int_equal(pace_reads_at(&p, 250, t), t);
}

static void what_came_together_is_read_at_once_with_whatever_waits(void **state)
{
    struct pace p = a_flow(T);
    const int64_t t = ask(&p, T + 1, 60);

    (void)state;
    pace_ask(&p, t, PACE_GATHERED);
    assert_int_equal(pace_reads_at(&p, 61, t), t);
    pace_read(&p, t);
    assert_true(pace_reads_at(&p, 1, t) > t);
}

static void without_a_window_every_read_goes_at_once(void **state)
{
    struct pace p = a_pace(0);
    const int64_t t = ask(&p, T, 100);

    (void)state;
    pace_read(&p, t);
    assert_int_equal(pace_reads_at(&p, 1, t), t);
}

static void a_flow_that_is_over_holds_nothing_up(void **state)
{
    struct pace p = a_flow(T);

    (void)state;
    pace_ask(&p, T + 150, PACE_AMONG);
    assert_int_equal(pace_reads_at(&p, 1, T + 150), T + 150);
}

/* What delivery asks of a pace: reads take 5 ms, and documents are under way for 10 more. */
#define READ_MS  5
#define WRITE_MS 10

struct flow {
    struct pace p;
    unsigned waiting, reads;
    int64_t busy_until_ms, longest_ms, oldest_ms;
};

static void turn(struct flow *f, int64_t now_ms)
{
    if (f->waiting == 0 || pace_reads_at(&f->p, f->waiting, now_ms) > now_ms)
        return;
    pace_read(&f->p, now_ms);
    if (now_ms - f->oldest_ms > f->longest_ms)
        f->longest_ms = now_ms - f->oldest_ms;
    f->reads++;
    f->waiting = 0;
    f->busy_until_ms = now_ms + READ_MS + WRITE_MS;
}

static void arrive(struct flow *f, int64_t now_ms)
{
    const bool alone = f->waiting == 0 && now_ms >= f->busy_until_ms;

    pace_ask(&f->p, now_ms, alone ? PACE_ALONE : PACE_AMONG);
    if (f->waiting++ == 0)
        f->oldest_ms = now_ms;
}

/* Ten seconds of changes at random moments, so many a second on average; as delivery has it. */
static struct flow a_steady_flow(uint32_t rate)
{
    struct flow f = {0};
    uint32_t seed = 1;

    pace_init(
        &f.p,
        &(struct pace_options){
            .window_ms = 200, .longest_ms = 1000, .flow = 12, .worth = 300, .enough = 500});
    for (int64_t t = T; t < T + 10000; t++) {
        for (uint32_t i = 0; i < 8; i++) {
            seed = seed * 1664525 + 1013904223;
            if ((seed >> 8) % 8000 < rate)
                arrive(&f, t);
        }
        turn(&f, t);
    }
    return f;
}

static void a_steady_flow_of_some_hundred_changes_a_second_is_few_reads(void **state)
{
    static const uint32_t rates[] = {300, 500, 1000, 3000};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        const struct flow f = a_steady_flow(rates[i]);

        /* Seven statements each: less than a twentieth for a change, with what begins the
         * flow. */
        assert_true(f.reads * 7 * 20 < rates[i] * 10);
        assert_true(f.longest_ms <= 1000);
    }
}

static void changes_far_apart_wait_for_nothing(void **state)
{
    (void)state;
    assert_int_equal(a_steady_flow(10).longest_ms, 0);
    assert_int_equal(a_steady_flow(30).longest_ms, 0);
}

/* 100 bytes are what a read should take. */
static struct pace a_pace_of_bytes(void)
{
    struct pace p = a_pace(100);
    struct pace_options opt = p.opt;

    opt.bytes = 100;
    pace_set(&p, &opt);
    return p;
}

static void a_read_has_as_many_documents_as_the_last_ones_make_fit(void **state)
{
    static const struct {
        size_t n, bytes;
        bool is_cut;
        size_t most;
    } reads[] = {
        {10, 20, false, 33},  /* 3 bytes each, reckoned upwards */
        {5, 45, false, 10},   /* larger ones */
        {1, 200, false, 1},   /* one that does not fit at all */
        {1, 0, false, 2},     /* small ones again: twice as many at most */
        {0, 0, false, 2},     /* of reads that fail nothing is learned */
        {2, 0, false, 4},     /* */
        {1, 0, false, 8},     /* few waited */
        {3, 3, true, 3},      /* others did not fit beside them */
        {200, 10, false, 100} /* */
    };
    struct pace p = a_pace_of_bytes();

    (void)state;
    assert_int_equal(pace_most(&p), 250);
    assert_int_equal(pace_each(&p), 0);
    for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
        pace_took(&p, reads[i].n, reads[i].bytes, reads[i].is_cut);
        assert_int_equal(pace_most(&p), reads[i].most);
        if (reads[i].n > 0)
            assert_int_equal(pace_each(&p), reads[i].bytes / reads[i].n);
    }
}

static void as_many_as_fit_are_enough_for_a_read(void **state)
{
    struct pace p = a_pace_of_bytes();

    (void)state;
    pace_took(&p, 10, 100, true);
    (void)ask(&p, T - 99, 100);
    pace_read(&p, T);

    const int64_t t = ask(&p, T + 1, 40);

    assert_true(pace_reads_at(&p, 8, t) > t);
    assert_int_equal(pace_reads_at(&p, 9, t), t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_has_as_many_documents_as_the_last_ones_make_fit),
        cmocka_unit_test(as_many_as_fit_are_enough_for_a_read),
        cmocka_unit_test(changes_that_are_no_flow_are_read_at_once),
        cmocka_unit_test(of_a_flow_one_read_follows_the_other_after_the_window),
        cmocka_unit_test(a_flow_begins_with_the_first_changes_that_come_close_together),
        cmocka_unit_test(fewer_documents_than_a_read_is_worth_wait_for_more),
        cmocka_unit_test(where_nothing_more_comes_nothing_is_waited_for),
        cmocka_unit_test(a_change_that_comes_alone_is_read_at_once_in_a_flow_too),
        cmocka_unit_test(what_is_enough_for_a_read_is_not_waited_with),
        cmocka_unit_test(what_came_together_is_read_at_once_with_whatever_waits),
        cmocka_unit_test(without_a_window_every_read_goes_at_once),
        cmocka_unit_test(a_flow_that_is_over_holds_nothing_up),
        cmocka_unit_test(a_steady_flow_of_some_hundred_changes_a_second_is_few_reads),
        cmocka_unit_test(changes_far_apart_wait_for_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
