#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/bytes.h"
#include "src/base/random.h"
#include "src/base/utf8.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char bytes[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xff};

static void little_endian_starts_with_the_lowest_byte(void **state)
{
    (void)state;
    assert_int_equal(load_u8(bytes), 0x01);
    assert_int_equal(load_le16(bytes), 0x2301);
    assert_int_equal(load_le24(bytes), 0x452301);
    assert_int_equal(load_le32(bytes + 1), 0x89674523);
    assert_int_equal(load_le48(bytes), UINT64_C(0xab8967452301));
    assert_int_equal(load_le64(bytes), UINT64_C(0xefcdab8967452301));
    assert_int_equal(load_le(bytes, 0), 0);
    assert_int_equal(load_le(bytes, 5), UINT64_C(0x8967452301));
    assert_int_equal(load_le(bytes, 8), load_le64(bytes));
}

static void big_endian_starts_with_the_highest_byte(void **state)
{
    (void)state;
    assert_int_equal(load_be16(bytes), 0x0123);
    assert_int_equal(load_be24(bytes), 0x012345);
    assert_int_equal(load_be32(bytes), 0x01234567);
    assert_int_equal(load_be40(bytes), UINT64_C(0x0123456789));
    assert_int_equal(load_be64(bytes), UINT64_C(0x0123456789abcdef));
    assert_int_equal(load_be(bytes, 8), load_be64(bytes));
}

static void what_is_stored_is_loaded_again(void **state)
{
    unsigned char out[8];

    (void)state;
    store_le16(out, 0xfe01);
    assert_int_equal(out[0], 0x01);
    assert_int_equal(load_le16(out), 0xfe01);
    store_le32(out, 0xfe010203);
    assert_int_equal(out[0], 0x03);
    assert_int_equal(load_le32(out), 0xfe010203);
    store_le64(out, UINT64_C(0xfe01020304050607));
    assert_int_equal(out[0], 0x07);
    assert_int_equal(load_le64(out), UINT64_C(0xfe01020304050607));
}

static void floats_are_ieee_754(void **state)
{
    (void)state;
    assert_true(load_float_le("\x00\x00\xc0\x3f") == 1.5f);
    assert_true(load_double_le("\x00\x00\x00\x00\x00\x00\xf8\xbf") == -1.5);
}

