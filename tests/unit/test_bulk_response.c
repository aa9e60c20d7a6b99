#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/mem.h"
#include "sync/delivery/bulk/bulk_response.h"

#include <stdlib.h>
#include <string.h>

#define SENT(action_, id_)                     \
    {                                          \
        .action = STR(action_), .id = STR(id_) \
    }

static const struct bulk_sent five[] = {
    SENT("index", "1"), SENT("index", "2"),  SENT("index", "3"),
    SENT("index", "4"), SENT("delete", "5"),
};

static struct bulk_sent sent(void *ctx, size_t i)
{
    return ((const struct bulk_sent *)ctx)[i];
}

static bool read_answer(struct bulk_response *r, const char *body,
                        const struct bulk_sent *actions, size_t n, struct err *err)
{
    return bulk_response_read(r, str_from(body), n, sent, (void *)(uintptr_t)actions, err);
}

static void check_error(const struct bulk_response *r, size_t i, const char *type,
                        const char *reason)
{
    const struct bulk_error e = bulk_response_error(r, i);

    assert_true(str_equal(e.type, str_from(type)));
    assert_true(str_equal(e.reason, str_from(reason)));
}

static void each_item_has_its_own_status_and_error(void **state)
{
    static const int statuses[] = {201, 409, 429, 400, 404};
    struct bulk_response r = {0};
    struct err err = {0};

    (void)state;
    assert_true(read_answer(
        &r,
        "{\"took\":3,\"errors\":true,\"items\":["
        "{\"index\":{\"_index\":\"a\",\"_id\":\"1\",\"_shards\":{\"total\":1},\"status\":201}},"
        "{\"index\":{\"_id\":\"2\",\"status\":409,\"error\":{\"type\":\"version_conflict\","
        "\"reason\":\"[2]: newer\"}}},"
        "{\"index\":{\"error\":{\"reason\":\"queue \\\"full\\\"\",\"type\":\"rejected\"},"
        "\"_id\":\"3\",\"status\":429}},"
        "{\"index\":{\"_id\":\"4\",\"status\":400,\"error\":{\"type\":\"mapper_parsing\","
        "\"reason\":\"failed to parse\",\"caused_by\":{\"type\":\"x\",\"reason\":\"not a "
        "date\"}}}},"
        "{\"delete\":{\"_id\":\"5\",\"status\":404}}]}",
        five, 5, &err));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(r.items[i].status, statuses[i]);
    check_error(&r, 0, "", "");
    check_error(&r, 1, "version_conflict", "[2]: newer");
    check_error(&r, 2, "rejected", "queue \"full\"");
    check_error(&r, 3, "mapper_parsing", "failed to parse: not a date");
    check_error(&r, 4, "", "");
    bulk_response_free(&r);
}

static void an_answer_that_does_not_match_the_request_is_not_believed(void **state)
{
    static const char *const bodies[] = {
        "",
        "{",
        "null",
        "[]",
        "{\"errors\":false}",
        "{\"items\":[]}",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":201}},{\"index\":{\"_id\":\"1\","
        "\"status\":201}}]}",
        "{\"items\":[{}]}",
        "{\"items\":[7]}",
        "{\"items\":[{\"index\":{\"_id\":\"1\"}}]}",
        "{\"items\":[{\"index\":{\"status\":201}}]}",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":\"x\"}}]}",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":99999999999999999999}}]}",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":0}}]}",
        "{\"items\":[{\"index\":{\"_id\":\"2\",\"status\":201}}]}",
        "{\"items\":[{\"index\":{\"_id\":1,\"status\":201}}]}",
        "{\"items\":[{\"delete\":{\"_id\":\"1\",\"status\":200}}]}",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":201}}]",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":201}}]} x",
        "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":201},\"index\":{}}]}",
        "<html>",
    };
    struct bulk_response r = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct err err = {0};

        assert_false(read_answer(&r, bodies[i], five, 1, &err));
        assert_int_equal(err.kind, ERR_RETRY);
    }
    bulk_response_free(&r);
}

static void escaped_ids_are_compared_by_what_they_mean(void **state)
{
    static const struct bulk_sent actions[] = {SENT("index", "a\"\n\xC3\xA9")};
    struct bulk_response r = {0};
    struct err err = {0};

    (void)state;
    assert_true(read_answer(
        &r, "{\"items\":[{\"index\":{\"_id\":\"a\\\"\\n\\u00e9\",\"status\":201}}]}", actions,
        1, &err));
    assert_false(read_answer(
        &r, "{\"items\":[{\"index\":{\"_id\":\"a\\\"\\n\\u00e8\",\"status\":201}}]}", actions,
        1, &err));
    bulk_response_free(&r);
}

static void long_reasons_are_cut_at_a_character(void **state)
{
    struct bulk_response r = {0};
    struct buf body = {0};
    struct err err = {0};

    (void)state;
    buf_append(&body, STR("{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":400,\"error\":{"
                          "\"type\":\"t\",\"reason\":\"x"));
    for (unsigned i = 0; i < 5000; i++)
        buf_append(&body, STR("\xC3\xA9"));
    buf_append(&body, STR("\"}}}]}"));
    assert_true(read_answer(&r, body.ptr, five, 1, &err));
    assert_int_equal(bulk_response_error(&r, 0).reason.len, 1999);
    buf_free(&body);
    bulk_response_free(&r);
}

