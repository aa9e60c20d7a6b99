#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/net/http_client.h"
#include "src/search/search.h"
#include "tests/fakes/tiny_http.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define OPENSEARCH                                                                            \
    "{\"version\":{\"distribution\":\"opensearch\",\"number\":\"2.19.5\"},\"tagline\":\"The " \
    "OpenSearch Project: https://opensearch.org/\"}"

/* A server with a script and a client of it, for one test. */
struct fixture {
    struct tiny_http *server;
    struct search *search;
    struct err err;
};

static struct fixture play(const struct tiny_step *steps, size_t n)
{
    struct fixture f = {.server = tiny_http_start(steps, n)};
    const char *url = tiny_http_url(f.server);

    f.search = search_new(&(struct search_options){.urls = &url, .n_urls = 1, .verify = true});
    return f;
}

static void end(struct fixture *f)
{
    search_free(f->search);
    tiny_http_stop(f->server);
}

/* Was the i-th request this, with this body? */
static void assert_request(struct fixture *f, size_t i, const char *line, const char *body)
{
    const struct tiny_request *request = tiny_http_request(f->server, i);

    assert_int_equal(strncmp(request->head, line, strlen(line)), 0);
    assert_string_equal(request->body, body);
}

static void an_engine_is_asked_once_who_it_is(void **state)
{
    struct fixture f = play(&(struct tiny_step){.body = OPENSEARCH}, 1);

    (void)state;
    assert_true(search_detect(f.search, &f.err));
    assert_true(search_detect(f.search, &f.err));
    assert_int_equal(tiny_http_count(f.server), 1);
    end(&f);
}

