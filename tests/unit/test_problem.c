#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/format/problem.h"

static struct buf text_of(const struct problems *p)
{
    struct buf b = {0};

    problems_append_text(p, &b);
    return b;
}

static void a_problem_shows_its_line_and_a_caret(void **state)
{
    struct problems *p = problems_new();

    (void)state;
    problems_add_source(p, "shop.yaml", STR("topics:\r\n\tn\xc3\xa4me: x\nlast"));
    problems_add(p, SEVERITY_ERROR, (struct place){"shop.yaml", 2, 8}, "no `%s`", "x");
    problems_fix(p, "write %d", 1);
    problems_add(p, SEVERITY_WARNING, (struct place){"shop.yaml", 3, 1}, "last");
    problems_add(p, SEVERITY_NOTE, (struct place){"stored table shop.orders", 0, 0}, "old");

    struct buf b = text_of(p);

    assert_string_equal(b.ptr, "shop.yaml:2:8: error: no `x`\n"
                               "    \tn\xc3\xa4me: x\n"
                               "    \t      ^\n"
                               "    fix: write 1\n"
                               "shop.yaml:3:1: warning: last\n"
                               "    last\n"
                               "    ^\n"
                               "stored table shop.orders: note: old\n");
    assert_int_equal(problems_count(p, SEVERITY_ERROR), 1);
    assert_int_equal(problems_count(p, SEVERITY_WARNING), 1);
    buf_free(&b);
    problems_free(p);
}

static void of_a_long_line_the_part_around_the_place_is_shown(void **state)
{
    struct buf line = {0};
    struct problems *p = problems_new();

    (void)state;
    for (int i = 0; i < 300; i++)
        buf_append(&line, STR("ü"));
    buf_append(&line, STR("WRONG"));
    for (int i = 0; i < 300; i++)
        buf_append(&line, STR("x"));
    problems_add_source(p, "f", buf_str(&line));
    problems_add(p, SEVERITY_ERROR, (struct place){"f", 1, 301}, "bad");

    struct buf b = text_of(p);
    const char *shown = strchr(b.ptr, '\n') + 1;
    const char *end = strchr(shown, '\n');
    const char *wrong = strstr(shown, "WRONG");

    assert_memory_equal(shown, "    ... ü", strlen("    ... ü"));
    assert_memory_equal(end - 5, "x ...", 5);
    assert_true(end - shown < 230);
    assert_non_null(wrong);

    size_t columns = 0; /* before the word, and so before the caret */

    for (const char *c = shown; c < wrong; c++)
        columns += ((unsigned char)*c & 0xc0) != 0x80;
    assert_int_equal(strspn(end + 1, " "), columns);
    assert_int_equal(end[1 + columns], '^');
    buf_free(&b);
    buf_free(&line);
    problems_free(p);
}

static void a_line_shown_hides_secrets(void **state)
{
    static const struct {
        struct str line;
        const char *shown;
    } cases[] = {
        {STR("{name: a, password: hunter2, user: b}"), "    {name: a, password: ...\n"},
        {STR("passwrod: hunter2"), "    passwrod: ...\n"},
        {STR("Password : hunter2"), "    Password : ...\n"},
        {STR("password_file: a.txt"), "    password_file: a.txt\n"},
        {STR("password_env: X, password: hunter2"), "    password_env: X, password: ...\n"},
        {STR("api_key: hunter2"), "    api_key: ...\n"},
        {STR("url: [http://a:9200, 'https://me:hunter2@b:9200']"),
         "    url: [http://a:9200, 'https://me: ...\n"},
        {STR("store: mysql://me@h:3306/db"), "    store: mysql://me@h:3306/db\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct problems *p = problems_new();

        problems_add_source(p, "f", cases[i].line);
        problems_add(p, SEVERITY_ERROR, (struct place){"f", 1, 1}, "x");

        struct buf b = text_of(p);

        assert_non_null(strstr(b.ptr, cases[i].shown));
        buf_free(&b);
        problems_append_json(p, &b);
        assert_null(strstr(b.ptr, "hunter2"));
        buf_free(&b);
        problems_free(p);
    }
}

static void places_beyond_the_text_do_no_harm(void **state)
{
    struct problems *p = problems_new();

    (void)state;
    problems_add_source(p, "f", STR("a\nb"));
    problems_add(p, SEVERITY_ERROR, (struct place){"f", 9, 1}, "x");
    problems_add(p, SEVERITY_ERROR, (struct place){"f", 2, 99}, "y");
    problems_add(p, SEVERITY_ERROR, (struct place){"g", 1, 1}, "z");

    struct buf b = text_of(p);

    assert_string_equal(b.ptr,
                        "f:9:1: error: x\nf:2:99: error: y\n    b\n     ^\ng:1:1: error: z\n");
    buf_free(&b);
    problems_free(p);
}

static void what_is_too_much_is_only_counted(void **state)
{
    struct problems *p = problems_new();

    (void)state;
    for (int i = 0; i < PROBLEMS_MAX + 7; i++)
        problems_add(p, SEVERITY_ERROR, (struct place){0}, "number %d", i);
    problems_fix(p, "of one that is not kept");
    assert_int_equal(problems_count(p, SEVERITY_ERROR), PROBLEMS_MAX + 7);
    assert_int_equal(problems_n(p), PROBLEMS_MAX);

    struct buf b = text_of(p);

    assert_non_null(strstr(b.ptr, "\n7 more are not shown\n"));
    assert_null(strstr(b.ptr, "not kept"));
    buf_free(&b);
    problems_free(p);
}

static void json_has_every_part(void **state)
{
    struct problems *p = problems_new();
    struct buf b = {0};

    (void)state;
    problems_add_source(p, "f", STR("a: b"));
    problems_add(p, SEVERITY_WARNING, (struct place){"f", 1, 4}, "say \"b\"");
    problems_fix(p, "c");
    problems_append_json(p, &b);
    assert_string_equal(b.ptr,
                        "[{\"severity\":\"warning\",\"file\":\"f\",\"line\":1,\"column\":4,"
                        "\"message\":\"say \\\"b\\\"\",\"fix\":\"c\",\"source\":\"a: b\"}]");
    buf_free(&b);
    problems_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_shows_its_line_and_a_caret),
        cmocka_unit_test(of_a_long_line_the_part_around_the_place_is_shown),
        cmocka_unit_test(a_line_shown_hides_secrets),
        cmocka_unit_test(places_beyond_the_text_do_no_harm),
        cmocka_unit_test(what_is_too_much_is_only_counted),
        cmocka_unit_test(json_has_every_part),
    };
    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
