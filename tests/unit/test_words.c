/* What is a word, and who has which state of a list. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/words/pulls.h"
#include "rebalance/words/text.h"
#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/format/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void what_is_no_word_is_refused_with_the_reason(void **state)
{
    static char long_text[10240];
    static const struct {
        struct str word;
        const char *reason; /* NULL: it is one */
    } cases[] = {
        {{"\xe9\xbe\x99\xe4\xba\x95\xe8\x8c\xb6", 9}, NULL},
        {{"new york", 8}, NULL},
        {{"", 0}, "is empty"},
        {{"a\nb", 3}, "line break"},
        {{"a\r", 2}, "line break"},
        {{"a\0b", 3}, "control character"},
        {{"\x7f", 1}, "control character"},
        {{" a", 2}, "space"},
        {{"a ", 2}, "space"},
        {{"\xff", 1}, "not UTF-8"},
        {{long_text, 255}, NULL},
        {{long_text, 256}, "256 bytes, and may have 255"},
        {{long_text, sizeof(long_text)}, "10240 bytes"},
    };

    (void)state;
    memset(long_text, 'x', sizeof(long_text));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};

        assert_int_equal(word_check(cases[i].word, &err), cases[i].reason == NULL);
        if (cases[i].reason != NULL && strstr(err.msg, cases[i].reason) == NULL)
            fail_msg("%s", err.msg);
        if (cases[i].reason != NULL)
            assert_int_equal(err.code, 422);
    }
}

static void the_lines_of_a_text_are_its_words(void **state)
{
    struct problems *problems = problems_new();
    struct arena *a = arena_new();
    size_t n;
    const struct str *words =
        word_read_lines(a, STR("\xef\xbb\xbfone\r\n\n  two\t\n \nthree four"), &n, problems);

    (void)state;
    assert_int_equal(problems_n(problems), 0);
    assert_int_equal(n, 3);
    assert_true(str_equal(words[0], STR("one")));
    assert_true(str_equal(words[1], STR("two")));
    assert_true(str_equal(words[2], STR("three four")));
    words = word_read_lines(a, STR(""), &n, problems);
    assert_int_equal(n, 0);
    arena_free(a);
    problems_free(problems);
}

static void each_line_that_is_no_word_is_named(void **state)
{
    struct problems *problems = problems_new();
    struct arena *a = arena_new();
    size_t n;

    (void)state;
    assert_non_null(word_read_lines(a, STR("a\nb\x01\nc\n\xff\n"), &n, problems));
    assert_int_equal(n, 2);
    assert_int_equal(problems_count(problems, SEVERITY_ERROR), 2);
    assert_int_equal(problems_get(problems, 0)->place.line, 2);
    assert_int_equal(problems_get(problems, 1)->place.line, 4);
    arena_free(a);
    problems_free(problems);
}

/* ---- who asked ---- */

static struct word_pull pull_of(const char *address)
{
    return (struct word_pull){.list = STR("ext"), .address = str_from(address)};
}

static void a_caller_has_what_was_sent_or_what_it_says(void **state)
{
    struct pull *list = mem_alloc(PULLS_MAX, sizeof(*list));
    struct pulls *p = pulls_new();
    struct word_pull who = pull_of("10.0.0.1");

    (void)state;
    who.is_head = true;
    pulls_note(p, &who, "\"e1\"", false);
    assert_int_equal(pulls_copy(p, list), 1);
    assert_string_equal(list[0].etag, "");
    assert_int_equal(list[0].pulled_ms, 0);
    pulls_note(p, &who, "\"e1\"", true);
    assert_int_equal(pulls_copy(p, list), 1);
    assert_string_equal(list[0].etag, "\"e1\"");
    assert_true(list[0].pulled_ms > 0);
    who.has = STR("\"e1\"");
    pulls_note(p, &who, "\"e2\"", false); /* it asks, and still has the old one */
    assert_int_equal(pulls_copy(p, list), 1);
    assert_string_equal(list[0].etag, "\"e1\"");
    pulls_free(p);
    free(list);
}

static void callers_beyond_the_limit_take_the_place_of_who_asked_first(void **state)
{
    struct pull *list = mem_alloc(PULLS_MAX, sizeof(*list));
    struct pulls *p = pulls_new();
    char address[300];

    (void)state;
    for (int i = 0; i < PULLS_MAX + 10; i++) {
        struct word_pull who;

        snprintf(address, sizeof(address), "10.0.%d.%d", i / 256, i % 256);
        who = pull_of(address);
        pulls_note(p, &who, "e", true);
    }
    assert_int_equal(pulls_copy(p, list), PULLS_MAX);
    memset(address, 'x', sizeof(address) - 1);
    address[sizeof(address) - 1] = '\0';

    const struct word_pull much = pull_of(address);

    pulls_note(p, &much, "e", true);
    assert_int_equal(pulls_copy(p, list), PULLS_MAX);
    pulls_free(p);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_word_is_refused_with_the_reason),
        cmocka_unit_test(the_lines_of_a_text_are_its_words),
        cmocka_unit_test(each_line_that_is_no_word_is_named),
        cmocka_unit_test(a_caller_has_what_was_sent_or_what_it_says),
        cmocka_unit_test(callers_beyond_the_limit_take_the_place_of_who_asked_first),
    };

    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
