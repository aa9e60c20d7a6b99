#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "sync/value/charset.h"

#include <stdlib.h>

struct fixture {
    struct arena *a;
    struct charset_converter *c;
};

static int set_up(void **state)
{
    struct fixture *f = mem_alloc(1, sizeof(*f));

    f->a = arena_new();
    f->c = charset_converter_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_free(f->a);
    charset_converter_free(f->c);
    free(f);
    return 0;
}

static void bytes_of_each_set_become_utf8(void **state)
{
    static const struct {
        struct str charset, in, out;
    } cases[] = {
        {STR("latin1"), STR("caf\xe9 \x80 \x81"), STR("café € \xc2\x81")},
        {STR("latin2"), STR("\xb1"), STR("ą")},
        {STR("utf8mb4"), STR("日本語 😀"), STR("日本語 😀")},
        {STR("UTF8"), STR("é"), STR("é")},
        {STR("utf8mb3"), STR("é"), STR("é")},
        {STR("ascii"), STR("plain"), STR("plain")},
        {STR("cp1251"), STR("\xcf\xf0\xe8"), STR("При")},
        {STR("koi8r"), STR("\xf0\xd2"), STR("Пр")},
        {STR("swe7"), STR("[\\]{|}@"), STR("ÄÖÅäöåÉ")},
        {STR("gbk"), STR("\xc4\xe3\xba\xc3"), STR("你好")},
        {STR("gb2312"), STR("\xc4\xe3"), STR("你")},
        {STR("gb18030"), STR("\x94\x39\xda\x33 \x81\x30\x81\x30 \xc4\xe3"),
         STR("💩 \xc2\x80 你")},
        {STR("gb18030"), STR("\x82\x35\x90\x37"), STR("\xe9\xbe\xb4")},
        {STR("big5"), STR("\xa7\x41\xc6\xe7"), STR("你ゃ")},
        {STR("sjis"), STR("\x93\xfa\x5c\xb1\x81\x60"), STR("日\\ｱ〜")},
        {STR("cp932"), STR("\x93\xfa\x81\x60\x87\x40"), STR("日～①")},
        {STR("ujis"), STR("\xc6\xfc\x8e\xb1\x8f\xb0\xa1"), STR("日ｱ丂")},
        {STR("eucjpms"), STR("\xc6\xfc\xad\xa1"), STR("日①")},
        {STR("euckr"), STR("\xc7\xd1"), STR("한")},
        {STR("ucs2"), STR("\x00\x61\x65\xe5"), STR("a日")},
        {STR("utf16"), STR("\xd8\x3d\xde\x00\x00\x61"), STR("😀a")},
        {STR("utf16le"), STR("\x3d\xd8\x00\xde"), STR("😀")},
        {STR("utf32"), STR("\x00\x01\xf6\x00\x00\x00\x00\x61"), STR("😀a")},
        {STR("latin1"), STR(""), STR("")},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct charset *cs = charset_find(cases[i].charset);
        struct str out;

        assert_non_null(cs);
        assert_true(charset_to_utf8(f->c, cs, cases[i].in, f->a, &out));
        if (!str_equal(out, cases[i].out))
            fail_msg("%.*s gives %.*s", STR_ARG(cases[i].charset), STR_ARG(out));
    }
}

static void invalid_bytes_are_refused_and_not_replaced(void **state)
{
    static const struct {
        struct str charset, in;
    } cases[] = {
        {STR("utf8mb4"), STR("a\xff")},
        {STR("utf8mb4"), STR("\xc0\x80")},
        {STR("utf8mb4"), STR("\xed\xa0\x80")},
        {STR("utf8mb4"), STR("\xf4\x90\x80\x80")},
        {STR("utf8mb4"), STR("\xe2\x82")},
        {STR("utf8mb4"), STR("0123456\xc3")},
        {STR("ascii"), STR("\x80")},
        {STR("cp1250"), STR("\x81")},
        {STR("gbk"), STR("\xc4")},
        {STR("gbk"), STR("\x80")},
        {STR("gb18030"), STR("\x81\x30\x81")},
        {STR("sjis"), STR("\x93")},
        {STR("ujis"), STR("\x8f\xb0")},
        {STR("ujis"), STR("\x8f\x41\x41")},
        {STR("ucs2"), STR("\x00")},
        {STR("ucs2"), STR("\xd8\x00\x00\x61")},
        {STR("utf16"), STR("\xd8\x3d")},
        {STR("utf16"), STR("\xdc\x00\x00\x61")},
        {STR("utf16"), STR("\xd8\x3d\x00\x61")},
        {STR("utf32"), STR("\x00\x11\x00\x00")},
        {STR("utf32"), STR("\x00\x00\x00")},
        {STR("utf32"), STR("\x00\x00\xd8\x00")},
        {STR("swe7"), STR("\x80")},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str out;

        if (charset_to_utf8(f->c, charset_find(cases[i].charset), cases[i].in, f->a, &out))
            fail_msg("case %zu: %.*s", i, STR_ARG(cases[i].charset));
    }
}

static void long_text_is_converted_like_short_text(void **state)
{
    struct fixture *f = *state;
    char in[10000];
    struct str out;

    memset(in, 0xe9, sizeof(in));
    assert_true(charset_to_utf8(f->c, charset_find(STR("latin1")), (struct str){in, sizeof(in)},
                                f->a, &out));
    assert_int_equal(out.len, 2 * sizeof(in));
    assert_memory_equal(out.ptr + out.len - 2, "é", 2);
}

static void collations_of_both_vendors_have_their_set(void **state)
{
    static const struct {
        uint32_t id;
        const char *name;
    } cases[] = {
        {8, "latin1"},     {33, "utf8mb3"},   {45, "utf8mb4"},   {63, "binary"},
        {255, "utf8mb4"},  {309, "utf8mb4"},  {323, "utf8mb4"},  {248, "gb18030"},
        {576, "utf8mb3"},  {608, "utf8mb4"},  {1069, "utf8mb4"}, {1032, "latin1"},
        {1270, "utf8mb4"}, {2048, "utf8mb3"}, {2304, "utf8mb4"}, {2560, "ucs2"},
        {2816, "utf16"},   {3072, "utf32"},   {3327, "utf32"},   {1206, "utf32"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct charset *cs = charset_of_collation(cases[i].id);

        assert_non_null(cs);
        assert_true(str_equal(charset_name(cs), str_from(cases[i].name)));
    }
    assert_null(charset_of_collation(0));
    assert_null(charset_of_collation(17));
    assert_null(charset_of_collation(3328));
    assert_null(charset_of_collation(UINT32_MAX));
    assert_null(charset_find(STR("klingon")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_of_each_set_become_utf8, set_up, tear_down),
        cmocka_unit_test_setup_teardown(invalid_bytes_are_refused_and_not_replaced, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(long_text_is_converted_like_short_text, set_up,
                                        tear_down),
        cmocka_unit_test(collations_of_both_vendors_have_their_set),
    };
    return cmocka_run_group_tests_name("charset", tests, NULL, NULL);
}