static void only_well_formed_characters_are_utf8(void **state)
{
    static const struct {
        struct str s;
        size_t char_len; /* 0: none */
        size_t bad_len;
    } cases[] = {
        {STR("a"), 1, 0},
        {STR("\0"), 1, 0},
        {STR("\xc2\x80"), 2, 0},
        {STR("\xc1\xbf"), 0, 1}, /* overlong */
        {STR("\xe0\xa0\x80"), 3, 0},
        {STR("\xe0\x9f\xbf"), 0, 1}, /* overlong */
        {STR("\xed\x9f\xbf"), 3, 0},
        {STR("\xed\xa0\x80"), 0, 1}, /* surrogate */
        {STR("\xee\x80\x80"), 3, 0},
        {STR("\xf0\x90\x80\x80"), 4, 0},
        {STR("\xf0\x8f\xbf\xbf"), 0, 1}, /* overlong */
        {STR("\xf4\x8f\xbf\xbf"), 4, 0},
        {STR("\xf4\x90\x80\x80"), 0, 1}, /* above U+10FFFF */
        {STR("\xf5\x80\x80\x80"), 0, 1},
        {STR("\x80"), 0, 1},
        {STR("\xe4\xb8"), 0, 2}, /* cut off */
        {STR("\xe4\xb8z"), 0, 2},
        {STR("\xf0\x9f\x98"), 0, 3},
        {STR("\xff"), 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(utf8_char_len(cases[i].s), cases[i].char_len);
        assert_int_equal(utf8_valid(cases[i].s), cases[i].char_len > 0);
        if (cases[i].char_len == 0)
            assert_int_equal(utf8_bad_len(cases[i].s), cases[i].bad_len);
    }
    assert_true(utf8_valid(STR("")));
    assert_true(
        utf8_valid(STR("plain text, then \xe4\xb8\xad\xe6\x96\x87 and more plain text")));
    assert_false(utf8_valid(STR("plain text, then \xe4\xb8\xad\xe6\x96 and more plain text")));
}

/* The definition, one character at a time. */
static bool is_utf8(struct str s)
{
    for (size_t i = 0; i < s.len;) {
        const size_t n = utf8_char_len((struct str){s.ptr + i, s.len - i});

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* Appends a character; it has each length as often. */
static size_t put_any(struct random *r, char *out)
{
    static const uint32_t ends[] = {0, 0x80, 0x800, 0x10000, 0x110000};
    const size_t kind = random_below(r, 4);
    const uint32_t cp = ends[kind] + (uint32_t)random_below(r, ends[kind + 1] - ends[kind]);

    return utf8_encode(out, cp >= 0xd800 && cp < 0xe000 ? 0xe000 : cp);
}

/* Text of up to 70 bytes, mostly ASCII, often with one byte that is next to a limit. */
static size_t put_text(struct random *r, char *out)
{
    static const uint8_t limits[] = {0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                     0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
                                     0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    const size_t want = random_below(r, 67);
    size_t n = 0;

    while (n < want)
        n += random_below(r, 3) > 0 ? utf8_encode(out + n, 'a') : put_any(r, out + n);
    if (n > 0 && random_below(r, 2) == 0)
        out[random_below(r, n)] = (char)limits[random_below(r, sizeof(limits))];
    if (n > 2 && random_below(r, 4) == 0)
        n -= random_below(r, 3);
    return n;
}

static void utf8_of_every_length_is_told_from_other_bytes(void **state)
{
    size_t n_valid = 0;
    struct random r;

    (void)state;
    random_init(&r, 41);
    for (int i = 0; i < 300000; i++) {
        char text[80];
        const size_t n = put_text(&r, text);
        /* On the heap, so that a sanitizer sees a read behind the end. */
        char *copy = malloc(n + 1);
        const struct str s = {memcpy(copy, text, n), n};

        assert_int_equal(utf8_valid(s), is_utf8(s));
        n_valid += is_utf8(s);
        free(copy);
    }
    assert_in_range(n_valid, 100000, 200000);
}

/* One character at a time. */
static size_t literal_len(struct str s)
{
    size_t i = 0;

    while (i < s.len && (unsigned char)s.ptr[i] >= ' ' && s.ptr[i] != '"' && s.ptr[i] != '\\') {
        const size_t n = utf8_char_len((struct str){s.ptr + i, s.len - i});

        if (n == 0)
            break;
        i += n;
    }
    return i;
}

/* Each text is a block of its own, so that a sanitizer sees what is read behind the end. */
static void a_literal_of_json_ends_before_each_byte_that_ends_it(void **state)
{
    struct random r;

    (void)state;
    random_init(&r, 9);
    for (size_t len = 1; len <= 70; len++)
        for (size_t at = 0; at < len; at++)
            for (unsigned byte = 0; byte < 256; byte++) {
                char *text = malloc(len);
                const struct str s = {text, len};

                memset(text, 'x', len);
                text[at] = (char)byte;
                if (at > 4 && byte % 4 == 0)
                    memcpy(text + random_below(&r, at - 2), "\xe4\xb8\xad", 3);
                assert_int_equal(utf8_literal_len(s), literal_len(s));
                free(text);
            }
}

static void every_code_point_survives_encoding(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        char out[4];

        if (cp == 0xd800)
            cp = 0xe000;

        size_t n = utf8_encode(out, cp);

        assert_int_equal(utf8_char_len((struct str){out, n}), n);
        assert_int_equal(n, cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian_starts_with_the_lowest_byte),
        cmocka_unit_test(big_endian_starts_with_the_highest_byte),
        cmocka_unit_test(what_is_stored_is_loaded_again),
        cmocka_unit_test(floats_are_ieee_754),
        cmocka_unit_test(only_well_formed_characters_are_utf8),
        cmocka_unit_test(utf8_of_every_length_is_told_from_other_bytes),
        cmocka_unit_test(a_literal_of_json_ends_before_each_byte_that_ends_it),
        cmocka_unit_test(every_code_point_survives_encoding),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
