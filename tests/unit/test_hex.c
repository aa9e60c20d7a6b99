#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/hex.h"

static void every_byte_comes_back_from_its_digits(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char text[] = {'-', ' ', ' '};

        assert_ptr_equal(hex_put(text + 1, (unsigned char)i), text + 3);
        assert_int_equal(hex_byte((struct str){text, 3}, 1), i);
        assert_int_equal(text[0], '-');
    }
    assert_int_equal(hex_byte(STR("aBCd"), 0), 0xab);
    assert_int_equal(hex_byte(STR("aBCd"), 2), 0xcd);
}

static void what_is_no_digit_or_beyond_the_end_is_no_byte(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        const char text[] = {'0', (char)c, '0'};
        const bool is_digit =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

        assert_int_equal(hex_byte((struct str){text, 3}, 0) >= 0, is_digit);
        assert_int_equal(hex_byte((struct str){text, 3}, 1) >= 0, is_digit);
    }
    assert_int_equal(hex_byte(STR("0"), 0), -1);
    assert_int_equal(hex_byte(STR("00"), 1), -1);
    assert_int_equal(hex_byte(STR("00"), 3), -1);
    assert_int_equal(hex_byte((struct str){NULL, 0}, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_comes_back_from_its_digits),
        cmocka_unit_test(what_is_no_digit_or_beyond_the_end_is_no_byte),
    };
    return cmocka_run_group_tests_name("hex", tests, NULL, NULL);
}
