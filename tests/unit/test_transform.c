#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/transform.h"
#include "sync/document/transform_apply.h"

/* What the steps make of a text; of one that they refuse, the reason. */
static void assert_makes(const char *steps, const char *text, const char *expected)
{
    struct arena *a = arena_new();
    struct transforms t;
    struct buf out = {0};
    struct err err = {0};

    if (!transforms_parse(a, str_from(steps), &t, &err))
        fail_msg("%s: %s", steps, err.msg);
    if (transform_apply(&t, str_from(text), &out, &err))
        assert_string_equal(out.ptr, expected);
    else
        assert_non_null(strstr(err.msg, expected));
    buf_free(&out);
    arena_free(a);
}

static void each_step_makes_what_it_says(void **state)
{
    static const struct {
        const char *steps, *text, *makes;
    } cases[] = {
        {"[{\"kind\":\"text\"}]", "a\"b", "\"a\\\"b\""},
        {"[{\"kind\":\"trim\"}]", " \t a b\n", "\"a b\""},
        {"[{\"kind\":\"split\",\"by\":\", \"}]", "a, b,c, ", "[\"a\",\"b,c\",\"\"]"},
        {"[{\"kind\":\"split\",\"by\":\",\"}]", "", "[]"},
        {"[{\"kind\":\"split\",\"by\":\";\"},{\"kind\":\"split\",\"by\":\",\"}]", "a,b;c",
         "[\"a\",\"b\",\"c\"]"},
        {"[{\"kind\":\"split\",\"by\":\",\"},{\"kind\":\"number\"}]", "1, 2.50", "[1,2.50]"},
        {"[{\"kind\":\"date\",\"format\":\"%d/%m/%Y %H:%M\"}]", "9/8/2024 7:05",
         "\"2024-08-09T07:05:00\""},
        {"[{\"kind\":\"date\",\"format\":\"%Y-%m-%d %H:%M%z\"}]", "2024-03-01 00:30+02:00",
         "\"2024-02-29T22:30:00Z\""},
        {"[{\"kind\":\"date\",\"format\":\"%Y%m%d\"}]", "20240230", "is not a date"},
        {"[{\"kind\":\"date\",\"format\":\"%Y%m%d\"}]", "20240229x", "is not a date"},
        {"[{\"kind\":\"date\",\"format\":\"%Y%m%d\"}]", "", "is not a date"},
        {"[{\"kind\":\"date\",\"format\":\"epoch_second\"}]", "253402300799",
         "\"9999-12-31T23:59:59Z\""},
        {"[{\"kind\":\"date\",\"format\":\"epoch_second\"}]", "253402300800", "since 1970"},
        {"[{\"kind\":\"date\",\"format\":\"epoch_millis\"}]", "-1500",
         "\"1969-12-31T23:59:58.500Z\""},
        {"[{\"kind\":\"date\",\"format\":\"epoch_second\"}]", "12a", "since 1970"},
        {"[{\"kind\":\"date\",\"format\":\"epoch_second\"}]", "123456789012345678901234567890",
         "since 1970"},
        {"[{\"kind\":\"boolean\"}]", "YES", "true"},
        {"[{\"kind\":\"boolean\"}]", "0.00", "false"},
        {"[{\"kind\":\"boolean\"}]", "-1e2", "true"},
        {"[{\"kind\":\"boolean\"}]", "maybe", "neither true nor false"},
        {"[{\"kind\":\"number\"}]", "12345678901234567890.10", "12345678901234567890.10"},
        {"[{\"kind\":\"number\"}]", "1,5", "is not a number"},
        {"[{\"kind\":\"json\"}]", "{\"a\":1.0}", "{\"a\":1.0}"},
        {"[{\"kind\":\"json\"}]", "{\"a\":1", "is not JSON"},
        {"[{\"kind\":\"json\"}]", "1 2", "is not JSON"},
        /* RFC 4231, test case 2. */
        {"[{\"kind\":\"mask\",\"salt\":\"Jefe\"}]", "what do ya want for nothing?",
         "\"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_makes(cases[i].steps, cases[i].text, cases[i].makes);
}

static void a_wrong_step_is_refused_with_what_is_right(void **state)
{
    static const struct {
        const char *steps, *why;
    } cases[] = {
        {"[]", "has no step"},
        {"[{\"by\":\",\"}]", "needs `kind`"},
        {"[\"split\"]", "needs `kind`"},
        {"[{\"kind\":\"splt\"}]", "did you mean `split`"},
        {"[{\"kind\":\"split\"}]", "needs `by`"},
        {"[{\"kind\":\"split\",\"by\":\"\"}]", "that is not empty"},
        {"[{\"kind\":\"split\",\"by\":\",\",\"salt\":\"x\"}]", "has no field `salt`"},
        {"[{\"kind\":\"date\"}]", "needs `format`"},
        {"[{\"kind\":\"date\",\"format\":\"%H%%s %s\"}]", "use `epoch_second`"},
        {"[{\"kind\":\"date\",\"format\":\"%H %Z\"}]", "an offset"},
        {"[{\"kind\":\"date\",\"format\":\"%d.%Q\"}]", "not a format of strptime(3): `%Q`"},
        {"[{\"kind\":\"date\",\"format\":\"%d.%\"}]", "not a format of strptime(3): `%`"},
        {"[{\"kind\":\"date\",\"format\":\"dd.MM.yyyy\"}]", "such as `%d.%m.%Y`"},
        {"[{\"kind\":\"mask\"}]", "needs `salt`"},
        {"[{\"kind\":\"join\",\"columns\":\"a\"}]", "a list of columns"},
        {"[{\"kind\":\"join\",\"columns\":[]}]", "a list of columns"},
        {"[{\"kind\":\"join\",\"columns\":[\"a\"],\"by\":null}]", "must be a text"},
        {"[{\"kind\":\"mask\",\"salt\":null}]", "that is not empty"},
        {"[{\"kind\":\"trim\"},{\"kind\":\"join\",\"columns\":[\"a\"]}]", "must come first"},
        {"[{\"kind\":\"json\"},{\"kind\":\"trim\"}]", "nothing can follow"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena *a = arena_new();
        struct transforms t;
        struct err err = {0};

        assert_false(transforms_parse(a, str_from(cases[i].steps), &t, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        if (strstr(err.msg, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].steps, err.msg);
        arena_free(a);
    }
}

static void columns_are_joined_by_nothing_whether_that_is_said_or_not(void **state)
{
    static const char *const cases[] = {
        "[{\"kind\":\"join\",\"columns\":[\"a\",\"b\"]}]",
        "[{\"kind\":\"join\",\"columns\":[\"a\",\"b\"],\"by\":\"\"}]",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena *a = arena_new();
        struct transforms t;
        struct err err = {0};

        if (!transforms_parse(a, str_from(cases[i]), &t, &err))
            fail_msg("%s: %s", cases[i], err.msg);
        assert_int_equal(t.steps[0].n_columns, 2);
        assert_int_equal(t.steps[0].by.len, 0);
        arena_free(a);
    }
}

static void the_text_of_a_string_is_what_it_says(void **state)
{
    struct buf text = {0};

    (void)state;
    transform_append_text(&text, STR("\"a\\n\\u00e4\""));
    transform_append_text(&text, STR("-1.50"));
    transform_append_text(&text, STR("[\"x\"]"));
    assert_string_equal(text.ptr, "a\n\xc3\xa4-1.50[\"x\"]");
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_makes_what_it_says),
        cmocka_unit_test(a_wrong_step_is_refused_with_what_is_right),
        cmocka_unit_test(columns_are_joined_by_nothing_whether_that_is_said_or_not),
        cmocka_unit_test(the_text_of_a_string_is_what_it_says),
    };
    return cmocka_run_group_tests_name("transform", tests, NULL, NULL);
}