static void check_cause(const char *error, const char *type, const char *reason)
{
    struct bulk_response r = {0};
    struct buf body = {0};
    struct err err = {0};

    buf_printf(&body, "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":400,\"error\":%s}}]}",
               error);
    assert_true(read_answer(&r, body.ptr, five, 1, &err));
    assert_true(str_equal(bulk_response_error(&r, 0).cause_type, str_from(type)));
    assert_true(str_equal(bulk_response_error(&r, 0).cause_reason, str_from(reason)));
    buf_free(&body);
    bulk_response_free(&r);
}

static void the_innermost_cause_of_an_error_is_told_alone(void **state)
{
    (void)state;
    check_cause("{\"type\":\"a\",\"reason\":\"b\"}", "", "");
    check_cause("{\"type\":\"a\",\"reason\":\"b\",\"caused_by\":{\"type\":\"c\",\"reason\":"
                "\"d\"}}",
                "c", "d");
    check_cause("{\"type\":\"a\",\"reason\":\"b\",\"caused_by\":{\"type\":\"c\",\"reason\":"
                "\"d\",\"caused_by\":{\"type\":\"e\",\"reason\":\"f\"}}}",
                "e", "f");
    check_cause("{\"caused_by\":{\"caused_by\":{\"reason\":\"f\",\"type\":\"e\"},\"reason\":"
                "\"d\",\"type\":\"c\"},\"reason\":\"b\",\"type\":\"a\"}",
                "e", "f");
    check_cause("{\"type\":\"a\",\"caused_by\":{\"type\":\"c\",\"reason\":\"d\",\"caused_by\":"
                "{\"type\":\"e\"}}}",
                "e", "");
    check_cause("\"plain\"", "", "");
}

static void one_reader_serves_many_answers(void **state)
{
    struct bulk_response r = {0};
    struct err err = {0};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        assert_true(read_answer(&r,
                                "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":400,"
                                "\"error\":{\"type\":\"a\",\"reason\":\"b\"}}}]}",
                                five, 1, &err));
        check_error(&r, 0, "a", "b");
        assert_true(read_answer(&r, "{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":200}}]}",
                                five, 1, &err));
        check_error(&r, 0, "", "");
    }
    assert_true(read_answer(&r, "{\"items\":[]}", five, 0, &err));
    bulk_response_free(&r);
}

static void the_refusal_of_a_whole_request_says_why(void **state)
{
    static const struct {
        const char *body, *type, *reason;
    } cases[] = {
        {"{\"error\":{\"root_cause\":[],\"type\":\"t\",\"reason\":\"r\"},\"status\":400}", "t",
         "r"},
        {"{\"error\":\"plain\",\"status\":400}", "", "plain"},
        {"<html>Bad gateway</html>", "", "<html>Bad gateway</html>"},
        {"", "", ""},
        {"{\"message\":\"x\"}", "", "x"}, /* AWS, in either case */
        {"{\"Message\":\"x\"}", "", "x"},
        {"{\"text\":\"x\"}", "", "{\"text\":\"x\"}"},
        {"[1]", "", "[1]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf type = {0}, reason = {0};

        bulk_response_refusal(str_from(cases[i].body), &type, &reason);
        assert_true(str_equal(buf_str(&type), str_from(cases[i].type)));
        assert_true(str_equal(buf_str(&reason), str_from(cases[i].reason)));
        buf_free(&type);
        buf_free(&reason);
    }
}

/* What failed may name what it was sent to, or nothing. */
static void an_action_that_took_effect_in_another_index_names_it(void **state)
{
    static const struct {
        const char *body, *elsewhere;
    } cases[] = {
        {"{\"items\":[{\"index\":{\"_index\":\"a_v2\",\"_id\":\"1\",\"status\":201}}]}", ""},
        {"{\"items\":[{\"index\":{\"_index\":\"b\",\"_id\":\"1\",\"status\":201}}]}", "b"},
        {"{\"items\":[{\"index\":{\"_id\":\"1\",\"status\":201}}]}", ""},
        {"{\"items\":[{\"index\":{\"_index\":\"a\",\"_id\":\"1\",\"status\":404,"
         "\"error\":{\"type\":\"index_not_found_exception\"}}}]}",
         ""},
        {"{\"items\":[{\"index\":{\"_index\":\"b\",\"_id\":\"1\",\"status\":409,"
         "\"error\":{\"type\":\"version_conflict_engine_exception\"}}}]}",
         "b"},
    };
    static const struct bulk_sent action = {STR("index"), STR("1"), STR("a_v2"), false};
    struct bulk_response r = {0};
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(read_answer(&r, cases[i].body, &action, 1, &err));
        assert_true(str_equal(buf_str(&r.elsewhere), str_from(cases[i].elsewhere)));
    }
    bulk_response_free(&r);
}

