#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/yaml_read.h"

#include <stdio.h>
#include <stdlib.h>

static struct arena *arena;
static struct problems *problems;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    problems = problems_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    problems_free(problems);
    return 0;
}

static void assert_json(struct str yaml, const char *json)
{
    struct yaml_node *tree = yaml_read(arena, "f", yaml, problems);
    struct buf b = {0};

    assert_non_null(tree);
    yaml_append_json(&b, tree, false);
    assert_string_equal(b.ptr, json);
    buf_free(&b);
}

static void yaml_becomes_a_tree(void **state)
{
    (void)state;
    assert_json(STR("a: 1\nb: [x, 'y', \"z\"]\nc: {d: e}\n"),
                "{\"a\":1,\"b\":[\"x\",\"y\",\"z\"],\"c\":{\"d\":\"e\"}}");
    assert_json(STR("{\"a\": [1.50, -0, 1e5, true, null, \"\\u00e9\\n\"]}"),
                "{\"a\":[1.50,-0,1e5,true,null,\"\xc3\xa9\\n\"]}");
    assert_json(STR("- a\n-\n  - b\n- |\n  x\n  y\n"), "[\"a\",[\"b\"],\"x\\ny\\n\"]");
    assert_json(STR(""), "{}");
    assert_json(STR("# nothing\n"), "{}");
    assert_json(STR("\xef\xbb\xbf"
                    "a: 1\r\nb: 2\r\n"),
                "{\"a\":1,\"b\":2}");
    assert_json(STR("plain"), "\"plain\"");
    assert_json(STR("a:\nb: {c, d: }\n"), "{\"a\":null,\"b\":{\"c\":null,\"d\":null}}");
}

static void quoted_texts_lose_nothing(void **state)
{
    (void)state;
    assert_json(STR("[\"a 'b'\", 'it''s', '''', '''''', 'x = ''''', 'a '''''''''' b', '']"),
                "[\"a 'b'\",\"it's\",\"'\",\"''\",\"x = ''\",\"a ''''' b\",\"\"]");
    assert_json(STR("['a \n  b', 'a\r\n\r\n  b ', ' \n\n\n ', \"a\n  b \\\\\"]"),
                "[\"a b\",\"a\\nb \",\"\\n\\n\",\"a b \\\\\"]");
}

static void plain_texts_mean_what_they_mean_in_json(void **state)
{
    (void)state;
    assert_json(
        STR("[yes, on, No, 007, 0x1F, +5, 1_000, .5, 5., .inf, 12:30, 2024-01-01, True, ~]"),
        "[\"yes\",\"on\",\"No\",\"007\",\"0x1F\",\"+5\",\"1_000\",\".5\",\"5.\",\".inf\","
        "\"12:30\",\"2024-01-01\",true,null]");
    assert_json(STR("['1', \"true\", 'null', 18446744073709551615, 0.10000000000000000001]"),
                "[\"1\",\"true\",\"null\",18446744073709551615,0.10000000000000000001]");
}

static void nodes_know_their_places(void **state)
{
    struct yaml_node *tree =
        yaml_read(arena, "f", STR("a: 1\n\xc3\xa4: {b: [x,\n  y]}\nc:\n  - d: e\n"), problems);

    (void)state;
    assert_non_null(tree);

    struct yaml_node *list = yaml_find(yaml_find(tree, STR("\xc3\xa4")), STR("b"));
    struct yaml_node *item = yaml_find(tree, STR("c"))->items[0];

    assert_int_equal(tree->names[1]->place.line, 2);
    assert_int_equal(list->place.line, 2);
    assert_int_equal(list->place.column, 8);
    assert_int_equal(list->items[1]->place.line, 3);
    assert_int_equal(list->items[1]->place.column, 3);
    assert_int_equal(item->place.line, 5);
    assert_int_equal(item->place.column, 5);
    assert_string_equal(item->place.file, "f");
}

