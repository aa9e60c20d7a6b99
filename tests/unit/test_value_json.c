#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/value/value_json.h"

#include <math.h>

static void every_kind_has_its_text(void **state)
{
    static const struct {
        struct value v;
        const char *text;
    } cases[] = {
        {{.kind = VALUE_NULL}, "null"},
        {{.kind = VALUE_INT, .i = INT64_MIN}, "-9223372036854775808"},
        {{.kind = VALUE_UINT, .u = UINT64_MAX}, "18446744073709551615"},
        {{.kind = VALUE_FLOAT, .d = 0.100000001490116}, "0.1"},
        {{.kind = VALUE_DOUBLE, .d = 0.1}, "0.1"},
        {{.kind = VALUE_DECIMAL, .s = STR("12345678901234567890.10")},
         "12345678901234567890.10"},
        {{.kind = VALUE_TEXT, .s = STR("a\"\n\x01é")}, "\"a\\\"\\n\\u0001é\""},
        {{.kind = VALUE_BYTES, .s = STR("abc")}, "\"abc\""},
        {{.kind = VALUE_BYTES, .s = STR("\xff")}, "{\"base64\":\"/w==\"}"},
        {{.kind = VALUE_DATE, .s = STR("0000-00-00")}, "\"0000-00-00\""},
        {{.kind = VALUE_DATETIME, .s = STR("2024-01-02T03:04:05.6")},
         "\"2024-01-02T03:04:05.6\""},
        {{.kind = VALUE_TIMESTAMP, .s = STR("2024-01-02T03:04:05")},
         "\"2024-01-02T03:04:05Z\""},
        {{.kind = VALUE_TIME, .s = STR("-838:59:59")}, "\"-838:59:59\""},
        {{.kind = VALUE_YEAR, .u = 0}, "0"},
        {{.kind = VALUE_BIT, .u = UINT64_MAX}, "18446744073709551615"},
        {{.kind = VALUE_ENUM, .u = 2, .s = STR("red")}, "\"red\""},
        {{.kind = VALUE_ENUM, .u = 2}, "2"},
        {{.kind = VALUE_SET, .u = 3, .s = STR("a,b")}, "[\"a\",\"b\"]"},
        {{.kind = VALUE_SET, .u = 0, .s = STR("")}, "[]"},
        {{.kind = VALUE_SET, .u = 3}, "3"},
        {{.kind = VALUE_JSON, .s = STR("{\"a\":1}")}, "{\"a\":1}"},
        {{.kind = VALUE_GEOMETRY, .s = STR("no")}, "\"no\""},
        {{.kind = VALUE_VECTOR, .s = STR("\0\0\x80\x3f\0\0\xc0\x7f")}, "[1,null]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        value_append_json(&b, &cases[i].v);
        assert_string_equal(b.ptr, cases[i].text);
        buf_free(&b);
    }
}

static void numbers_that_json_does_not_have_are_null(void **state)
{
    struct buf b = {0};

    (void)state;
    value_append_double(&b, INFINITY);
    value_append_float(&b, NAN);
    assert_string_equal(b.ptr, "nullnull");
    buf_free(&b);
}

static void json_loses_its_white_space_and_nothing_else(void **state)
{
    struct buf b = {0};

    (void)state;
    assert_true(value_append_compact_json(&b, STR(" { \"a b\" : [ 1 , \"x \\\" y\" ] }\n")));
    assert_string_equal(b.ptr, "{\"a b\":[1,\"x \\\" y\"]}");
    assert_false(value_append_compact_json(&b, STR("{\"a\":}")));
    assert_int_equal(b.len, 20);
    buf_free(&b);
}

static void base64_pads_what_is_left_over(void **state)
{
    struct buf b = {0};

    (void)state;
    value_append_base64(&b, STR(""));
    value_append_base64(&b, STR("f"));
    value_append_base64(&b, STR("fo"));
    value_append_base64(&b, STR("foo"));
    value_append_base64(&b, STR("foob"));
    assert_string_equal(b.ptr, "\"\"\"Zg==\"\"Zm8=\"\"Zm9v\"\"Zm9vYg==\"");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_its_text),
        cmocka_unit_test(numbers_that_json_does_not_have_are_null),
        cmocka_unit_test(json_loses_its_white_space_and_nothing_else),
        cmocka_unit_test(base64_pads_what_is_left_over),
    };
    return cmocka_run_group_tests_name("value_json", tests, NULL, NULL);
}
