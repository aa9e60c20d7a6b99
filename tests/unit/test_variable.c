#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/variable.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"

#include <stdlib.h>

static char host[] = "HOST=db", port[] = "PORT=3306",
            empty[] = "EMPTY=", quote[] = "TRICKY=a: [b]\n# c\n\"";
static char word[] = "WORD=null", latin[] = "LATIN=\xe9", braces[] = "BRACES=${HOST}";
static char *const environment[] = {host, port, empty, quote, word, latin, braces, NULL};

/* The tree of a text, filled in from the environment above, as JSON; or what was wrong. */
static void fill(const char *yaml, struct buf *out)
{
    const struct variables v = variables_of_environment(environment);
    struct arena *a = arena_new();
    struct problems *problems = problems_new();

    problems_add_source(problems, "f", str_from(yaml));

    struct yaml_node *tree = yaml_read(a, "f", str_from(yaml), problems);

    assert_non_null(tree);
    if (variables_fill(&v, a, tree, problems))
        yaml_append_json(out, tree, false);
    else
        problems_append_text(problems, out);
    problems_free(problems);
    arena_free(a);
}

static void assert_filled(const char *yaml, const char *json)
{
    struct buf out = {0};

    fill(yaml, &out);
    assert_string_equal(out.ptr, json);
    buf_free(&out);
}

static void assert_refused(const char *yaml, const char *const *parts)
{
    struct buf out = {0};

    fill(yaml, &out);
    for (; *parts != NULL; parts++)
        if (strstr(out.ptr, *parts) == NULL)
            fail_msg("`%s` is not in: %s", *parts, out.ptr);
    buf_free(&out);
}

static void variables_stand_for_their_values(void **state)
{
    (void)state;
    assert_filled("a: ${HOST}\n", "{\"a\":\"db\"}");
    assert_filled("a: '${HOST}:${PORT}/${HOST}'\n", "{\"a\":\"db:3306/db\"}");
    assert_filled("a: [x, ['${HOST}'], {b: \"${HOST}\"}]\n",
                  "{\"a\":[\"x\",[\"db\"],{\"b\":\"db\"}]}");
    assert_filled("a: |\n  x ${HOST}\n  y\n", "{\"a\":\"x db\\ny\\n\"}");
    assert_filled("a: ${MISSING:-here}${MISSING:-}\n", "{\"a\":\"here\"}");
    assert_filled("a: '${EMPTY:-x y: z}'\n", "{\"a\":\"x y: z\"}");
    assert_filled("a: ${HOST:-other}\n", "{\"a\":\"db\"}");
}

static void a_value_stays_one_value_whatever_it_holds(void **state)
{
    (void)state;
    assert_filled("a: ${TRICKY}\n", "{\"a\":\"a: [b]\\n# c\\n\\\"\"}");
    assert_filled("a: {b: '${TRICKY}', c: 1}\n",
                  "{\"a\":{\"b\":\"a: [b]\\n# c\\n\\\"\",\"c\":1}}");
    assert_filled("a: ${BRACES}\n", "{\"a\":\"${HOST}\"}");
}

static void unquoted_numbers_are_numbers_and_nothing_is_an_empty_text(void **state)
{
    (void)state;
    assert_filled("a: ${PORT}\n", "{\"a\":3306}");
    assert_filled("a: '${PORT}'\n", "{\"a\":\"3306\"}");
    assert_filled("a: ${MISSING:-true}\n", "{\"a\":true}");
    assert_filled("a: ${WORD}\n", "{\"a\":\"null\"}");
    assert_filled("a: ${EMPTY}\n", "{\"a\":\"\"}");
}

static void other_dollars_and_names_are_texts(void **state)
{
    (void)state;
    assert_filled("a: '^a$|$$|${1}|${}|${a b}|${A-b}|${A|$HOST|{HOST}'\n",
                  "{\"a\":\"^a$|$$|${1}|${}|${a b}|${A-b}|${A|$HOST|{HOST}\"}");
    assert_filled("a: '$${HOST} $$${HOST} $${MISSING:-x}'\n",
                  "{\"a\":\"${HOST} $${HOST} ${MISSING:-x}\"}");
    assert_filled("'${HOST}': 1\n", "{\"${HOST}\":1}");
}

static void what_is_missing_is_named_with_its_place_and_a_way_out(void **state)
{
    (void)state;
    assert_refused(
        "b: 1\na: ${MISSING}\n",
        (const char *[]){"f:2:4: error: `${MISSING}`: the variable MISSING is not set",
                         "    a: ${MISSING}\n       ^\n",
                         "fix: set it, or write a default: `${MISSING:-...}`", NULL});
    assert_refused("a: ${ONE} ${TWO}\n",
                   (const char *[]){"ONE is not set", "TWO is not set", NULL});
    assert_refused("a: ${LATIN}\n",
                   (const char *[]){"f:1:4", "LATIN holds bytes that are not UTF-8", NULL});
}

static void few_variables_cannot_make_a_huge_file(void **state)
{
    struct buf large = {0}, yaml = {0}, out = {0};

    (void)state;
    buf_append(&large, STR("LARGE="));
    for (size_t i = 0; i < 100000; i++)
        buf_append_char(&large, 'x');
    buf_append(&yaml, STR("["));
    for (size_t i = 0; i < 50; i++)
        buf_append(&yaml, STR("'${LARGE}',"));
    buf_append(&yaml, STR("]"));

    char *const large_environment[] = {large.ptr, NULL};
    const struct variables v = variables_of_environment(large_environment);
    struct arena *a = arena_new();
    struct problems *problems = problems_new();
    struct yaml_node *tree = yaml_read(a, "f", buf_str(&yaml), problems);

    assert_false(variables_fill(&v, a, tree, problems));
    problems_append_text(problems, &out);
    assert_non_null(strstr(out.ptr, "larger than 4 MiB"));
    problems_free(problems);
    arena_free(a);
    buf_free(&large);
    buf_free(&yaml);
    buf_free(&out);
}

static void a_text_that_was_escaped_is_filled_in_to_itself(void **state)
{
    static const char *const texts[] = {"${HOST}", "$${HOST}", "a $$${HOST:-x} $", "${1}", ""};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct variables v = variables_of_environment(NULL);
        struct arena *a = arena_new();
        struct problems *problems = problems_new();
        struct yaml_node *node = yaml_new_text(a, str_from(texts[i]));

        variables_escape(a, node);
        assert_true(variables_fill(&v, a, node, problems));
        assert_string_equal(node->text.ptr, texts[i]);
        problems_free(problems);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_stand_for_their_values),
        cmocka_unit_test(a_value_stays_one_value_whatever_it_holds),
        cmocka_unit_test(unquoted_numbers_are_numbers_and_nothing_is_an_empty_text),
        cmocka_unit_test(other_dollars_and_names_are_texts),
        cmocka_unit_test(what_is_missing_is_named_with_its_place_and_a_way_out),
        cmocka_unit_test(few_variables_cannot_make_a_huge_file),
        cmocka_unit_test(a_text_that_was_escaped_is_filled_in_to_itself),
    };
    return cmocka_run_group_tests_name("variable", tests, NULL, NULL);
}
