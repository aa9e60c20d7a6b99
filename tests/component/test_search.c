/* The administration against a real search engine, the one at SEARCH_TEST_URL. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/net/http_client.h"
#include "src/search/search.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define V1    STR("millrace_test_v1")
#define V2    STR("millrace_test_v2")
#define ALIAS STR("millrace_test")

#define BODY                                                                                  \
    STR("{\"settings\":{\"number_of_replicas\":0,\"index.gc_deletes\":\"1h\"},\"mappings\":{" \
        "\"_meta\":{\"epoch\":3},\"properties\":{\"n\":{\"type\":\"long\"}}}}")

static struct search *engine;

static int start(void **state)
{
    const char *url = getenv("SEARCH_TEST_URL");

    (void)state;
    if (url == NULL)
        return -1;
    engine = search_new(&(struct search_options){.urls = &url, .n_urls = 1, .verify = true});
    return 0;
}

static int stop_engine(void **state)
{
    (void)state;
    search_free(engine);
    return 0;
}

static void succeeds(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s", err->msg);
}

static int remove_indexes(void **state)
{
    struct err err = {0};

    (void)state;
    return search_delete_index(engine, V1, &err) && search_delete_index(engine, V2, &err) ? 0
                                                                                          : -1;
}

static void the_engine_is_known(void **state)
{
    struct err err = {0};
    struct buf health = {0};

    (void)state;
    succeeds(search_detect(engine, &err), &err);
    assert_int_not_equal(search_engine(engine).flavor, SEARCH_UNKNOWN);
    assert_int_not_equal(search_engine(engine).version, 0);
    succeeds(search_health(engine, &health, &err), &err);
    assert_true(json_valid(buf_str(&health), &err));
    assert_non_null(strstr(health.ptr, "disk_used_percent"));
    buf_free(&health);
}

/* compatibility.override_main_response_version; OpenSearch 3 has it no more. */
static bool say_old_version(const char *value)
{
    struct buf body = {0};
    struct err err = {0};

    buf_printf(&body, "{\"transient\":{\"compatibility.override_main_response_version\":%s}}",
               value);

    const bool ok =
        search_call(engine, "PUT", STR("/_cluster/settings"), buf_str(&body), NULL, &err);

    buf_free(&body);
    return ok;
}

static void an_opensearch_that_says_that_it_is_older_is_known(void **state)
{
    const char *url = getenv("SEARCH_TEST_URL");
    struct err err = {0};

    (void)state;
    succeeds(search_detect(engine, &err), &err);
    if (!say_old_version("true")) {
        assert_int_not_equal(search_engine(engine).version / 10000, 2);
        return;
    }

    struct search *other =
        search_new(&(struct search_options){.urls = &url, .n_urls = 1, .verify = true});
    const bool known = search_detect(other, &err);
    const struct engine e = search_engine(other);

    search_free(other);
    assert_true(say_old_version("null"));
    succeeds(known, &err);
    assert_int_equal(e.flavor, SEARCH_OPENSEARCH);
    assert_int_equal(engine_major(&e), search_engine(engine).version / 10000);
}

