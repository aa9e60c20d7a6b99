#include "config.h"

#include "tests/unit/unit.h"

#include "src/cli/view/render.h"
#include "src/cli/view/screen.h"

static const struct render_style plain = {0};

static void assert_table(const char *items, const struct render_column *columns, size_t n,
                         const char *expected)
{
    struct buf out = {0};

    render_table(&out, plain, str_from(items), columns, n);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void columns_are_aligned_and_numbers_stand_on_the_right(void **state)
{
    static const struct render_column columns[] = {
        {"NAME", "/name", RENDER_TEXT},     {"ROWS", "/rows", RENDER_COUNT},
        {"SIZE", "/at/size", RENDER_BYTES}, {"LAG", "/lag", RENDER_SECONDS},
        {"NEW", "/new", RENDER_YES},
    };

    (void)state;
    assert_table(
        "[{\"name\":\"a\",\"rows\":5,\"at\":{\"size\":2048},\"lag\":0.44,\"new\":true},"
        "{\"name\":\"long name\",\"rows\":1234567,\"lag\":932,\"new\":false},"
        "{\"rows\":null,\"name\":null}]",
        columns, ARRAY_LEN(columns),
        "NAME            ROWS     SIZE          LAG  NEW\n"
        "a                  5  2.0 KiB        0.4 s  yes\n"
        "long name  1,234,567           15 min 32 s\n"
        "\n");
}

static void an_id_is_short_and_a_list_has_commas(void **state)
{
    static const struct render_column columns[] = {{"ID", "/id", RENDER_SHORT},
                                                   {"TOPICS", "/topics", RENDER_LIST},
                                                   {"END", "/end", RENDER_TEXT}};

    (void)state;
    assert_table(
        "[{\"id\":\"1d0c8f2a-33\",\"topics\":[\"a\",\"b\\n\"],\"end\":\"x\"},"
        "{\"id\":\"7e51\",\"topics\":[],\"end\":\"y\"},{\"topics\":[1],\"end\":\"z\"}]",
        columns, ARRAY_LEN(columns),
        "ID        TOPICS  END\n"
        "1d0c8f2a  a, b    x\n"
        "7e51              y\n"
        "                  z\n");
}

static void wide_and_combining_characters_keep_the_columns_straight(void **state)
{
    static const struct render_column columns[] = {{"A", "/a", RENDER_TEXT},
                                                   {"B", "/b", RENDER_TEXT}};

    (void)state;
    assert_int_equal(screen_width(STR("表格")), 4);
    assert_int_equal(screen_width(STR("e\xcc\x81")), 1);
    assert_int_equal(screen_width(STR("\033[31mred\033[0m")), 3);
    assert_int_equal(screen_width(STR("\xff\xfe")), 2);
    assert_table("[{\"a\":\"表格\",\"b\":\"x\"},{\"a\":\"ab\",\"b\":\"y\"}]", columns, 2,
                 "A     B\n表格  x\nab    y\n");
}

static void what_could_steer_a_terminal_is_shown_and_not_sent(void **state)
{
    struct buf out = {0};

    (void)state;
    screen_safe(&out, STR("a\033]0;x\007\nb\xff\xc2\x9b"));
    assert_string_equal(out.ptr, "a<U+001B>]0;x<U+0007> b\xef\xbf\xbd<U+009B>");
    buf_free(&out);
}

static void a_state_has_a_mark_where_the_terminal_takes_it(void **state)
{
    struct buf out = {0};

    (void)state;
    render_value(&out, (struct render_style){.marks = true}, STR("{\"s\":\"running\"}"), "/s",
                 RENDER_STATE);
    assert_string_equal(out.ptr, "● running");
    buf_clear(&out);
    render_value(&out, (struct render_style){.colour = true}, STR("{\"s\":\"fail\"}"), "/s",
                 RENDER_STATE);
    assert_string_equal(out.ptr, "\033[31mfail\033[0m");
    buf_clear(&out);
    render_value(&out, plain, STR("{\"s\":\"odd\"}"), "/s", RENDER_STATE);
    assert_string_equal(out.ptr, "odd");
    buf_free(&out);
}

static void numbers_keep_their_digits(void **state)
{
    struct buf out = {0};

    (void)state;
    render_value(&out, plain, STR("{\"n\":18446744073709551615}"), "/n", RENDER_COUNT);
    assert_string_equal(out.ptr, "18,446,744,073,709,551,615");
    buf_clear(&out);
    render_value(&out, plain, STR("{\"n\":9007199254740993}"), "/n", RENDER_TEXT);
    assert_string_equal(out.ptr, "9007199254740993");
    buf_clear(&out);
    render_value(&out, plain, STR("{\"n\":-5}"), "/n", RENDER_COUNT);
    render_value(&out, plain, STR("{\"n\":1e400}"), "/n", RENDER_SECONDS);
    assert_string_equal(out.ptr, "0-");
    buf_free(&out);
}

static void a_lag_that_is_a_bound_or_not_known_looks_so(void **state)
{
    static const struct render_column columns[] = {{"LAG", "/lag_seconds", RENDER_LAG}};

    (void)state;
    assert_table(
        "[{\"lag_seconds\":7,\"lag_at_most\":true},{\"lag_seconds\":7,\"lag_at_most\":false},"
        "{\"lag_seconds\":null,\"lag_at_most\":false}]",
        columns, ARRAY_LEN(columns), "     LAG\n<= 7.0 s\n   7.0 s\n unknown\n");
}

static void json_becomes_yaml_that_means_the_same(void **state)
{
    struct buf out = {0};

    (void)state;
    render_yaml(&out,
                STR("{\"a\":1.50,\"b\":[],\"c\":{},\"d\":[{\"x\":null,\"y\":\"no\"},[1,2],"
                    "\"plain\"],\"e\":\"two\\nlines \\ud83d\\ude00\",\"f: g\":true,"
                    "\"n\":9007199254740993,\"s\":\"12\",\"t\":\"a b\"}"));
    assert_string_equal(out.ptr, "a: 1.50\n"
                                 "b: []\n"
                                 "c: {}\n"
                                 "d:\n"
                                 "  - x: null\n"
                                 "    \"y\": \"no\"\n"
                                 "  - - 1\n"
                                 "    - 2\n"
                                 "  - plain\n"
                                 "e: \"two\\nlines 😀\"\n"
                                 "\"f: g\": true\n"
                                 "\"n\": 9007199254740993\n"
                                 "s: \"12\"\n"
                                 "t: \"a b\"\n");
    buf_free(&out);
}

static void a_broken_answer_does_no_harm(void **state)
{
    static const char *const broken[] = {
        "", "{", "[", "[{\"a\":", "nul", "\"", "[1,{\"a\":\"\\u12"};
    static const struct render_column columns[] = {{"A", "/a", RENDER_COUNT}};
    struct buf out = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        render_yaml(&out, str_from(broken[i]));
        render_table(&out, plain, str_from(broken[i]), columns, 1);
        render_value(&out, plain, str_from(broken[i]), "/a", RENDER_TEXT);
    }
    buf_free(&out);
}