static void errors_name_the_address_the_reason_and_the_fix(void **state)
{
    static const struct {
        struct tiny_step step;
        enum err_kind kind;
        const char *reason;
        const char *fix;
    } cases[] = {
        {{.status = 401, .body = "Unauthorized"},
         ERR_REJECT,
         "401 Unauthorized",
         "search.password_file"},
        {{.status = 403,
          .body =
              "{\"error\":{\"root_cause\":[{\"type\":\"security_exception\",\"reason\":\"no "
              "permissions for [indices:admin/create]\"}]},\"status\":403}"},
         ERR_REJECT,
         "403 security_exception: no permissions for [indices:admin/create]",
         "no right"},
        {{.status = 403,
          .body =
              "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [o] blocked "
              "by: [FORBIDDEN/12/index read-only / allow delete (api)];\"}}"},
         ERR_RETRY,
         "cluster_block_exception: index [o] blocked",
         "make room"},
        {{.status = 403,
          .body =
              "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [o] blocked "
              "by: [FORBIDDEN/10/cluster create-index blocked (api)];\"}}"},
         ERR_RETRY,
         "cluster_block_exception: index [o] blocked",
         "make room"},
        {{.status = 429,
          .body =
              "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [o] blocked "
              "by: [TOO_MANY_REQUESTS/12/index read-only / allow delete (api)];\"}}"},
         ERR_RETRY,
         "429 cluster_block_exception",
         "make room"},
        {{.status = 400,
          .body =
              "{\"error\":{\"type\":\"mapper_parsing_exception\",\"reason\":\"line\\none\"}}"},
         ERR_REJECT,
         "400 mapper_parsing_exception: line one",
         ""},
        {{.status = 503, .body = "{\"error\":\"no master\"}"},
         ERR_RETRY,
         "503 no master",
         "has no leader"},
        {{.status = 500, .body = ""}, ERR_RETRY, "500", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f = play(&cases[i].step, 1);

        assert_false(search_call(f.search, "PUT", STR("/orders_v2"), STR("{}"), NULL, &f.err));
        assert_int_equal(f.err.kind, cases[i].kind);
        assert_int_equal(f.err.code, cases[i].step.status);
        assert_string_equal(f.err.origin, "http");
        assert_non_null(strstr(f.err.msg, tiny_http_url(f.server)));
        assert_non_null(strstr(f.err.msg, "PUT /orders_v2"));
        assert_non_null(strstr(f.err.msg, cases[i].reason));
        assert_non_null(strstr(f.err.msg, cases[i].fix));
        end(&f);
    }
}

static void an_engine_out_of_reach_is_tried_again_later(void **state)
{
    char url[64];
    const char *urls[] = {url};
    struct err err = {0};
    int status;

    (void)state;
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", tiny_http_unused_port());

    struct search *s = search_new(&(struct search_options){.urls = urls, .n_urls = 1});

    assert_false(search_detect(s, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, url));
    assert_false(search_request(s, "GET", STR("/"), STR(""), &status, NULL, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    search_free(s);
}

static void a_status_is_no_error_of_a_plain_request(void **state)
{
    struct fixture f = play(&(struct tiny_step){.status = 418, .body = "short and stout"}, 1);
    struct buf out = {0};
    int status = 0;

    (void)state;
    assert_true(
        search_request(f.search, "POST", STR("/x?y=1"), STR("{}"), &status, &out, &f.err));
    assert_int_equal(status, 418);
    assert_string_equal(out.ptr, "short and stout");
    assert_request(&f, 0, "POST /x?y=1 HTTP/1.1\r\n", "{}");
    buf_free(&out);
    end(&f);
}

static void an_index_that_is_there_is_refused_with_400(void **state)
{
    static const struct tiny_step steps[] = {
        {.body = "{\"acknowledged\":true}"},
        {.status = 400,
         .body = "{\"error\":{\"root_cause\":[{\"type\":\"resource_already_exists_exception\","
                 "\"reason\":\"index [orders_v1/x] already exists\"}]},\"status\":400}"},
    };
    struct fixture f = play(steps, ARRAY_LEN(steps));

    (void)state;
    assert_true(
        search_create_index(f.search, STR("orders_v1"), STR("{\"mappings\":{}}"), &f.err));
    assert_request(&f, 0, "PUT /orders_v1 HTTP/1.1\r\n", "{\"mappings\":{}}");
    assert_false(search_create_index(f.search, STR("orders_v1"), STR("{}"), &f.err));
    assert_int_equal(f.err.kind, ERR_REJECT);
    assert_int_equal(f.err.code, 400);
    assert_non_null(strstr(f.err.msg, "resource_already_exists_exception"));
    end(&f);
}

static void an_index_is_tried_as_a_template_and_only_400_refuses_it(void **state)
{
    static const struct tiny_step steps[] = {
        {.body = "{\"template\":{}}"},
        {.status = 400,
         .body = "{\"error\":{\"type\":\"x\",\"caused_by\":{\"reason\":\"no such type\"}}}"},
        {.status = 403, .body = "{}"},
        {.status = 405, .body = "{\"error\":\"Incorrect HTTP method\"}"},
    };
    static const int codes[] = {400, 403, 405};
    struct fixture f = play(steps, ARRAY_LEN(steps));

    (void)state;
    assert_true(search_try_index(f.search, STR("{\"mappings\":{}}"), 1000, &f.err));
    assert_request(&f, 0, "POST /_index_template/_simulate HTTP/1.1\r\n",
                   "{\"index_patterns\":[\"millrace-try\"],\"priority\":1000000001,"
                   "\"template\":{\"mappings\":{}}}");
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        assert_false(search_try_index(f.search, STR("{}"), 1000, &f.err));
        assert_int_equal(f.err.kind, ERR_REJECT);
        assert_int_equal(f.err.code, codes[i]);
        if (i == 0)
            assert_string_equal(f.err.msg, "no such type");
    }
    end(&f);
}

static void deleting_what_is_missing_is_fine(void **state)
{
    static const struct tiny_step steps[] = {
        {.status = 404, .body = "{}"},
        {.body = "{}"},
        {.status = 400, .body = "{\"error\":\"an alias\"}"}};
    struct fixture f = play(steps, ARRAY_LEN(steps));

    (void)state;
    assert_true(search_delete_index(f.search, STR("orders_v1"), &f.err));
    assert_true(search_delete_index(f.search, STR("orders_v1"), &f.err));
    assert_false(search_delete_index(f.search, STR("orders"), &f.err));
    end(&f);
}

static void a_name_that_means_more_than_one_index_is_never_sent(void **state)
{
    static const struct str names[] = {STR("*"),   STR("_all"), STR("a,b"), STR("orders_*"),
                                       STR(""),    STR("-a"),   STR("a/b"), STR("a?b"),
                                       STR("a b"), STR("<x>"),  STR("a#b"), STR("a\n")};
    struct fixture f = play(&(struct tiny_step){.body = "{}"}, 1);
    bool exists, is_alias;
    uint64_t count;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        f.err = (struct err){0};
        assert_false(search_delete_index(f.search, names[i], &f.err));
        assert_int_equal(f.err.kind, ERR_REJECT);
        assert_false(search_create_index(f.search, names[i], STR("{}"), &f.err));
        assert_false(search_index_exists(f.search, names[i], &exists, &is_alias, &f.err));
        assert_false(search_count(f.search, names[i], &count, &f.err));
        assert_false(search_move_alias(f.search, names[i], STR("a"), &f.err));
        assert_false(search_move_alias(f.search, STR("a"), names[i], &f.err));
    }
    assert_int_equal(tiny_http_count(f.server), 0);
    end(&f);
}

static void names_are_encoded_in_the_path(void **state)
{
    struct fixture f = play(&(struct tiny_step){.body = "{}"}, 1);

    (void)state;
    assert_true(search_refresh(f.search, STR("caf\xc3\xa9%_v1"), &f.err));
    assert_request(&f, 0, "POST /caf%C3%A9%25_v1/_refresh HTTP/1.1\r\n", "");
    end(&f);
}

static void an_alias_is_told_from_an_index(void **state)
{
    static const struct tiny_step steps[] = {{.status = 404}, {.status = 200}, {.status = 404},
                                             {.status = 200}, {.status = 200}, {.status = 503}};
    static const struct {
        bool ok, exists, is_alias;
    } expected[] = {{true, false, false}, {true, true, false}, {true, true, true}};
    struct fixture f = play(steps, ARRAY_LEN(steps));
    bool exists, is_alias;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_true(search_index_exists(f.search, STR("orders"), &exists, &is_alias, &f.err));
        assert_int_equal(exists, expected[i].exists);
        assert_int_equal(is_alias, expected[i].is_alias);
    }
    assert_false(search_index_exists(f.search, STR("orders"), &exists, &is_alias, &f.err));
    assert_int_equal(f.err.kind, ERR_RETRY);
    assert_request(&f, 2, "HEAD /_alias/orders HTTP/1.1\r\n", "");
    end(&f);
}

