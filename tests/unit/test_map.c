#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/random.h"

#include <stdlib.h>
#include <string.h>

static void a_key_finds_what_was_put_last(void **state)
{
    struct map *m = map_new();
    int one, two;

    (void)state;
    assert_null(map_find(m, STR("a")));
    assert_null(map_put(m, STR("a"), &one));
    assert_null(map_put(m, STR(""), &two));
    assert_ptr_equal(map_put(m, STR("a"), &two), &one);
    assert_ptr_equal(map_find(m, STR("a")), &two);
    assert_ptr_equal(map_find(m, STR("")), &two);
    assert_int_equal(map_count(m), 2);
    assert_ptr_equal(map_remove(m, STR("a")), &two);
    assert_null(map_remove(m, STR("a")));
    assert_null(map_find(m, STR("a")));
    assert_int_equal(map_count(m), 1);
    map_free(m, NULL);
}

static void keys_are_copied_and_may_hold_any_byte(void **state)
{
    struct map *m = map_new();
    char key[] = {'a', '\0', 'b'};
    int value;

    (void)state;
    assert_null(map_put(m, (struct str){key, 3}, &value));
    key[2] = 'c';
    assert_null(map_find(m, (struct str){key, 3}));
    assert_ptr_equal(map_find(m, STR("a\0b")), &value);
    map_free(m, NULL);
}

static void iteration_follows_insertion(void **state)
{
    struct map *m = map_new();
    int values[1000];
    struct buf key = {0};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        values[i] = i;
        buf_clear(&key);
        buf_append_i64(&key, i);
        assert_null(map_put(m, buf_str(&key), &values[i]));
    }
    for (int i = 0; i < 1000; i += 2) {
        buf_clear(&key);
        buf_append_i64(&key, i);
        assert_ptr_equal(map_remove(m, buf_str(&key)), &values[i]);
    }

    struct str k;
    void *value;
    int expected = 1;

    for (size_t i = 0; map_next(m, &i, &k, &value); expected += 2)
        assert_int_equal(*(int *)value, expected);
    assert_int_equal(expected, 1001);
    buf_free(&key);
    map_free(m, NULL);
}

static void entries_can_be_removed_while_iterating(void **state)
{
    struct map *m = map_new();
    static const char *const keys[] = {"a", "b", "c", "d"};
    size_t n_seen = 0;
    struct str key;
    void *value;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_null(map_put(m, str_from(keys[i]), mem_copy(keys[i])));
    for (size_t i = 0; map_next(m, &i, &key, &value); n_seen++) {
        assert_ptr_equal(map_remove(m, key), value);
        free(value);
    }
    assert_int_equal(n_seen, ARRAY_LEN(keys));
    assert_int_equal(map_count(m), 0);
    map_free(m, free);
}

/* Against an array of what should be there, under much coming and going. */
static void matches_a_plain_array_under_random_use(void **state)
{
    struct map *m = map_new();
    void *expected[257] = {0};
    size_t n_expected = 0;
    struct random r;

    (void)state;
    random_init(&r, 7);
    for (int step = 0; step < 200000; step++) {
        uint64_t k = random_below(&r, ARRAY_LEN(expected));
        struct str key = {(const char *)&k, sizeof(k)};

        if (random_below(&r, 2) == 0) {
            void *value = (void *)(uintptr_t)(1 + random_below(&r, 1000));

            n_expected += expected[k] == NULL;
            assert_ptr_equal(map_put(m, key, value), expected[k]);
            expected[k] = value;
        } else {
            n_expected -= expected[k] != NULL;
            assert_ptr_equal(map_remove(m, key), expected[k]);
            expected[k] = NULL;
        }
        assert_int_equal(map_count(m), n_expected);
    }
    for (uint64_t k = 0; k < ARRAY_LEN(expected); k++)
        assert_ptr_equal(map_find(m, (struct str){(const char *)&k, sizeof(k)}), expected[k]);
    map_free(m, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_finds_what_was_put_last),
        cmocka_unit_test(keys_are_copied_and_may_hold_any_byte),
        cmocka_unit_test(iteration_follows_insertion),
        cmocka_unit_test(entries_can_be_removed_while_iterating),
        cmocka_unit_test(matches_a_plain_array_under_random_use),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