static void a_long_text_does_not_push_the_table_apart(void **state)
{
    static const struct render_column columns[] = {{"ID", "/id", RENDER_START},
                                                   {"N", "/n", RENDER_TEXT}};
    struct buf items = {0}, expected = {0};

    (void)state;
    buf_append(&items, STR("[{\"n\":1,\"id\":\""));
    for (int i = 0; i < 61; i++)
        buf_append(&items, STR("ü"));
    buf_append(&items, STR("\"},{\"n\":2,\"id\":\"short\"}]"));
    buf_printf(&expected, "%-63s  N\n", "ID");
    for (int i = 0; i < 60; i++)
        buf_append(&expected, STR("ü"));
    buf_printf(&expected, "...  1\n%-63s  2\n", "short");
    assert_table(items.ptr, columns, ARRAY_LEN(columns), expected.ptr);
    buf_free(&items);
    buf_free(&expected);
}

static void a_cell_has_the_first_of_its_values_that_is_there(void **state)
{
    static const struct render_column columns[] = {{"NAME", "/a|/b", RENDER_TEXT}};

    (void)state;
    assert_table("[{\"a\":\"x\",\"b\":\"y\"},{\"b\":\"y\"},{\"c\":\"z\"}]", columns, 1,
                 "NAME\nx\ny\n\n");
}

static void a_line_leaves_out_what_has_no_value(void **state)
{
    static const struct render_part parts[] = {
        {"Queue: ", "/queued", RENDER_COUNT, " queued"},
        {", ", "/held", RENDER_BYTES, " held"},
        {", at ", "/place", RENDER_TEXT, NULL},
    };
    struct buf out = {0};

    (void)state;
    render_line(&out, STR("{\"queued\":311,\"held\":null,\"place\":\"db1\"}"), parts,
                ARRAY_LEN(parts));
    assert_string_equal(out.ptr, "Queue: 311 queued, at db1\n");
    buf_clear(&out);
    render_line(&out, STR("{}"), parts, ARRAY_LEN(parts));
    assert_int_equal(out.len, 0);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned_and_numbers_stand_on_the_right),
        cmocka_unit_test(an_id_is_short_and_a_list_has_commas),
        cmocka_unit_test(wide_and_combining_characters_keep_the_columns_straight),
        cmocka_unit_test(what_could_steer_a_terminal_is_shown_and_not_sent),
        cmocka_unit_test(a_state_has_a_mark_where_the_terminal_takes_it),
        cmocka_unit_test(a_long_text_does_not_push_the_table_apart),
        cmocka_unit_test(a_cell_has_the_first_of_its_values_that_is_there),
        cmocka_unit_test(numbers_keep_their_digits),
        cmocka_unit_test(a_lag_that_is_a_bound_or_not_known_looks_so),
        cmocka_unit_test(json_becomes_yaml_that_means_the_same),
        cmocka_unit_test(a_broken_answer_does_no_harm),
        cmocka_unit_test(a_line_leaves_out_what_has_no_value),
    };
    return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
