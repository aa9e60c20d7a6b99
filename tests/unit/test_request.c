#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>

static void a_target_is_split_before_it_is_decoded(void **state)
{
    struct arena *a = arena_new();
    struct request_target t;
    struct err err;

    (void)state;
    assert_true(request_target_parse(&t, a, STR("/a%2Fb/c+d?x=1%262&y=a+b&&flag&=v"), &err));
    assert_int_equal(t.n_segments, 2);
    assert_true(str_equal(t.segments[0], STR("a/b")));
    assert_true(str_equal(t.segments[1], STR("c+d")));
    assert_int_equal(t.n_params, 4);
    assert_true(str_equal(request_param(&t, "x"), STR("1&2")));
    assert_true(str_equal(request_param(&t, "y"), STR("a b")));
    assert_true(request_param(&t, "flag").ptr != NULL);
    assert_true(request_param(&t, "none").ptr == NULL);

    assert_true(request_target_parse(&t, a, STR("/"), &err));
    assert_int_equal(t.n_segments, 0);
    assert_true(request_target_parse(&t, a, STR("/a?"), &err));
    assert_int_equal(t.n_params, 0);
    arena_free(a);
}

static void a_decoded_name_is_not_decoded_again(void **state)
{
    struct arena *a = arena_new();
    struct request_target t;
    struct err err;

    (void)state;
    assert_true(request_target_parse(&t, a, STR("/%252e%252e"), &err));
    assert_true(str_equal(t.segments[0], STR("%2e%2e")));
    arena_free(a);
}

static void a_crooked_target_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "a",
        "http://x/",
        "*",
        "//",
        "/a//b",
        "/a/",
        "/.",
        "/..",
        "/a/..",
        "/%2e%2e",
        "/%",
        "/%4",
        "/%g1",
        "/%00",
        "/%c3%28",
        "/a?%",
        "/a?x=%0g",
        "/1/2/3/4/5/6/7/8/9/10/11/12/13",
        "/?a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a",
    };
    struct arena *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct request_target t;
        struct err err = {0};

        if (request_target_parse(&t, a, str_from(bad[i]), &err))
            fail_msg("%s is taken", bad[i]);
        assert_int_equal(response_err_status(&err), 400);
    }
    arena_free(a);
}

static void a_problem_is_valid_json_whatever_it_is_about(void **state)
{
    struct response res = {0};

    (void)state;
    response_set_problem(&res, &(struct response_problem){.status = 422,
                                                          .detail = STR("bad \"\xff\n\x01"),
                                                          .fix = STR("fix it"),
                                                          .errors_json = STR("[1]")});

    cJSON *p = cJSON_ParseWithLength(res.body.ptr, res.body.len);

    assert_non_null(p);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(p, "code")), "refused");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(p, "fix")), "fix it");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(p, "errors")), 1);
    cJSON_Delete(p);
    buf_free(&res.body);
}

static void a_body_is_read_strictly(void **state)
{
    static const struct input members[] = {{.name = "n"}, {.name = "s"}, {.name = "b"}, {0}};
    static const struct {
        const char *type, *body;
        bool ok;
    } cases[] = {
        {"application/json", "{\"n\":1,\"s\":\"x\",\"b\":true}", true},
        {"Application/JSON; charset=utf-8", "{}", true},
        {"", "", true},
        {"text/plain", "{}", false},
        {"application/jsonp", "{}", false},
        {"application/json", "[]", false},
        {"application/json", "{} x", false},
        {"application/json", " {} \r\n", true},
        {"application/json", "{\"m\":1}", false},
        {"application/json", "{\"n\":01}", false},
        {"application/json", "{\"s\":\"a\tb\"}", false},
        {"application/json", "{\"s\":\"a\\tb\"}", true},
        {"application/json", "\xef\xbb\xbf{}", false},
        {"application/json", "\x01{}", false},
        {"application/json", "{\"s\":\"\\u0000\"}", false},
        {"application/json", "{\"n\":-1}", false},
        {"application/json", "{\"n\":0.5}", false},
        {"application/json", "{\"n\":1e300}", false},
        {"application/json", "{\"n\":\"9007199254740991\"}", true},
        {"application/json", "{\"n\":\"9007199254740992\"}", false},
        {"application/json", "{\"n\":\"18446744073709551616\"}", false},
        {"application/json", "{\"n\":null}", false},
        {"application/json", "{\"s\":1}", false},
        {"application/json", "{\"b\":1}", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request req = {.content_type = str_from(cases[i].type),
                              .body = str_from(cases[i].body)};
        cJSON *body = NULL;
        uint64_t n = 0;
        struct str s = {0};
        bool b = false;
        struct err err;
        bool ok = body_parse(&body, &req, members, &err) && body_uint(body, "n", &n, &err) &&
                  body_str(body, "s", &s, &err) && body_bool(body, "b", &b, &err);

        if (ok != cases[i].ok)
            fail_msg("%s as %s", cases[i].body, cases[i].type);
        cJSON_Delete(body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_split_before_it_is_decoded),
        cmocka_unit_test(a_decoded_name_is_not_decoded_again),
        cmocka_unit_test(a_crooked_target_is_refused),
        cmocka_unit_test(a_problem_is_valid_json_whatever_it_is_about),
        cmocka_unit_test(a_body_is_read_strictly),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