static void a_noop_is_a_document_that_a_pipeline_dropped(void **state)
{
    static const struct {
        const char *body;
        bool is_dropped;
    } cases[] = {
        {"{\"items\":[{\"index\":{\"_index\":\"a.write\",\"_id\":\"1\",\"result\":\"noop\","
         "\"status\":200}}]}",
         true},
        {"{\"items\":[{\"index\":{\"_index\":\"a_v2\",\"_id\":\"1\",\"result\":\"updated\","
         "\"status\":200}}]}",
         false},
        {"{\"items\":[{\"index\":{\"_id\":\"1\",\"result\":\"noop\",\"status\":503,"
         "\"error\":{\"type\":\"x\"}}}]}",
         false},
    };
    static const struct bulk_sent action = {STR("index"), STR("1"), STR("a_v2"), false};
    static const struct bulk_sent update = {STR("update"), STR("1"), STR("a_v2"), false};
    struct bulk_response r = {0};
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(read_answer(&r, cases[i].body, &action, 1, &err));
        assert_int_equal(r.items[0].is_dropped, cases[i].is_dropped);
        assert_int_equal(r.elsewhere.len, 0);
    }
    assert_true(read_answer(
        &r, "{\"items\":[{\"update\":{\"_id\":\"1\",\"result\":\"noop\",\"status\":200}}]}",
        &update, 1, &err));
    assert_false(r.items[0].is_dropped);
    bulk_response_free(&r);
}

#define PIPED(id_)                                               \
    {                                                            \
        .action = STR("index"), .id = STR(id_), .is_piped = true \
    }

static void behind_a_pipeline_items_are_matched_by_their_ids(void **state)
{
    static const struct bulk_sent actions[] = {PIPED("1"), PIPED("2"), SENT("delete", "3"),
                                               PIPED("4"), PIPED("1")};
    static const int statuses[] = {500, 200, 404, 400, 201};
    static const char mixed[] =
        "{\"items\":["
        "{\"index\":{\"_id\":\"2\",\"result\":\"noop\",\"status\":200}},"
        "{\"index\":{\"_id\":\"4\",\"status\":400}},"
        "{\"delete\":{\"_id\":\"3\",\"status\":404}},"
        "{\"index\":{\"_id\":\"1\",\"status\":500}},"
        "{\"index\":{\"_id\":\"1\",\"status\":201}}]}";
    static const char *const wrong[] = {
        "{\"items\":[{\"index\":{\"_id\":\"2\",\"status\":200}},"
        "{\"index\":{\"_id\":\"2\",\"status\":200}}]}",
        "{\"items\":[{\"delete\":{\"_id\":\"2\",\"status\":200}},"
        "{\"index\":{\"_id\":\"1\",\"status\":200}}]}",
        "{\"items\":[{\"index\":{\"_id\":\"2\",\"status\":200}}]}",
    };
    struct bulk_response r = {0};
    struct err err;

    (void)state;
    assert_true(read_answer(&r, mixed, actions, 5, &err));
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(r.items[i].status, statuses[i]);
    /* Nobody knows which of the two is meant, but each is answered. */
    assert_int_equal(r.items[0].status + r.items[4].status, statuses[0] + statuses[4]);
    assert_true(r.items[1].is_dropped);
    assert_int_equal(r.renamed.len, 0);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(read_answer(&r, wrong[i], actions, 2, &err));
    bulk_response_free(&r);
}

static void only_behind_a_pipeline_may_an_item_have_another_id(void **state)
{
    static const char body[] =
        "{\"items\":[{\"index\":{\"_index\":\"a_v2\",\"_id\":\"x\\n\",\"status\":201}}]}";
    struct bulk_sent action = {STR("index"), STR("1"), STR("a_v2"), true};
    struct bulk_response r = {0};
    struct err err;

    (void)state;
    assert_true(read_answer(&r, body, &action, 1, &err));
    assert_string_equal(r.renamed.ptr, "x\n");
    action.id = STR("x\n");
    assert_true(read_answer(&r, body, &action, 1, &err));
    assert_int_equal(r.renamed.len, 0);
    action = (struct bulk_sent){STR("index"), STR("1"), STR("a_v2"), false};
    assert_false(read_answer(&r, body, &action, 1, &err));
    bulk_response_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_has_its_own_status_and_error),
        cmocka_unit_test(an_action_that_took_effect_in_another_index_names_it),
        cmocka_unit_test(a_noop_is_a_document_that_a_pipeline_dropped),
        cmocka_unit_test(behind_a_pipeline_items_are_matched_by_their_ids),
        cmocka_unit_test(only_behind_a_pipeline_may_an_item_have_another_id),
        cmocka_unit_test(an_answer_that_does_not_match_the_request_is_not_believed),
        cmocka_unit_test(escaped_ids_are_compared_by_what_they_mean),
        cmocka_unit_test(long_reasons_are_cut_at_a_character),
        cmocka_unit_test(the_innermost_cause_of_an_error_is_told_alone),
        cmocka_unit_test(one_reader_serves_many_answers),
        cmocka_unit_test(the_refusal_of_a_whole_request_says_why),
    };
    return cmocka_run_group_tests_name("bulk_response", tests, NULL, NULL);
}
