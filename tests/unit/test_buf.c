#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/random.h"
#include "src/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void appends_keep_a_nul_after_the_end(void **state)
{
    struct buf b = {0};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        buf_printf(&b, "%d", i);
        assert_int_equal(b.ptr[b.len], '\0');
        buf_append_char(&b, ',');
        assert_int_equal(b.ptr[b.len], '\0');
    }
    assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4);
    buf_free(&b);
    assert_null(b.ptr);
}

static void nothing_appended_is_an_empty_string(void **state)
{
    struct buf b = {0};

    (void)state;
    buf_append(&b, STR(""));
    assert_string_equal(b.ptr, "");
    buf_free(&b);
}

static void numbers_are_decimal(void **state)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     9,
                                     10,
                                     99,
                                     100,
                                     999,
                                     1000,
                                     9999,
                                     10000,
                                     123456789,
                                     UINT64_MAX / 2,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    struct buf b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(edges); i++) {
        char expected[32];

        buf_clear(&b);
        buf_append_u64(&b, edges[i]);
        snprintf(expected, sizeof(expected), "%" PRIu64, edges[i]);
        assert_string_equal(b.ptr, expected);

        buf_clear(&b);
        buf_append_i64(&b, (int64_t)edges[i]);
        snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)edges[i]);
        assert_string_equal(b.ptr, expected);
    }
    buf_clear(&b);
    buf_append_i64(&b, INT64_MIN);
    assert_string_equal(b.ptr, "-9223372036854775808");
    buf_free(&b);
}

static void hex_and_drop_work_on_bytes(void **state)
{
    struct buf b = {0};

    (void)state;
    buf_append_hex(&b, STR("\x00\xffz"));
    assert_string_equal(b.ptr, "00ff7a");
    buf_drop(&b, 4);
    assert_string_equal(b.ptr, "7a");
    buf_drop(&b, 2);
    assert_string_equal(b.ptr, "");
    buf_free(&b);
}

