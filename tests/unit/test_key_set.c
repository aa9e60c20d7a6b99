#include "config.h"

#include "tests/unit/unit.h"

#include "sync/document/key_set.h"

#include <stdio.h>

static void equal_keys_have_one_number(void **state)
{
    struct key_set s = {0};

    (void)state;
    assert_int_equal(key_set_find(&s, STR("a")), KEY_SET_NONE);
    assert_int_equal(key_set_add(&s, STR("a")), 0);
    assert_int_equal(key_set_add(&s, STR("")), 1);
    assert_int_equal(key_set_add(&s, STR("a\0b")), 2);
    assert_int_equal(key_set_add(&s, STR("a")), 0);
    assert_int_equal(key_set_find(&s, STR("a\0b")), 2);
    assert_int_equal(key_set_find(&s, STR("b")), KEY_SET_NONE);
    assert_true(str_equal(key_set_get(&s, 2), STR("a\0b")));
    key_set_fini(&s);
}

static void numbers_hold_while_the_set_grows(void **state)
{
    struct key_set s = {0};
    char text[32];

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        int len = snprintf(text, sizeof(text), "key %u", i * 7);

        assert_int_equal(key_set_add(&s, (struct str){text, (size_t)len}), i);
    }
    for (uint32_t i = 0; i < 10000; i++) {
        int len = snprintf(text, sizeof(text), "key %u", i * 7);

        assert_int_equal(key_set_find(&s, (struct str){text, (size_t)len}), i);
    }
    key_set_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_keys_have_one_number),
        cmocka_unit_test(numbers_hold_while_the_set_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
