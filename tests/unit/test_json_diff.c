#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/value/json_diff.h"

enum { REPLACE = 0, INSERT, REMOVE };

/* One change as in a cell; value is a short string, NULL for a removal. */
static void add_change(struct buf *b, int op, const char *path, const char *value)
{
    buf_append_char(b, (char)op);
    buf_append_char(b, (char)strlen(path));
    buf_append(b, str_from(path));
    if (value == NULL)
        return;
    buf_append_char(b, (char)(strlen(value) + 2));
    buf_append_char(b, 12);
    buf_append_char(b, (char)strlen(value));
    buf_append(b, str_from(value));
}

static void each_operation_changes_what_its_path_names(void **state)
{
    static const struct {
        const char *json;
        int op;
        const char *path, *value, *result;
    } cases[] = {
        {"{\"a\":1,\"b\":2}", REPLACE, "$.a", "x", "{\"a\":\"x\",\"b\":2}"},
        {"{\"a\":1,\"b\":2}", REMOVE, "$.a", NULL, "{\"b\":2}"},
        {"{\"a\":1,\"b\":2}", REMOVE, "$.b", NULL, "{\"a\":1}"},
        {"{\"a\":1}", REMOVE, "$.a", NULL, "{}"},
        {"{}", INSERT, "$.a", "x", "{\"a\":\"x\"}"},
        {"{\"b\":1,\"aa\":2}", INSERT, "$.a", "x", "{\"a\":\"x\",\"b\":1,\"aa\":2}"},
        {"{\"b\":1,\"aa\":2}", INSERT, "$.c", "x", "{\"b\":1,\"c\":\"x\",\"aa\":2}"},
        {"{\"b\":1,\"aa\":2}", INSERT, "$.zzz", "x", "{\"b\":1,\"aa\":2,\"zzz\":\"x\"}"},
        {"[1,[2,{\"k\":3}],\"],\"]", REPLACE, "$[1][1].k", "x", "[1,[2,{\"k\":\"x\"}],\"],\"]"},
        {"[1,2,3]", REMOVE, "$[1]", NULL, "[1,3]"},
        {"[1,2,3]", REMOVE, "$[2]", NULL, "[1,2]"},
        {"[1,2,3]", REMOVE, "$[last-2]", NULL, "[2,3]"},
        {"[1]", REMOVE, "$[0]", NULL, "[]"},
        {"[1,2]", INSERT, "$[1]", "x", "[1,\"x\",2]"},
        {"[1,2]", INSERT, "$[9]", "x", "[1,2,\"x\"]"},
        {"[]", INSERT, "$[0]", "x", "[\"x\"]"},
        {"[1,2]", REPLACE, "$[last]", "x", "[1,\"x\"]"},
        {"{\"a\":1}", REPLACE, "$.a[0]", "x", "{\"a\":\"x\"}"},
        {"{\"a b\":{\"\\\"\":1}}", REPLACE, "$.\"a b\".\"\\\"\"", "x",
         "{\"a b\":{\"\\\"\":\"x\"}}"},
        {"{\"a\":{\"a\":[]}}", REPLACE, "$.a.a", "x", "{\"a\":{\"a\":\"x\"}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf changes = {0}, out = {0};

        add_change(&changes, cases[i].op, cases[i].path, cases[i].value);
        if (!json_diff_apply(&out, str_from(cases[i].json), buf_str(&changes)) ||
            !str_equal(buf_str(&out), str_from(cases[i].result)))
            fail_msg("case %zu (%s) gives %s", i, cases[i].path, out.ptr);
        buf_free(&changes);
        buf_free(&out);
    }
}

static void changes_follow_each_other(void **state)
{
    struct buf changes = {0}, out = {0};

    (void)state;
    add_change(&changes, INSERT, "$.b", "x");
    add_change(&changes, REMOVE, "$.a", NULL);
    add_change(&changes, REPLACE, "$.b", "y");
    assert_true(json_diff_apply(&out, STR("{\"a\":1}"), buf_str(&changes)));
    assert_string_equal(out.ptr, "{\"b\":\"y\"}");
    buf_clear(&out);
    assert_true(json_diff_apply(&out, STR("[1]"), STR("")));
    assert_string_equal(out.ptr, "[1]");
    buf_free(&changes);
    buf_free(&out);
}

static void changes_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        const char *json;
        int op;
        const char *path, *value;
    } cases[] = {
        {"{\"a\":1}", REPLACE, "$.b", "x"},
        {"{\"a\":1}", REMOVE, "$.b", NULL},
        {"{\"a\":1}", INSERT, "$.a", "x"},
        {"{\"a\":1}", REPLACE, "a", "x"},
        {"{\"a\":1}", REPLACE, "$.a.b", "x"},
        {"[1]", REPLACE, "$.a", "x"},
        {"[1]", REPLACE, "$[1", "x"},
        {"[1]", REPLACE, "$[]", "x"},
        {"[1]", REPLACE, "$[2]", "x"},
        {"1", REMOVE, "$", NULL},
        {"1", 3, "$", "x"},
        {"{\"a\":1}", REPLACE, "$.\"a", "x"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf changes = {0}, out = {0};

        add_change(&changes, cases[i].op, cases[i].path, cases[i].value);
        if (json_diff_apply(&out, str_from(cases[i].json), buf_str(&changes)))
            fail_msg("case %zu (%s) gives %s", i, cases[i].path, out.ptr);
        assert_int_equal(out.len, 0);
        buf_free(&changes);
        buf_free(&out);
    }
}

static void a_cell_that_is_cut_off_is_refused(void **state)
{
    struct buf changes = {0}, out = {0};

    (void)state;
    add_change(&changes, REPLACE, "$.a", "x");
    for (size_t n = 1; n < changes.len; n++)
        assert_false(json_diff_apply(&out, STR("{\"a\":1}"), (struct str){changes.ptr, n}));
    buf_free(&changes);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_changes_what_its_path_names),
        cmocka_unit_test(changes_follow_each_other),
        cmocka_unit_test(changes_that_do_not_fit_are_refused),
        cmocka_unit_test(a_cell_that_is_cut_off_is_refused),
    };
    return cmocka_run_group_tests_name("json_diff", tests, NULL, NULL);
}
