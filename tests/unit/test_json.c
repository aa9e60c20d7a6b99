#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/utf8.h"
#include "src/format/json.h"

#include <stdlib.h>
#include <string.h>

static void the_writer_puts_commas_only_between_values(void **state)
{
    struct buf b = {0};
    struct json_writer w = {.out = &b};

    (void)state;
    json_open_object(&w);
    json_put_string(&w, STR("a\"b"), STR("x\ny"));
    json_put_cstr(&w, STR("none"), NULL);
    json_write_key(&w, STR("list"));
    json_open_array(&w);
    json_open_object(&w);
    json_close_object(&w);
    json_open_array(&w);
    json_close_array(&w);
    json_write_u64(&w, UINT64_MAX);
    json_write_i64(&w, INT64_MIN);
    json_write_raw(&w, STR("1.10"));
    json_close_array(&w);
    json_put_bool(&w, STR("yes"), true);
    json_put_double(&w, STR("tenth"), 0.1);
    json_put_double(&w, STR("third"), 1.0 / 3);
    json_put_double(&w, STR("nan"), strtod("nan", NULL));
    json_close_object(&w);
    assert_string_equal(b.ptr, "{\"a\\\"b\":\"x\\ny\",\"none\":null,\"list\":[{},[],"
                               "18446744073709551615,-9223372036854775808,1.10],\"yes\":true,"
                               "\"tenth\":0.1,\"third\":0.3333333333333333,\"nan\":null}");
    buf_free(&b);
}

static void valid_texts_are_accepted(void **state)
{
    static const struct str texts[] = {
        STR("null"),
        STR(" true "),
        STR("false\n"),
        STR("0"),
        STR("-0.0e+1"),
        STR("12345678901234567890.5E-7"),
        STR("\"\""),
        STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud800\""),
        STR("\"caf\xc3\xa9\""),
        STR("[]"),
        STR("{}"),
        STR("[1,[2,{\"a\":[]}],{}]"),
        STR("\t{ \"a\" : 1 ,\r\n \"b\" : [ null , 2 ] }  "),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = {0};

        if (!json_valid(texts[i], &err))
            fail_msg("%" STR_FMT ": %s", STR_ARG(texts[i]), err.msg);
    }
}

