#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/check/pipelines.h"

static void a_processor_that_sets_what_a_document_is_found_by_is_found(void **state)
{
    static const struct {
        const char *json, *sets; /* NULL: nothing of the kind */
    } cases[] = {
        {"{\"p\":{\"processors\":[{\"set\":{\"field\":\"a\",\"value\":1}}]}}", NULL},
        {"{\"p\":{\"processors\":[{\"set\":{\"field\":\"a\",\"value\":\"{{_id}}\"}},"
         "{\"set\":{\"field\":\"_routing\",\"value\":1}}]}}",
         "_routing"},
        {"{\"p\":{\"processors\":[{\"set\":{\"value\":\"x\",\"field\":\"\\u005fid\"}}]}}",
         "_id"},
        {"{\"p\":{\"processors\":[{\"set\":{\"copy_from\":\"_id\",\"field\":\"a\"}}]}}", NULL},
        {"{\"p\":{\"processors\":[{\"lowercase\":{\"field\":\"_id\","
         "\"target_field\":\"a\"}}]}}",
         NULL},
        {"{\"p\":{\"processors\":[{\"rename\":{\"field\":\"a\","
         "\"target_field\":\"_version\"}}]}}",
         "_version"},
        {"{\"p\":{\"processors\":[{\"foreach\":{\"field\":\"a\",\"processor\":{\"set\":"
         "{\"field\":\"_index\",\"value\":\"b\"}}}}]}}",
         "_index"},
        {"{\"p\":{\"processors\":[],\"on_failure\":[{\"set\":{\"field\":\"_index\"}}]}}",
         "_index"},
        {"{\"p\":{\"processors\":[{\"date_index_name\":{\"field\":\"at\"}}]}}", "_index"},
        {"{\"p\":{\"description\":\"_id\",\"processors\":[]}}", NULL},
        {"", NULL},
        {"<html>", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *found = pipeline_find_identity(str_from(cases[i].json));

        if (cases[i].sets == NULL)
            assert_null(found);
        else
            assert_string_equal(found, cases[i].sets);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_processor_that_sets_what_a_document_is_found_by_is_found),
    };

    return cmocka_run_group_tests_name("pipelines", tests, NULL, NULL);
}
