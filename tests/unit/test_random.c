#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/backoff.h"
#include "src/base/hash.h"
#include "src/base/random.h"

#include <string.h>

static void a_seed_repeats_its_numbers(void **state)
{
    struct random a, b, c;
    size_t n_same = 0;

    (void)state;
    random_init(&a, 1);
    random_init(&b, 1);
    random_init(&c, 2);
    for (int i = 0; i < 100; i++) {
        uint64_t v = random_next(&a);

        assert_int_equal(v, random_next(&b));
        n_same += v == random_next(&c);
    }
    assert_int_equal(n_same, 0);
}

/* The first output for state {1, 2, 3, 4} as the authors' own code gives it. */
static void the_numbers_are_those_of_xoshiro256plusplus(void **state)
{
    struct random r = {{1, 2, 3, 4}};

    (void)state;
    assert_int_equal(random_next(&r), 41943041);
    assert_int_equal(random_next(&r), 58720359);
    assert_int_equal(random_next(&r), 3588806011781223);
}

static void below_stays_below_and_reaches_every_value(void **state)
{
    struct random r;
    size_t seen[7] = {0};

    (void)state;
    random_init(&r, 3);
    for (int i = 0; i < 7000; i++)
        seen[random_below(&r, 7)]++;
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        assert_in_range(seen[i], 850, 1150);
    assert_int_equal(random_below(&r, 1), 0);
    assert_true(random_below(&r, UINT64_MAX) < UINT64_MAX);
}

static void the_systems_bytes_differ_each_time(void **state)
{
    char a[32] = {0}, b[32] = {0};

    (void)state;
    random_bytes(a, sizeof(a));
    random_bytes(b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
}

static void a_backoff_doubles_its_limit_up_to_the_cap(void **state)
{
    struct backoff b = {.base_ms = 100, .max_ms = 1500};
    static const int64_t limits[] = {100, 200, 400, 800, 1500, 1500, 1500};
    struct random r;

    (void)state;
    random_init(&r, 4);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        assert_int_equal(backoff_limit_ms(&b), limits[i]);
        assert_in_range(backoff_next_ms(&b, &r), 1, limits[i]);
    }
    backoff_reset(&b);
    assert_int_equal(backoff_limit_ms(&b), 100);
}

static void a_backoff_never_overflows(void **state)
{
    struct backoff b = {.base_ms = INT64_MAX / 3, .max_ms = INT64_MAX, .n_failed = UINT32_MAX};
    struct random r;

    (void)state;
    random_init(&r, 5);
    assert_int_equal(backoff_limit_ms(&b), INT64_MAX);
    for (int i = 0; i < 100; i++)
        assert_true(backoff_next_ms(&b, &r) > 0);
    assert_int_equal(b.n_failed, UINT32_MAX);
}

static void hashes_depend_on_every_byte_the_length_and_the_seed(void **state)
{
    char text[40];

    (void)state;
    memset(text, 0, sizeof(text));
    for (size_t len = 0; len <= sizeof(text); len++) {
        uint64_t h = hash_bytes((struct str){text, len}, 1);

        assert_true(h == hash_bytes((struct str){text, len}, 1));
        assert_true(h != hash_bytes((struct str){text, len}, 2));
        if (len > 0)
            assert_true(h != hash_bytes((struct str){text, len - 1}, 1));
        for (size_t i = 0; i < len; i++) {
            text[i] = 1;
            assert_true(h != hash_bytes((struct str){text, len}, 1));
            text[i] = 0;
        }
    }
    assert_true(hash_seed() == hash_seed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_repeats_its_numbers),
        cmocka_unit_test(the_numbers_are_those_of_xoshiro256plusplus),
        cmocka_unit_test(below_stays_below_and_reaches_every_value),
        cmocka_unit_test(the_systems_bytes_differ_each_time),
        cmocka_unit_test(a_backoff_doubles_its_limit_up_to_the_cap),
        cmocka_unit_test(a_backoff_never_overflows),
        cmocka_unit_test(hashes_depend_on_every_byte_the_length_and_the_seed),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
