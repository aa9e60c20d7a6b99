#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/index/limiter.h"

static void overload_halves_and_good_answers_raise_again(void **state)
{
    struct limiter l;

    (void)state;
    limiter_init(&l, 8 << 20, 10);
    assert_int_equal(l.bytes, 1 << 20);
    assert_int_equal(l.width, 4);
    limiter_busy(&l);
    assert_int_equal(l.bytes, 1 << 19);
    assert_int_equal(l.width, 2);
    for (unsigned i = 0; i < 20; i++)
        limiter_busy(&l);
    assert_int_equal(l.bytes, 64 << 10);
    assert_int_equal(l.width, 1);
    for (unsigned i = 0; i < 1000; i++)
        limiter_good(&l, l.bytes, 20);
    assert_int_equal(l.bytes, 8 << 20);
    assert_int_equal(l.width, 10);
}

static void batches_grow_only_while_answers_are_quick(void **state)
{
    struct limiter l;

    (void)state;
    limiter_init(&l, 8 << 20, 10);
    for (unsigned i = 0; i < 100; i++)
        limiter_good(&l, l.bytes, 500);
    assert_int_equal(l.bytes, 1 << 20);
    for (unsigned i = 0; i < 100; i++)
        limiter_good(&l, 1000, 5); /* small ones say nothing */
    assert_int_equal(l.bytes, 1 << 20);
    limiter_good(&l, l.bytes, 2000);
    assert_true(l.bytes < 1 << 20);
}

static void what_was_too_large_is_never_tried_again(void **state)
{
    struct limiter l;

    (void)state;
    limiter_init(&l, 8 << 20, 10);
    limiter_too_large(&l, 1000000);
    for (unsigned i = 0; i < 100; i++)
        limiter_good(&l, l.bytes, 5);
    assert_int_equal(l.bytes, 500000);
}

static void after_a_failure_batches_are_small_and_double(void **state)
{
    struct limiter l;

    (void)state;
    limiter_init(&l, 8 << 20, 10);
    limiter_failed(&l);
    assert_int_equal(l.bytes, 16 << 10);
    limiter_good(&l, 1000, 20); /* it was not full */
    assert_int_equal(l.bytes, 16 << 10);
    for (size_t bytes = 32 << 10; bytes <= 1 << 19; bytes *= 2) {
        limiter_good(&l, l.bytes, 500);
        assert_int_equal(l.bytes, bytes);
    }
    limiter_good(&l, l.bytes, 500); /* half of what failed is enough for now */
    assert_int_equal(l.bytes, 1 << 19);
    limiter_failed(&l);
    limiter_failed(&l);
    assert_int_equal(l.aim, 1 << 17);
    assert_int_equal(l.width, 1);
}

static void the_ceilings_hold_after_a_failure(void **state)
{
    struct limiter l;

    (void)state;
    limiter_init(&l, 8 << 20, 10);
    limiter_failed(&l);
    limiter_too_large(&l, 20000);
    assert_int_equal(l.bytes, 10000);
    limiter_set(&l, 1 << 20, 10);
    for (unsigned i = 0; i < 100; i++)
        limiter_good(&l, l.bytes, 20);
    assert_int_equal(l.bytes, 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overload_halves_and_good_answers_raise_again),
        cmocka_unit_test(batches_grow_only_while_answers_are_quick),
        cmocka_unit_test(what_was_too_large_is_never_tried_again),
        cmocka_unit_test(after_a_failure_batches_are_small_and_double),
        cmocka_unit_test(the_ceilings_hold_after_a_failure),
    };

    return cmocka_run_group_tests_name("limiter", tests, NULL, NULL);
}