static void a_shell_takes_what_is_appended_as_one_word(void **state)
{
    static const struct {
        struct str in;
        const char *out;
    } cases[] = {{STR("shop.orders"), "shop.orders"},
                 {STR("shop_[0-9]+\\.orders"), "'shop_[0-9]+\\.orders'"},
                 {STR("a b"), "'a b'"},
                 {STR("it's"), "'it'\\''s'"},
                 {STR(""), "''"},
                 {STR("größe"), "'größe'"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_append_word(&b, cases[i].in);
        assert_string_equal(b.ptr, cases[i].out);
        buf_free(&b);
    }
}

static void json_strings_are_escaped(void **state)
{
    static const struct {
        struct str in;
        const char *out;
    } cases[] = {
        {STR(""), "\"\""},
        {STR("plain"), "\"plain\""},
        {STR("a longer plain text without anything"),
         "\"a longer plain text without anything\""},
        {STR("a\"b\\c"), "\"a\\\"b\\\\c\""},
        {STR("\n\t\r\b\f"), "\"\\n\\t\\r\\b\\f\""},
        {STR("nul\0byte"), "\"nul\\u0000byte\""},
        {STR("\x1f"), "\"\\u001f\""},
        {STR("\x7f"), "\"\x7f\""},
        {STR("caf\xc3\xa9"), "\"caf\xc3\xa9\""},
        {STR("\xe4\xb8\xad\xe6\x96\x87\n\xf0\x9f\x98\x80"),
         "\"\xe4\xb8\xad\xe6\x96\x87\\n\xf0\x9f\x98\x80\""},
        {STR("12345678\"12345678\\1234567"), "\"12345678\\\"12345678\\\\1234567\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_append_json(&b, cases[i].in);
        assert_string_equal(b.ptr, cases[i].out);
        buf_free(&b);
    }
}

static void bytes_that_are_no_utf8_become_replacement_characters(void **state)
{
    static const struct {
        struct str in;
        const char *out;
    } cases[] = {
        {STR("\xff"), "\"" UTF8_REPLACEMENT "\""},
        {STR("a\xffz"), "\"a" UTF8_REPLACEMENT "z\""},
        {STR("cut \xe4\xb8"), "\"cut " UTF8_REPLACEMENT "\""},
        {STR("\xed\xa0\x80"), "\"" UTF8_REPLACEMENT UTF8_REPLACEMENT UTF8_REPLACEMENT "\""},
        {STR("\xc0\xaf"), "\"" UTF8_REPLACEMENT UTF8_REPLACEMENT "\""},
        {STR("\xe4\xb8\""), "\"" UTF8_REPLACEMENT "\\\"\""},
        {STR("\xf0\x9f\x98\n"), "\"" UTF8_REPLACEMENT "\\n\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_append_json(&b, cases[i].in);
        assert_string_equal(b.ptr, cases[i].out);
        buf_free(&b);
    }
}

/* The definition, one character at a time. */
static void append_json_slowly(struct buf *b, struct str s)
{
    buf_append(b, STR("\""));
    for (size_t i = 0; i < s.len;) {
        unsigned char c = (unsigned char)s.ptr[i];
        size_t n = utf8_char_len((struct str){s.ptr + i, s.len - i});

        if (n == 0) {
            buf_append(b, STR(UTF8_REPLACEMENT));
            i += utf8_bad_len((struct str){s.ptr + i, s.len - i});
            continue;
        }
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c < 0x20 && strchr("\b\f\n\r\t", c) != NULL && c != 0)
            buf_printf(b, "\\%c", "btn-fr"[c - 8]);
        else if (c < 0x20)
            buf_printf(b, "\\u%04x", c);
        else
            buf_append(b, (struct str){s.ptr + i, n});
        i += n;
    }
    buf_append(b, STR("\""));
}

static void random_bytes_are_escaped_as_by_the_definition(void **state)
{
    static const char alphabet[] =
        "abcdefgh\"\\\n\x01\x7f\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\xff";
    struct buf fast = {0}, slow = {0};
    struct random r;

    (void)state;
    random_init(&r, 23);
    for (int step = 0; step < 20000; step++) {
        char text[200];
        size_t len = random_below(&r, sizeof(text) + 1);
        size_t n_kinds = 1 + random_below(&r, sizeof(alphabet) - 1);

        for (size_t i = 0; i < len; i++)
            text[i] = alphabet[random_below(&r, n_kinds)];
        buf_clear(&fast);
        buf_clear(&slow);
        buf_append_json(&fast, (struct str){text, len});
        append_json_slowly(&slow, (struct str){text, len});
        assert_true(str_equal(buf_str(&fast), buf_str(&slow)));
        assert_true(utf8_valid(buf_str(&fast)));
    }
    buf_free(&fast);
    buf_free(&slow);
}

/* Long texts are copied sixteen bytes at a time, and escapes begin anew. */
static void each_byte_is_escaped_alike_at_each_place_of_a_long_text(void **state)
{
    struct buf fast = {0}, slow = {0};
    char text[150];

    (void)state;
    for (size_t at = 0; at < sizeof(text); at++)
        for (int byte = 0; byte < 256; byte++) {
            memset(text, 'x', sizeof(text));
            text[at] = (char)byte;
            text[sizeof(text) - 1 - at / 2] = (char)(byte % 3 == 0 ? '"' : '~');
            buf_clear(&fast);
            buf_clear(&slow);
            buf_append_json(&fast, (struct str){text, sizeof(text) - at % 17});
            append_json_slowly(&slow, (struct str){text, sizeof(text) - at % 17});
            assert_true(str_equal(buf_str(&fast), buf_str(&slow)));
        }
    buf_free(&fast);
    buf_free(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_keep_a_nul_after_the_end),
        cmocka_unit_test(nothing_appended_is_an_empty_string),
        cmocka_unit_test(numbers_are_decimal),
        cmocka_unit_test(hex_and_drop_work_on_bytes),
        cmocka_unit_test(a_shell_takes_what_is_appended_as_one_word),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(bytes_that_are_no_utf8_become_replacement_characters),
        cmocka_unit_test(each_byte_is_escaped_alike_at_each_place_of_a_long_text),
        cmocka_unit_test(random_bytes_are_escaped_as_by_the_definition),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
