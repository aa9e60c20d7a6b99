#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/search/engine.h"

#include <string.h>

#define ELASTIC(number)                                                                  \
    "{\"version\":{\"number\":\"" number "\",\"build_flavor\":\"default\"},\"tagline\":" \
    "\"You Know, for Search\"}"
#define OPEN(number)                                                                        \
    "{\"version\":{\"distribution\":\"opensearch\",\"number\":\"" number "\"},\"tagline\":" \
    "\"The OpenSearch Project: https://opensearch.org/\"}"
/* compatibility.override_main_response_version */
#define DISGUISED(wire)                                                                  \
    "{\"version\":{\"number\":\"7.10.2\",\"minimum_wire_compatibility_version\":\"" wire \
    "\"},\"tagline\":\"The OpenSearch Project: https://opensearch.org/\"}"

static struct engine identify(const char *body)
{
    struct engine e;
    struct buf text = {0};
    struct err err = {0};

    if (!engine_identify(str_from(body), &e, &text, &err))
        fail_msg("%s", err.msg);
    buf_free(&text);
    return e;
}

static void engines_are_told_apart_by_their_greeting(void **state)
{
    static const struct {
        const char *body;
        struct engine engine;
        const char *text;
    } cases[] = {
        {OPEN("1.3.20"), {SEARCH_OPENSEARCH, 10320, false}, "1.3.20"},
        {OPEN("2.19.5"), {SEARCH_OPENSEARCH, 21905, false}, "2.19.5"},
        {OPEN("3.0.0-beta1"), {SEARCH_OPENSEARCH, 30000, false}, "3.0.0-beta1"},
        {DISGUISED("6.8.0"), {SEARCH_OPENSEARCH, 10000, false}, "7.10.2"},
        {DISGUISED("7.10.0"), {SEARCH_OPENSEARCH, 20000, false}, "7.10.2"},
        {"{\"version\":{\"number\":\"7.10.2\",\"distribution\":\"opensearch\"}}",
         {SEARCH_OPENSEARCH, 10000, false},
         "7.10.2"},
        {ELASTIC("7.17.29"), {SEARCH_ELASTICSEARCH, 71729, false}, "7.17.29"},
        {ELASTIC("8.19.3"), {SEARCH_ELASTICSEARCH, 81903, false}, "8.19.3"},
        {ELASTIC("9.1.0-SNAPSHOT"), {SEARCH_ELASTICSEARCH, 90100, false}, "9.1.0-SNAPSHOT"},
        {"{\"version\":{\"number\":\"7.10.2\",\"build_flavor\":\"oss\"},\"tagline\":\"You "
         "Know, "
         "for Search\"}",
         {SEARCH_ELASTICSEARCH, 71002, true},
         "7.10.2"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct engine e;
        struct buf text = {0};
        struct err err = {0};

        assert_true(engine_identify(str_from(cases[i].body), &e, &text, &err));
        assert_int_equal(e.flavor, cases[i].engine.flavor);
        assert_int_equal(e.version, cases[i].engine.version);
        assert_int_equal(e.plain, cases[i].engine.plain);
        assert_string_equal(text.ptr, cases[i].text);
        assert_false(engine_is_new(&e));
        buf_free(&text);
    }
}

static void what_is_no_engine_or_too_old_is_refused_with_what_is_needed(void **state)
{
    static const struct {
        const char *body, *says;
    } cases[] = {
        {ELASTIC("6.8.23"), "Elasticsearch 6.8.23 is too old: it lacks require_alias; "
                            "fix: upgrade to 7.10 or later"},
        {ELASTIC("7.9.3"), "Elasticsearch 7.9.3 is too old: it lacks require_alias; "
                           "fix: upgrade to 7.10 or later"},
        {OPEN("0.9.0"), "OpenSearch 0.9.0 is too old: it lacks require_alias; "
                        "fix: upgrade to 1.0 or later"},
        {"<html>It works!</html>", "check the address"},
        {"{\"version\":{\"number\":\"1.2\"}}", "check the address"},
        {"{\"version\":{\"number\":\"9.0\"},\"tagline\":\"so You Know, for Search\"}",
         "check the address"},
        {ELASTIC("x"), "check the address"},
        {"", "check the address"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct engine e;
        struct buf text = {0};
        struct err err = {0};

        assert_false(engine_identify(str_from(cases[i].body), &e, &text, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, cases[i].says));
        buf_free(&text);
    }
}

static void one_that_is_newer_than_known_is_treated_like_the_newest(void **state)
{
    const struct engine elastic = identify(ELASTIC("10.2.0")), open = identify(OPEN("4.0.0"));

    (void)state;
    assert_true(engine_is_new(&elastic));
    assert_true(engine_is_new(&open));
    assert_int_equal(engine_compatible(&elastic), 9);
    assert_int_equal(engine_compatible(&open), 0);
    for (int f = 0; f < N_ENGINE_FEATURES; f++)
        assert_int_equal(engine_has(&open, (enum engine_feature)f), f != ENGINE_COMPATIBLE);
}

static void elasticsearch_is_asked_to_answer_as_the_version_that_it_is_from_8_on(void **state)
{
    const struct engine seven = identify(ELASTIC("7.17.29")),
                        eight = identify(ELASTIC("8.0.0")), nine = identify(ELASTIC("9.1.2")),
                        open = identify(OPEN("3.1.0")), unknown = {0};

    (void)state;
    assert_int_equal(engine_compatible(&seven), 0);
    assert_int_equal(engine_compatible(&eight), 8);
    assert_int_equal(engine_compatible(&nine), 9);
    assert_int_equal(engine_compatible(&open), 0);
    assert_int_equal(engine_compatible(&unknown), 0);
}

static void a_version_has_what_came_with_it_or_before(void **state)
{
    static const struct {
        struct engine engine;
        bool flat, unsigned_long;
    } cases[] = {
        {{SEARCH_UNKNOWN, 0, false}, true, true},
        {{SEARCH_OPENSEARCH, 0, false}, true, true},
        {{SEARCH_OPENSEARCH, 10320, false}, false, false},
        {{SEARCH_OPENSEARCH, 20600, false}, false, false},
        {{SEARCH_OPENSEARCH, 20700, false}, true, false},
        {{SEARCH_OPENSEARCH, 20800, false}, true, true},
        {{SEARCH_ELASTICSEARCH, 71002, true}, false, false},
        {{SEARCH_ELASTICSEARCH, 71002, false}, true, true},
        {{SEARCH_ELASTICSEARCH, 90000, false}, true, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(engine_has(&cases[i].engine, ENGINE_REQUIRE_ALIAS));
        assert_int_equal(engine_has(&cases[i].engine, ENGINE_FLAT_JSON), cases[i].flat);
        assert_int_equal(engine_has(&cases[i].engine, ENGINE_UNSIGNED_LONG),
                         cases[i].unsigned_long);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_are_told_apart_by_their_greeting),
        cmocka_unit_test(what_is_no_engine_or_too_old_is_refused_with_what_is_needed),
        cmocka_unit_test(one_that_is_newer_than_known_is_treated_like_the_newest),
        cmocka_unit_test(elasticsearch_is_asked_to_answer_as_the_version_that_it_is_from_8_on),
        cmocka_unit_test(a_version_has_what_came_with_it_or_before),
    };

    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
