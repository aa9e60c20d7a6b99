#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/mapping/usual.h"

static void an_index_of_usual_types_needs_no_question(void **state)
{
    (void)state;
    assert_true(mapping_is_usual(STR("{}")));
    assert_true(mapping_is_usual(
        STR("{\"settings\":{\"index.number_of_shards\":1},\"mappings\":{\"properties\":{"
            "\"a\":{\"type\":\"keyword\",\"fields\":{\"text\":{\"type\":\"text\"}}},"
            "\"type\":{\"properties\":{\"b\":{\"type\":\"long\"}}}}}}")));
}

static void an_unusual_type_is_found_wherever_it_is(void **state)
{
    static const char *const mappings[] = {
        "{\"properties\":{\"a\":{\"type\":\"long\"},\"p\":{\"type\":\"geo_point\"}}}",
        "{\"properties\":{\"a\":{\"properties\":{\"v\":{\"type\":\"knn_vector\"}}}}}",
        "{\"properties\":{\"a\":{\"type\":\"nested\",\"properties\":{\"b\":{\"type\":\"text\","
        "\"fields\":{\"c\":{\"type\":\"icu_collation_keyword\"}}}}}}}",
        "{\"properties\":{\"a\":7}}",
        "{\"properties\":{\"a\":{\"type\":[]}}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(mappings); i++) {
        struct buf body = {0};

        buf_printf(&body, "{\"mappings\":%s}", mappings[i]);
        if (mapping_is_usual(buf_str(&body)) != (i >= 3))
            fail_msg("%s", mappings[i]);
        buf_free(&body);
    }
}

static bool is_usual_with(size_t n_fields)
{
    struct buf body = {0};
    bool usual;

    buf_append(&body, STR("{\"mappings\":{\"properties\":{\"o\":{\"properties\":{"));
    for (size_t i = 1; i < n_fields; i++)
        buf_printf(&body, "%s\"f%zu\":{\"type\":\"long\"}", i > 1 ? "," : "", i);
    buf_append(&body, STR("}}}}}"));
    usual = mapping_is_usual(buf_str(&body));
    buf_free(&body);
    return usual;
}

static void many_fields_and_a_limit_that_somebody_set_are_asked_about(void **state)
{
    (void)state;
    assert_true(is_usual_with(1000));
    assert_false(is_usual_with(1001));
    assert_false(mapping_is_usual(
        STR("{\"settings\":{\"index.mapping.total_fields.limit\":2},\"mappings\":{}}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_of_usual_types_needs_no_question),
        cmocka_unit_test(an_unusual_type_is_found_wherever_it_is),
        cmocka_unit_test(many_fields_and_a_limit_that_somebody_set_are_asked_about),
    };
    return cmocka_run_group_tests_name("usual", tests, NULL, NULL);
}