static void an_alias_moves_away_from_all_its_holders_in_one_call(void **state)
{
    static const struct tiny_step steps[] = {
        {.body = "{\"orders_v1\":{\"aliases\":{}},\"old\\u005fone\":{\"aliases\":{}}}"},
        {.body = "{\"acknowledged\":true}"},
        {.body = "{\"orders_v2\":{\"aliases\":{\"orders\":{}}}}"},
    };
    struct fixture f = play(steps, ARRAY_LEN(steps));

    (void)state;
    assert_true(search_move_alias(f.search, STR("orders"), STR("orders_v2"), &f.err));
    assert_int_equal(tiny_http_count(f.server), 3);
    assert_request(&f, 0, "GET /_alias/orders HTTP/1.1\r\n", "");
    assert_request(&f, 1, "POST /_aliases HTTP/1.1\r\n",
                   "{\"actions\":[{\"remove\":{\"index\":\"orders_v1\",\"alias\":\"orders\"}},"
                   "{\"remove\":{\"index\":\"old_one\",\"alias\":\"orders\"}},"
                   "{\"add\":{\"index\":\"orders_v2\",\"alias\":\"orders\"}}]}");
    end(&f);
}

static bool may_not(void *ctx, struct str name, struct err *err)
{
    buf_append((struct buf *)ctx, name);
    buf_append_char((struct buf *)ctx, ' ');
    return err_set(err, ERR_STOP, "no");
}