static void bad_yaml_is_refused_with_its_place(void **state)
{
    static const struct {
        struct str yaml;
        unsigned line, column;
        const char *message;
    } cases[] = {
        {STR("a:\n\tb: 1\n"), 2, 1, "a tab in the indentation"},
        {STR("a:\n  b: 1\n\tc: 2\n"), 3, 1, "a tab in the indentation"},
        {STR("a: 1\nb: 2\na: 3\n"), 3, 1, "`a` is given twice, first in line 1"},
        {STR("a: &x 1\n"), 1, 5, "anchors"},
        {STR("a: 1\nb: *x\n"), 2, 5, "aliases"},
        {STR("a: !t 1\n"), 1, 4, "tags"},
        {STR("a: \"x\n"), 1, 5, "closing quote"},
        {STR("a: b: c\n"), 1, 5, "nested block mapping"},
        {STR("a: @x\n"), 1, 4, "plain scalar"},
        {STR("a: \"x\\\n\n y\"\n"), 1, 4, "end in a backslash"},
        {STR("a: 1\n---\nb: 2\n"), 2, 1, "a second document"},
        {STR("[a]: 1\n"), 1, 1, "a name must be a text"},
        {STR("? {a: b}\n: 1\n"), 1, 3, "a name must be a text"},
        {STR("a: \xff\n"), 1, 4, "not UTF-8"},
        {STR("\xc3\xa4: \x01\n"), 1, 4, "control character"},
        {STR("a: \0 b\n"), 1, 4, "control character"},
        {STR("a: [1, 2\n"), 2, 1, "flow sequence"},
        {STR("- a\nb: 1\n"), 2, 1, ""},
        {STR("a: 1\n b: 2\n"), 1, 4, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct problems *p = problems_new();

        assert_null(yaml_read(arena, "f", cases[i].yaml, p));
        assert_int_equal(problems_count(p, SEVERITY_ERROR), 1);

        const struct problem *found = problems_get(p, 0);

        if (strstr(found->message.ptr, cases[i].message) == NULL ||
            found->place.line != cases[i].line || found->place.column != cases[i].column)
            fail_msg("case %zu: %u:%u: %s", i, found->place.line, found->place.column,
                     found->message.ptr);
        problems_free(p);
    }
}

static void depth_and_size_are_bounded(void **state)
{
    struct buf deep = {0};
    char *large = calloc(1, YAML_TEXT_MAX + 1);

    (void)state;
    for (int i = 0; i < 100000; i++)
        buf_append_char(&deep, '[');
    assert_null(yaml_read(arena, "f", buf_str(&deep), problems));
    buf_clear(&deep);
    for (int i = 0; i < YAML_DEPTH_MAX + 1; i++)
        buf_append(&deep, STR("- "));
    assert_null(yaml_read(arena, "f", buf_str(&deep), problems));
    assert_non_null(large);
    assert_null(yaml_read(arena, "f", (struct str){large, YAML_TEXT_MAX + 1}, problems));
    assert_int_equal(problems_count(problems, SEVERITY_ERROR), 3);
    buf_free(&deep);
    free(large);
}

/* ---- writing, and reading it back ---- */

static const char *const pieces[] = {
    "a",
    "orders",
    " ",
    ":",
    ": ",
    "#",
    " #",
    "-",
    "- ",
    "'",
    "\"",
    "\\",
    "\n",
    "\t",
    "1",
    "0",
    ".",
    "e5",
    "yes",
    "null",
    "~",
    "true",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&",
    "*",
    "!",
    "|",
    ">",
    "%",
    "@",
    "`",
    "?",
    "\xc3\xa9",
    "\xe4\xb8\xad",
    "=",
    "(",
    ")",
    "\r",
    "\x01",
    "--- ",
    "...",
    "/",
    "+",
    "12:30",
    "\xf0\x9f\x98\x80",
    "\xc2\x85",
    "\xe2\x80\xa8",
    "\xef\xbb\xbf",
    "\x7f",
};

static struct str random_text(unsigned *seed, struct buf *b)
{
    buf_clear(b);
    buf_append(b, STR(""));
    for (int n = rand_r(seed) % 6; n > 0; n--)
        buf_append(b, str_from(pieces[(size_t)rand_r(seed) % ARRAY_LEN(pieces)]));
    return buf_str(b);
}

static struct yaml_node *random_tree(unsigned *seed, unsigned depth)
{
    static const char *const plains[] = {"true", "false",  "null",
                                         "0",    "-1.5e7", "12345678901234567890"};
    struct buf b = {0};
    struct yaml_node *n;
    int kind = rand_r(seed) % (depth > 4 ? 2 : 5);

    if (kind == 0) {
        n = yaml_new_plain(arena, str_from(plains[(size_t)rand_r(seed) % ARRAY_LEN(plains)]));
    } else if (kind == 1) {
        n = yaml_new_text(arena, random_text(seed, &b));
    } else {
        n = yaml_new(arena, kind == 2 ? YAML_LIST : YAML_MAP);
        for (int k = rand_r(seed) % 5; k > 0; k--)
            if (n->kind == YAML_LIST)
                yaml_push(arena, n, random_tree(seed, depth + 1));
            else
                yaml_put(arena, n, random_text(seed, &b), random_tree(seed, depth + 1));
    }
    buf_free(&b);
    return n;
}

static void every_tree_written_as_yaml_or_json_reads_back_the_same(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        unsigned seed = i;
        struct yaml_node *tree = random_tree(&seed, 0);
        struct buf json = {0}, yaml = {0}, again = {0};

        yaml_append_json(&json, tree, false);
        yaml_append_yaml(&yaml, tree);

        struct yaml_node *from_yaml = yaml_read(arena, "yaml", buf_str(&yaml), problems);
        struct yaml_node *from_json = yaml_read(arena, "json", buf_str(&json), problems);

        if (from_yaml == NULL || from_json == NULL)
            fail_msg("seed %u: %s\n%s\n%s", i, problems_get(problems, 0)->message.ptr, json.ptr,
                     yaml.ptr);
        yaml_append_json(&again, from_yaml, false);
        assert_string_equal(again.ptr, json.ptr);
        buf_clear(&again);
        yaml_append_json(&again, from_json, false);
        assert_string_equal(again.ptr, json.ptr);
        buf_free(&json);
        buf_free(&yaml);
        buf_free(&again);
        arena_free(arena);
        arena = arena_new();
    }
}

static void yaml_is_written_for_people(void **state)
{
    static const char text[] = "tables:\n"
                               "  - table: shop.orders\n"
                               "    key: [id]\n"
                               "    settings: {number_of_shards: 1, x: \"1\"}\n"
                               "    columns:\n"
                               "      - id\n"
                               "      - {name: title, copy_to: [all]}\n"
                               "    where: \"a = 'b'\"\n"
                               "    none: []\n"
                               "    note: \"yes\"\n"
                               "    address: 127.0.0.1:3306\n";
    struct yaml_node *tree = yaml_read(arena, "f", str_from(text), problems);
    struct buf b = {0};

    (void)state;
    yaml_append_yaml(&b, tree);
    assert_string_equal(b.ptr, text);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(yaml_becomes_a_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(quoted_texts_lose_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plain_texts_mean_what_they_mean_in_json, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nodes_know_their_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_yaml_is_refused_with_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_and_size_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_tree_written_as_yaml_or_json_reads_back_the_same,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(yaml_is_written_for_people, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