static void an_index_is_made_once_and_deleted_often(void **state)
{
    struct err err = {0};
    bool exists, is_alias;

    (void)state;
    succeeds(search_create_index(engine, V1, BODY, &err), &err);
    assert_false(search_create_index(engine, V1, BODY, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_int_equal(err.code, 400);
    assert_non_null(strstr(err.msg, "resource_already_exists_exception"));
    succeeds(search_index_exists(engine, V1, &exists, &is_alias, &err), &err);
    assert_true(exists);
    assert_false(is_alias);
    succeeds(search_delete_index(engine, V1, &err), &err);
    succeeds(search_delete_index(engine, V1, &err), &err);
    succeeds(search_index_exists(engine, V1, &exists, &is_alias, &err), &err);
    assert_false(exists);
}

static void a_wrong_mapping_is_rejected_with_the_engines_reason(void **state)
{
    struct err err = {0};

    (void)state;
    assert_false(search_create_index(
        engine, V1, STR("{\"mappings\":{\"properties\":{\"a\":{\"type\":\"nonsense\"}}}}"),
        &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "nonsense"));
}

static void an_alias_moves_from_version_to_version(void **state)
{
    struct err err = {0};
    bool exists, is_alias;
    struct buf mapping = {0};

    (void)state;
    succeeds(search_create_index(engine, V1, BODY, &err), &err);
    succeeds(search_create_index(engine, V2, BODY, &err), &err);
    succeeds(search_move_alias(engine, ALIAS, V1, &err), &err);
    succeeds(search_move_alias(engine, ALIAS, V1, &err), &err);
    succeeds(search_index_exists(engine, ALIAS, &exists, &is_alias, &err), &err);
    assert_true(exists && is_alias);

    /* Two holders at once, as somebody made it by hand, then one. */
    succeeds(search_call(engine, "PUT", STR("/millrace_test_v2/_alias/millrace_test"),
                         STR("{}"), NULL, &err),
             &err);
    succeeds(search_move_alias(engine, ALIAS, V2, &err), &err);
    succeeds(search_put_mapping(engine, V2,
                                STR("{\"_meta\":{\"epoch\":4},\"properties\":{\"m\":{\"type\":"
                                    "\"keyword\"}}}"),
                                &err),
             &err);

    uint64_t epoch = 0;

    succeeds(search_get_mapping(engine, ALIAS, &mapping, &err), &err);
    assert_true(json_find_u64(buf_str(&mapping), "/_meta/epoch", &epoch));
    assert_int_equal(epoch, 4);
    assert_false(search_delete_index(engine, ALIAS, &err));
    buf_free(&mapping);
}

static void an_alias_cannot_go_to_an_index_that_is_missing(void **state)
{
    struct err err = {0};

    (void)state;
    assert_false(search_move_alias(engine, ALIAS, V1, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_int_equal(err.code, 404);
}

static void documents_are_counted_after_a_refresh(void **state)
{
    struct err err = {0};
    uint64_t count = 99;
    int status = 0;

    (void)state;
    succeeds(search_create_index(engine, V1, BODY, &err), &err);
    succeeds(
        search_put_settings(engine, V1, STR("{\"index\":{\"refresh_interval\":\"-1\"}}"), &err),
        &err);
    succeeds(search_request(engine, "PUT", STR("/millrace_test_v1/_doc/1"), STR("{\"n\":1}"),
                            &status, NULL, &err),
             &err);
    assert_int_equal(status, 201);
    succeeds(search_refresh(engine, V1, &err), &err);
    succeeds(search_count(engine, V1, &count, &err), &err);
    assert_int_equal(count, 1);
}

/* One of two shards has no place until there may be two on a node. */
static void make_half_an_index(void)
{
    struct err err = {0};
    int status = 0;

    succeeds(
        search_request(engine, "PUT", STR("/millrace_test_v1?wait_for_active_shards=0"),
                       STR("{\"settings\":{\"number_of_shards\":2,\"number_of_replicas\":0,"
                           "\"index.routing.allocation.total_shards_per_node\":1}}"),
                       &status, NULL, &err),
        &err);
    assert_int_equal(status, 200);
    succeeds(search_call(engine, "GET",
                         STR("/_cluster/health/millrace_test_v1?wait_for_active_shards=1"
                             "&timeout=20s"),
                         STR(""), NULL, &err),
             &err);
}

static void
what_is_asked_of_an_index_of_which_a_shard_is_away_is_to_be_asked_again(void **state)
{
    struct err err = {0};
    struct buf routings = {0};
    uint64_t count = 99;

    (void)state;
    make_half_an_index();
    assert_false(search_count(engine, V1, &count, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, "1 of the 2 shards of millrace_test_v1"));
    assert_false(search_count_others(engine, V1, &STR("1"), 1, &count, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_false(search_shard_routings(engine, V1, &routings, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, "a shard of millrace_test_v1 is on no node"));

    buf_clear(&routings);
    succeeds(search_put_settings(engine, V1,
                                 STR("{\"index.routing.allocation.total_shards_per_node\":2}"),
                                 &err),
             &err);
    succeeds(
        search_call(engine, "GET",
                    STR("/_cluster/health/millrace_test_v1?wait_for_status=green&timeout=20s"),
                    STR(""), NULL, &err),
        &err);
    succeeds(search_count(engine, V1, &count, &err), &err);
    assert_int_equal(count, 0);
    succeeds(search_shard_routings(engine, V1, &routings, &err), &err);
    assert_non_null(strchr(routings.ptr, ' '));
    buf_free(&routings);
}

static int n_answered;

static void count_answer(void *ctx, const struct http_result *result)
{
    uint64_t took;

    (void)ctx;
    n_answered += result->status == 200 && json_find_u64(result->body, "/took", &took);
}

static void bulks_run_side_by_side_plain_and_compressed(void **state)
{
    struct http_client *client = search_new_client(engine);
    struct err err = {0};
    struct buf body = {0};
    uint64_t count = 0;

    (void)state;
    n_answered = 0;
    succeeds(search_create_index(engine, V1, BODY, &err), &err);
    for (int i = 0; i < 5000; i++)
        buf_printf(&body, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d}\n", i, i);
    for (int i = 0; i < 6; i++)
        http_client_submit(client, &(struct http_request){
                                       .method = "POST",
                                       .path = STR("/millrace_test_v1/_bulk"),
                                       .content_type = "application/x-ndjson",
                                       .body = buf_str(&body),
                                       .gzip = i % 2 == 1,
                                       .done = count_answer,
                                   });
    while (http_client_pending(client) > 0)
        http_client_poll(client, 1000);
    assert_int_equal(n_answered, 6);
    succeeds(search_refresh(engine, V1, &err), &err);
    succeeds(search_count(engine, V1, &count, &err), &err);
    assert_int_equal(count, 5000);
    buf_free(&body);
    http_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_is_known),
        cmocka_unit_test(an_opensearch_that_says_that_it_is_older_is_known),
        cmocka_unit_test_teardown(an_index_is_made_once_and_deleted_often, remove_indexes),
        cmocka_unit_test_teardown(a_wrong_mapping_is_rejected_with_the_engines_reason,
                                  remove_indexes),
        cmocka_unit_test_teardown(an_alias_moves_from_version_to_version, remove_indexes),
        cmocka_unit_test_teardown(an_alias_cannot_go_to_an_index_that_is_missing,
                                  remove_indexes),
        cmocka_unit_test_teardown(documents_are_counted_after_a_refresh, remove_indexes),
        cmocka_unit_test_teardown(
            what_is_asked_of_an_index_of_which_a_shard_is_away_is_to_be_asked_again,
            remove_indexes),
        cmocka_unit_test_teardown(bulks_run_side_by_side_plain_and_compressed, remove_indexes),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("search_engine", tests, start, stop_engine);
}