/* The alias's owner takes it off an index that is anybody's. */
static void
who_may_change_an_index_is_asked_and_of_an_alias_that_goes_who_may_change_that(void **state)
{
    struct fixture f = play(NULL, 0);
    struct buf asked = {0};

    (void)state;
    search_guard(f.search, may_not, &asked);
    assert_false(search_add_alias(f.search, STR("orders"), STR("orders_v2"), &f.err));
    assert_false(search_move_alias(f.search, STR("orders"), STR("orders_v3"), &f.err));
    assert_false(search_remove_alias(f.search, STR("orders"), STR("stray"), &f.err));
    assert_false(search_delete_index(f.search, STR("orders_v4"), &f.err));
    assert_string_equal(asked.ptr, "orders_v2 orders_v3 orders orders_v4 ");
    buf_free(&asked);
    end(&f);
}

static void an_alias_that_is_there_already_is_left_alone(void **state)
{
    struct fixture f = play(&(struct tiny_step){.body = "{\"orders_v2\":{\"aliases\":{}}}"}, 1);

    (void)state;
    assert_true(search_move_alias(f.search, STR("orders"), STR("orders_v2"), &f.err));
    assert_int_equal(tiny_http_count(f.server), 1);
    end(&f);
}

static void a_move_is_begun_again_when_a_holder_vanishes(void **state)
{
    static const struct tiny_step steps[] = {
        {.body = "{\"orders_v1\":{}}"},
        {.status = 404, .body = "{\"error\":{\"type\":\"index_not_found_exception\"}}"},
        {.status = 404, .body = "{\"error\":\"alias [orders] missing\",\"status\":404}"},
        {.body = "{\"acknowledged\":true}"},
        {.body = "{\"orders_v2\":{}}"},
    };
    struct fixture f = play(steps, ARRAY_LEN(steps));

    (void)state;
    assert_true(search_move_alias(f.search, STR("orders"), STR("orders_v2"), &f.err));
    assert_request(&f, 3, "POST /_aliases HTTP/1.1\r\n",
                   "{\"actions\":[{\"add\":{\"index\":\"orders_v2\",\"alias\":\"orders\"}}]}");
    end(&f);
}

static void a_move_that_never_settles_ends(void **state)
{
    static const struct tiny_step steps[] = {{.body = "{\"orders_v1\":{}}"}};
    struct fixture f = play(steps, ARRAY_LEN(steps));

    (void)state;
    assert_false(search_move_alias(f.search, STR("orders"), STR("orders_v2"), &f.err));
    assert_int_equal(f.err.kind, ERR_RETRY);
    assert_true(tiny_http_count(f.server) <= 7);
    end(&f);
}

static void a_mapping_comes_without_the_name_of_its_index(void **state)
{
    static const struct tiny_step steps[] = {
        {.body = "{\"orders_v2\":{\"mappings\":{\"_meta\":{\"epoch\":3},\"properties\":{}}}}"},
        {.body = "{}"},
    };
    struct fixture f = play(steps, ARRAY_LEN(steps));
    struct buf out = {0};

    (void)state;
    assert_true(search_get_mapping(f.search, STR("orders"), &out, &f.err));
    assert_string_equal(out.ptr, "{\"_meta\":{\"epoch\":3},\"properties\":{}}");
    assert_false(search_get_mapping(f.search, STR("orders"), &out, &f.err));
    assert_int_equal(f.err.kind, ERR_RETRY);
    buf_free(&out);
    end(&f);
}

static void a_count_is_a_number_or_an_error(void **state)
{
    static const struct tiny_step steps[] = {{.body = "{\"count\":12345678901}"},
                                             {.body = "{\"count\":\"x\"}"}};
    struct fixture f = play(steps, ARRAY_LEN(steps));
    uint64_t count = 0;

    (void)state;
    assert_true(search_count(f.search, STR("orders"), &count, &f.err));
    assert_true(count == UINT64_C(12345678901));
    assert_false(search_count(f.search, STR("orders"), &count, &f.err));
    end(&f);
}

