#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/format/json_difference.h"
#include "src/format/json_number.h"

#define MAX 4

struct compared {
    struct arena *arena;
    struct json_difference list[MAX];
    struct json_comparison is;
};

static const struct str ours = STR("_millrace");

static void compared_init(struct compared *c)
{
    *c = (struct compared){.arena = arena_new()};
    c->is = (struct json_comparison){
        .arena = c->arena, .ignored = &ours, .n_ignored = 1, .list = c->list, .max = MAX};
}

/* "kind path wanted found; ..." of the listed ones. */
static void describe(const struct compared *c, struct buf *out)
{
    for (size_t i = 0; i < c->is.n; i++)
        buf_printf(out, "%s%s %" STR_FMT " %" STR_FMT " %" STR_FMT, i == 0 ? "" : "; ",
                   json_difference_word(c->list[i].kind), STR_ARG(c->list[i].path),
                   STR_ARG(c->list[i].wanted), STR_ARG(c->list[i].found));
}

static void expect_by(bool as_doubles, const char *wanted, const char *found,
                      const char *differences)
{
    struct compared c;
    struct buf text = {0};
    struct err err = {0};

    compared_init(&c);
    c.is.as_doubles = as_doubles;
    if (!json_compare(&c.is, str_from(wanted), str_from(found), &err))
        fail_msg("%s, %s: %s", wanted, found, err.msg);
    describe(&c, &text);
    if (!str_equal(buf_str(&text), str_from(differences)))
        fail_msg("%s, %s: \"%s\", not \"%s\"", wanted, found, text.ptr, differences);
    buf_free(&text);
    arena_free(c.arena);
}

static void expect(const char *wanted, const char *found, const char *differences)
{
    expect_by(false, wanted, found, differences);
}