static void faults_are_refused_with_their_place(void **state)
{
    static const struct {
        struct str text;
        const char *msg;
    } cases[] = {
        {STR(""), "byte 0: a value is missing"},
        {STR("  "), "byte 2: a value is missing"},
        {STR("nul"), "byte 0: not null"},
        {STR("nulll"), "byte 4: something follows the end"},
        {STR("01"), "byte 0: not a number"},
        {STR("-"), "byte 0: not a number"},
        {STR("1."), "byte 0: not a number"},
        {STR("1e"), "byte 0: not a number"},
        {STR("+1"), "byte 0: a value is missing"},
        {STR("1 2"), "byte 2: something follows the end"},
        {STR("1\0"), "byte 1: a NUL byte follows the end"},
        {STR("\"abc"), "byte 0: a string without an end"},
        {STR("\"a\nb\""), "byte 2: a control character in a string"},
        {STR("\"a\\x\""), "byte 2: an escape that JSON does not know"},
        {STR("\"\\u12g4\""), "byte 1: an escape that JSON does not know"},
        {STR("\"\\u12"), "byte 1: an escape that JSON does not know"},
        {STR("\"\\"), "byte 1: an escape that JSON does not know"},
        {STR("\"\xff\""), "byte 1: bytes that are not UTF-8"},
        {STR("\"\xed\xa0\x80\""), "byte 1: bytes that are not UTF-8"},
        {STR("[1,]"), "byte 3: a value is missing"},
        {STR("[1 2]"), "byte 3: a comma or ] is missing"},
        {STR("[1"), "byte 2: a comma or ] is missing"},
        {STR("["), "byte 1: a value is missing"},
        {STR("{\"a\":1,}"), "byte 7: a key is missing"},
        {STR("{\"a\" 1}"), "byte 5: a colon is missing"},
        {STR("{\"a\":}"), "byte 5: a value is missing"},
        {STR("{\"a\":1]"), "byte 6: a comma or } is missing"},
        {STR("{1:2}"), "byte 1: a key is missing"},
        {STR("{"), "byte 1: a key is missing"},
        {STR("]"), "byte 0: a value is missing"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};

        assert_false(json_valid(cases[i].text, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        if (strcmp(err.msg + strlen("not JSON at "), cases[i].msg) != 0)
            fail_msg("%" STR_FMT ": %s, not %s", STR_ARG(cases[i].text), err.msg, cases[i].msg);
    }
}

static void nesting_is_bounded(void **state)
{
    struct buf b = {0};
    struct err err = {0};

    (void)state;
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_append_char(&b, '[');
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_append_char(&b, ']');
    assert_true(json_valid(buf_str(&b), &err));

    buf_clear(&b);
    for (int i = 0; i < 100000; i++)
        buf_append(&b, STR("[{\"a\":"));
    assert_false(json_valid(buf_str(&b), &err));
    assert_non_null(strstr(err.msg, "nested too deeply"));
    buf_free(&b);
}

static void members_are_read_by_name_and_the_rest_is_skipped(void **state)
{
    struct str text =
        STR("{\"skipped\":{\"took\":[1,{\"x\":2}]},\"took\":30,\"errors\":true,"
            "\"t\\u006f\":5,\"price\":1.10,\"items\":[\"a\",\"b\\n\"],\"n\":null}");
    struct json_reader r;
    struct err err = {0};
    struct str key, price = {0};
    uint64_t took = 0;
    uint64_t to = 0;
    bool errors = false;
    struct buf items = {0};

    (void)state;
    json_reader_init(&r, text);
    assert_true(json_enter_object(&r));
    while (json_next_member(&r, &key)) {
        if (json_string_equal(key, STR("took")))
            json_read_u64(&r, &took);
        else if (json_string_equal(key, STR("errors")))
            json_read_bool(&r, &errors);
        else if (json_string_equal(key, STR("to")))
            json_read_u64(&r, &to);
        else if (json_string_equal(key, STR("price")))
            json_read_number(&r, &price);
        else if (json_string_equal(key, STR("items")) && json_enter_array(&r))
            while (json_next_element(&r))
                json_read_text(&r, &items);
        else if (json_string_equal(key, STR("n")))
            json_read_null(&r);
    }
    assert_true(json_reader_finish(&r, &err));
    assert_int_equal(took, 30);
    assert_true(errors);
    assert_int_equal(to, 5);
    assert_true(str_equal(price, STR("1.10")));
    assert_string_equal(items.ptr, "ab\n");
    buf_free(&items);
}

static void a_level_can_be_left_early(void **state)
{
    struct json_reader r;
    struct err err = {0};
    struct str key, raw;

    (void)state;
    json_reader_init(&r, STR("[{\"a\":1,\"b\":[1,2]},7]"));
    assert_true(json_enter_array(&r));
    assert_true(json_next_element(&r));
    assert_int_equal(json_peek(&r), JSON_OBJECT);
    assert_true(json_enter_object(&r));
    assert_true(json_next_member(&r, &key));
    assert_true(json_leave(&r));
    assert_true(json_next_element(&r));
    assert_true(json_read_raw(&r, &raw));
    assert_true(str_equal(raw, STR("7")));
    assert_false(json_next_element(&r));
    assert_true(json_reader_finish(&r, &err));
}

static void a_value_of_another_type_ends_the_reading(void **state)
{
    struct json_reader r;
    struct err err = {0};
    uint64_t n = 42;

    (void)state;
    json_reader_init(&r, STR("[\"x\", 1]"));
    assert_true(json_enter_array(&r));
    assert_true(json_next_element(&r));
    assert_false(json_read_u64(&r, &n));
    assert_false(json_reader_ok(&r));
    assert_false(json_next_element(&r));
    assert_false(json_enter_object(&r));
    assert_int_equal(json_peek(&r), JSON_NONE);
    assert_false(json_reader_finish(&r, &err));
    assert_string_equal(err.msg, "not JSON at byte 1: not a number");
    assert_int_equal(n, 42);
}

static void integers_keep_every_digit_or_are_refused(void **state)
{
    static const struct {
        struct str text;
        bool ok;
        uint64_t number;
    } cases[] = {
        {STR("0"), true, 0},
        {STR("9223372036854775808"), true, UINT64_C(1) << 63},
        {STR("18446744073709551615"), true, UINT64_MAX},
        {STR("18446744073709551616"), false, 0},
        {STR("99999999999999999999999"), false, 0},
        {STR("-1"), false, 0},
        {STR("1.0"), false, 0},
        {STR("1e3"), false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json_reader r;
        uint64_t number = 0;

        json_reader_init(&r, cases[i].text);
        assert_int_equal(json_read_u64(&r, &number), cases[i].ok);
        assert_true(number == cases[i].number);
    }
}

static void escapes_mean_their_characters(void **state)
{
    static const struct {
        struct str raw;
        struct str plain;
    } cases[] = {
        {STR(""), STR("")},
        {STR("plain"), STR("plain")},
        {STR("\\\"\\\\\\/\\b\\f\\n\\r\\t"), STR("\"\\/\b\f\n\r\t")},
        {STR("a\\u0000b"), STR("a\0b")},
        {STR("\\u00e9\\u4E2d"), STR("\xc3\xa9\xe4\xb8\xad")},
        {STR("\\ud83d\\ude00!"), STR("\xf0\x9f\x98\x80!")},
        {STR("\\ud83d"), STR(UTF8_REPLACEMENT)},
        {STR("\\ude00x"), STR(UTF8_REPLACEMENT "x")},
        {STR("\\ud83d\\n"), STR(UTF8_REPLACEMENT "\n")},
        {STR("\\ud83d\\u0041"), STR(UTF8_REPLACEMENT "A")},
        {STR("\\ud83d\\ud83d\\ude00"), STR(UTF8_REPLACEMENT "\xf0\x9f\x98\x80")},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_append(&b, STR(""));
        json_unescape(&b, cases[i].raw);
        assert_true(str_equal(buf_str(&b), cases[i].plain));
        assert_true(json_string_equal(cases[i].raw, cases[i].plain));
        assert_false(json_string_equal(cases[i].raw, STR("other")));
        buf_free(&b);
    }
    assert_false(json_string_equal(STR("\\n"), STR("\\n")));
    assert_false(json_string_equal(STR("abc"), STR("ab")));
}

static void pointers_find_values(void **state)
{
    struct str text =
        STR("{\"version\":{\"number\":\"2.19\\u0035\",\"n\":7},\"a/b\":{\"c~d\":true},"
            "\"list\":[10,[20,\"x\"]],\"\":1}");
    struct str raw;
    struct buf b = {0};
    uint64_t n = 0;
    bool flag = false;

    (void)state;
    assert_true(json_find_text(text, "/version/number", &b));
    assert_string_equal(b.ptr, "2.195");
    assert_true(json_find_u64(text, "/version/n", &n));
    assert_int_equal(n, 7);
    assert_true(json_find_bool(text, "/a~1b/c~0d", &flag));
    assert_true(flag);
    assert_true(json_find(text, "/list/1", &raw));
    assert_true(str_equal(raw, STR("[20,\"x\"]")));
    assert_true(json_find(text, "/list/1/1", &raw));
    assert_true(str_equal(raw, STR("\"x\"")));
    assert_true(json_find(text, "/", &raw));
    assert_true(str_equal(raw, STR("1")));
    assert_true(json_find(text, "", &raw));
    assert_true(str_equal(raw, text));
    assert_false(json_find(text, "/version/missing", &raw));
    assert_false(json_find(text, "/list/2", &raw));
    assert_false(json_find(text, "/list/x", &raw));
    assert_false(json_find(text, "/list/0/0", &raw));
    assert_false(json_find(text, "version", &raw));
    assert_false(json_find_u64(text, "/version/number", &n));
    assert_false(json_find(STR("{\"a\":"), "/b", &raw));
    buf_free(&b);
}

static void what_is_written_can_be_read(void **state)
{
    struct buf b = {0}, back = {0};
    struct str bytes = STR("\0\x01\x1f\"\\/\x7f\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80 text");
    struct json_writer w = {.out = &b};

    (void)state;
    json_open_array(&w);
    json_write_string(&w, bytes);
    json_close_array(&w);
    assert_true(json_find_text(buf_str(&b), "/0", &back));
    assert_true(str_equal(buf_str(&back), bytes));
    buf_free(&b);
    buf_free(&back);
}

static void elements_of_an_array_are_counted(void **state)
{
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {{"[]", 0},   {" [ ] ", 0}, {"[1]", 1}, {"[[1,2],{\"a\":[3]},\",\"]", 3},
                 {"[1,2", 2}, {"{}", 0},    {"7", 0},   {"", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(json_count_elements(str_from(cases[i].text)), cases[i].n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_writer_puts_commas_only_between_values),
        cmocka_unit_test(valid_texts_are_accepted),
        cmocka_unit_test(faults_are_refused_with_their_place),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(members_are_read_by_name_and_the_rest_is_skipped),
        cmocka_unit_test(a_level_can_be_left_early),
        cmocka_unit_test(a_value_of_another_type_ends_the_reading),
        cmocka_unit_test(integers_keep_every_digit_or_are_refused),
        cmocka_unit_test(escapes_mean_their_characters),
        cmocka_unit_test(pointers_find_values),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(elements_of_an_array_are_counted),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