static void health_tells_state_and_the_fullest_disk(void **state)
{
    static const struct tiny_step steps[] = {
        {.body = OPENSEARCH},
        {.body = "{\"cluster_name\":\"c\",\"status\":\"yellow\",\"number_of_nodes\":3,"
                 "\"unassigned_shards\":2}"},
        {.body = "[{\"node\":\"a\",\"disk.percent\":\"9\"},{\"node\":\"b\",\"disk.percent\":"
                 "\"91\"},{\"node\":\"UNASSIGNED\",\"disk.percent\":null}]"},
        {.body = "{\"status\":\"green\"}"},
        {.status = 403, .body = "no"},
    };
    struct fixture f = play(steps, ARRAY_LEN(steps));
    struct buf out = {0};

    (void)state;
    assert_true(search_health(f.search, &out, &f.err));
    assert_string_equal(out.ptr,
                        "{\"engine\":\"opensearch\",\"version\":\"2.19.5\",\"cluster\":\"c\","
                        "\"status\":\"yellow\",\"nodes\":3,\"unassigned_shards\":2,"
                        "\"disk_used_percent\":91,\"disk_node\":\"b\"}");
    buf_clear(&out);
    assert_true(search_health(f.search, &out, &f.err));
    assert_string_equal(out.ptr,
                        "{\"engine\":\"opensearch\",\"version\":\"2.19.5\",\"cluster\":null,"
                        "\"status\":\"green\",\"nodes\":null,\"unassigned_shards\":null}");
    buf_free(&out);
    end(&f);
}

static void options_are_copied(void **state)
{
    char url[] = "http://127.0.0.1:9200", user[] = "u", password[] = "p";
    const char *urls[] = {url};
    struct search *s = search_new(&(struct search_options){
        .urls = urls, .n_urls = 1, .user = user, .password = password, .verify = true});
    const struct search_options *own = search_get_options(s);

    (void)state;
    url[0] = user[0] = password[0] = 'X';
    urls[0] = NULL;
    assert_string_equal(own->urls[0], "http://127.0.0.1:9200");
    assert_string_equal(own->user, "u");
    assert_string_equal(own->password, "p");
    assert_null(own->api_key);
    assert_true(own->verify);
    http_client_free(search_new_client(s));
    search_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_is_asked_once_who_it_is),
        cmocka_unit_test(errors_name_the_address_the_reason_and_the_fix),
        cmocka_unit_test(an_engine_out_of_reach_is_tried_again_later),
        cmocka_unit_test(a_status_is_no_error_of_a_plain_request),
        cmocka_unit_test(an_index_that_is_there_is_refused_with_400),
        cmocka_unit_test(an_index_is_tried_as_a_template_and_only_400_refuses_it),
        cmocka_unit_test(deleting_what_is_missing_is_fine),
        cmocka_unit_test(a_name_that_means_more_than_one_index_is_never_sent),
        cmocka_unit_test(names_are_encoded_in_the_path),
        cmocka_unit_test(an_alias_is_told_from_an_index),
        cmocka_unit_test(an_alias_moves_away_from_all_its_holders_in_one_call),
        cmocka_unit_test(
            who_may_change_an_index_is_asked_and_of_an_alias_that_goes_who_may_change_that),
        cmocka_unit_test(an_alias_that_is_there_already_is_left_alone),
        cmocka_unit_test(a_move_is_begun_again_when_a_holder_vanishes),
        cmocka_unit_test(a_move_that_never_settles_ends),
        cmocka_unit_test(a_mapping_comes_without_the_name_of_its_index),
        cmocka_unit_test(a_count_is_a_number_or_an_error),
        cmocka_unit_test(health_tells_state_and_the_fullest_disk),
        cmocka_unit_test(options_are_copied),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