static void numbers_are_equal_as_decimals(void **state)
{
    static const char *const equal[][2] = {
        {"1", "1.0"},
        {"1e2", "100"},
        {"1E+2", "100.00"},
        {"0.001", "1e-3"},
        {"-0", "0"},
        {"0e5", "0.0"},
        {"0e99999999999999999999", "0"},
        {"12.50", "125e-1"},
        {"-100.5", "-1.005e2"},
        {"123456789012345678901234567890.10", "12345678901234567890123456789010e-2"},
        {"1e99999999999999999999", "1e99999999999999999999"},
        {"10.01", "1001e-2"},
        {"0.10", "1e-01"},
    };
    static const char *const different[][2] = {
        {"1", "-1"},
        {"1", "1.0000000000000000000000000000001"},
        {"9007199254740993", "9007199254740992"},
        {"1e2", "1e3"},
        {"0.1", "0.01"},
        {"101", "11"},
        {"1e99999999999999999999", "1e99999999999999999998"},
        {"1.01", "1.1"},
        {"10", "1"},
        {"1.5", "15"},
        {"1e18446744073709551617", "10"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(equal); i++)
        if (!json_number_equal(str_from(equal[i][0]), str_from(equal[i][1])))
            fail_msg("%s is not %s", equal[i][0], equal[i][1]);
    for (size_t i = 0; i < ARRAY_LEN(different); i++)
        if (json_number_equal(str_from(different[i][0]), str_from(different[i][1])))
            fail_msg("%s is %s", different[i][0], different[i][1]);
}

static void texts_of_one_double_are_the_same_double(void **state)
{
    static const char *const same[][2] = {
        {"4.751728E21", "4.751728000000001E21"},
        {"2e-3", "0.0020"},
        {"5e-324", "4.9E-324"},
        {"2.2250738585072014e-308", "2.2250738585072012E-308"},
        {"-1.5", "-15E-1"},
        {"0.1", "0.1000000000000000055511151231257827"},
        {"0.0", "-0.0"},
    };
    static const char *const others[][2] = {
        {"4.751728E21", "4.751728000000002E21"}, /* the next double */
        {"4.751728E21", "4.751727999999999E21"}, /* the one before */
        {"0.1", "0.10000000149011612"},          /* the FLOAT that prints as 0.1 */
        {"0.1", "0.10000000000000002"},
        {"1.5", "-1.5"},
        {"1e400", "1e401"},
        {"9007199254740993", "9007199254740992"},
        {"9007199254740993", "9007199254740992.0"},
        {"9.007199254740992E15", "9007199254740993"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (!json_number_is_same_double(str_from(same[i][0]), str_from(same[i][1])))
            fail_msg("%s is not %s", same[i][0], same[i][1]);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (json_number_is_same_double(str_from(others[i][0]), str_from(others[i][1])))
            fail_msg("%s is %s", others[i][0], others[i][1]);
}

static void numbers_are_compared_as_doubles_only_if_that_is_asked_for(void **state)
{
    static const char wanted[] = "{\"a\":[{\"b\":4.751728e21}],\"c\":{\"d\":2e-3}}",
                      longer[] = "{\"a\":[{\"b\":4.751728000000001E21}],\"c\":{\"d\":0.0020}}",
                      other[] = "{\"a\":[{\"b\":4.751728000000002E21}],\"c\":{\"d\":0.002}}";

    (void)state;
    expect_by(true, wanted, longer, "");
    expect_by(false, wanted, longer, "different a[0].b 4.751728e21 4.751728000000001E21");
    expect_by(true, wanted, other, "different a[0].b 4.751728e21 4.751728000000002E21");
    expect_by(true, "[9007199254740993,12.50,1e2]", "[9007199254740992,12.5,100]",
              "different [0] 9007199254740993 9007199254740992");
    expect_by(true, "[1.5]", "[\"1.5\"]", "different [0] 1.5 \"1.5\"");
}

static void values_that_are_equal_have_no_differences(void **state)
{
    (void)state;
    expect("{\"a\":1,\"b\":[true,null]}", " { \"b\" : [ true , null ] , \"a\" : 1.0 } ", "");
    expect("\"caf\\u00e9\\/\"", "\"caf\xc3\xa9/\"", "");
    expect("{\"\\u0061\":1}", "{\"a\":1}", "");
    expect("{\"a\":1,\"a\":2}", "{\"a\":2}", "");
    expect("{}", "{}", "");
    expect("[]", "[ ]", "");
}

static void each_difference_has_its_path_kind_and_values(void **state)
{
    (void)state;
    expect("1", "\"1\"", "different  1 \"1\"");
    expect("{\"a\":1}", "{}", "missing a 1 ");
    expect("{}", "{\"a\":null}", "extra a  null");
    expect("{\"items\":[{},{},{\"price\":1.5,\"x\":0}]}",
           "{\"items\":[{},{},{\"x\":0,\"price\":1.6}]}", "different items[2].price 1.5 1.6");
    expect("[1,2,3]", "[1,3]", "different [1] 2 3; missing [2] 3 ");
    expect("[1]", "[1,{\"a\":2}]", "extra [1]  {\"a\":2}");
    expect("{\"b.c\":{\"\\\"\":1}}", "{\"b.c\":{\"\\\"\":2}}",
           "different [\"b.c\"][\"\\\"\"] 1 2");
    expect("{\"b\":1,\"a\":2}", "{\"c\":3,\"a\":4}",
           "different a 2 4; missing b 1 ; extra c  3");
    expect("{\"a\":1,\"a\":2}", "{\"a\":1}", "different a 2 1");
    expect("{\"a\":[]}", "{\"a\":{}}", "different a [] {}");
}

static void members_at_the_top_can_be_left_out(void **state)
{
    (void)state;
    expect("{\"a\":1}", "{\"_millrace\":{\"version\":7},\"a\":1}", "");
    expect("{\"_millrace\":1,\"a\":1}", "{\"a\":1}", "");
    expect("{\"a\":{}}", "{\"a\":{\"_millrace\":1}}", "extra a._millrace  1");
}

static void extra_members_count_only_if_they_are_asked_for(void **state)
{
    struct compared c;
    struct err err = {0};

    (void)state;
    compared_init(&c);
    c.is.allows_extra = true;
    assert_true(json_compare(&c.is, STR("{\"a\":{\"b\":1},\"l\":[1]}"),
                             STR("{\"a\":{\"b\":1,\"c\":2},\"d\":3,\"l\":[1,2]}"), &err));
    assert_int_equal(c.is.n_all, 1);
    assert_true(str_equal(c.list[0].path, STR("l[1]")));
    arena_free(c.arena);
}

static void more_differences_than_there_is_room_for_are_counted(void **state)
{
    struct compared c;
    struct err err = {0};

    (void)state;
    compared_init(&c);
    assert_true(json_compare(&c.is, STR("[1,1,1,1,1,1]"), STR("[2,2,2,2,2,2,2]"), &err));
    assert_int_equal(c.is.n, MAX);
    assert_int_equal(c.is.n_all, 7);
    arena_free(c.arena);
}

static void a_text_that_is_not_json_is_refused(void **state)
{
    struct compared c;
    struct buf deep = {0};
    struct err err = {0};

    (void)state;
    compared_init(&c);
    assert_false(json_compare(&c.is, STR("{\"a\":}"), STR("{}"), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "the wanted document"));
    assert_false(json_compare(&c.is, STR("{}"), STR(""), &err));
    assert_non_null(strstr(err.msg, "the found document"));
    for (size_t i = 0; i <= JSON_DEPTH_MAX; i++)
        buf_append_char(&deep, '[');
    for (size_t i = 0; i <= JSON_DEPTH_MAX; i++)
        buf_append_char(&deep, ']');
    assert_false(json_compare(&c.is, STR("{}"), buf_str(&deep), &err));
    buf_free(&deep);
    arena_free(c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_equal_as_decimals),
        cmocka_unit_test(texts_of_one_double_are_the_same_double),
        cmocka_unit_test(numbers_are_compared_as_doubles_only_if_that_is_asked_for),
        cmocka_unit_test(values_that_are_equal_have_no_differences),
        cmocka_unit_test(each_difference_has_its_path_kind_and_values),
        cmocka_unit_test(members_at_the_top_can_be_left_out),
        cmocka_unit_test(extra_members_count_only_if_they_are_asked_for),
        cmocka_unit_test(more_differences_than_there_is_room_for_are_counted),
        cmocka_unit_test(a_text_that_is_not_json_is_refused),
    };
    return cmocka_run_group_tests_name("json_difference", tests, NULL, NULL);
}
