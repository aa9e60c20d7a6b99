#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/search/documents.h"
#include "src/search/search.h"
#include "tests/fakes/tiny_http.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ONE \
    "{\"_index\":\"o_v1\",\"_id\":\"1\",\"_version\":7,\"found\":true,\"_source\":{\"a\":1.50}}"
#define TWO   "{\"_id\":\"2\",\"_version\":8,\"_routing\":\"r\\u00e9\",\"found\":true}"
#define THREE "{\"_index\":\"o_v1\",\"_id\":\"3\",\"found\":false}"

static const struct search_wish wishes[] = {
    {STR("1"), STR(""), true},
    {STR("2"), STR("r\xc3\xa9"), false},
    {STR("3"), STR(""), true},
};

struct asked {
    struct arena *arena;
    struct search_document documents[ARRAY_LEN(wishes)];
    struct tiny_http *server;
    struct err err;
    bool ok;
};

static void no_engine_is_asked_for_an_empty_id(void **state)
{
    static const struct tiny_step step = {.body = "{\"docs\":[" ONE "]}"};
    static const struct search_wish some[] = {
        {STR(""), STR("1"), true}, {STR("1"), STR(""), true}, {STR(""), STR(""), false}};
    struct tiny_http *server = tiny_http_start(&step, 1);
    const char *url = tiny_http_url(server);
    struct search *s =
        search_new(&(struct search_options){.urls = &url, .n_urls = 1, .verify = true});
    struct search_document out[ARRAY_LEN(some)];
    struct arena *a = arena_new();
    struct err err = {0};

    (void)state;
    assert_true(search_get_documents(s, STR("o_v1"), &some[2], 1, a, out, &err));
    assert_false(out[0].found);
    assert_int_equal(tiny_http_count(server), 0);
    assert_true(search_get_documents(s, STR("o_v1"), some, ARRAY_LEN(some), a, out, &err));
    assert_string_equal(tiny_http_request(server, 0)->body, "{\"docs\":[{\"_id\":\"1\"}]}");
    assert_false(out[0].found || out[2].found);
    assert_true(out[1].found && out[1].version == 7);
    search_free(s);
    tiny_http_stop(server);
    arena_free(a);
}

static struct asked ask_steps(const struct tiny_step *steps, size_t n)
{
    struct asked q = {.arena = arena_new(), .server = tiny_http_start(steps, n)};
    const char *url = tiny_http_url(q.server);
    struct search *s =
        search_new(&(struct search_options){.urls = &url, .n_urls = 1, .verify = true});

    q.ok = search_get_documents(s, STR("o_v1"), wishes, ARRAY_LEN(wishes), q.arena, q.documents,
                                &q.err);
    search_free(s);
    return q;
}

static struct asked ask(const struct tiny_step *step)
{
    return ask_steps(step, 1);
}

static void end(struct asked *q)
{
    tiny_http_stop(q->server);
    arena_free(q->arena);
}

static void documents_come_in_the_order_of_the_wishes(void **state)
{
    struct asked q = ask(&(struct tiny_step){.body = "{\"docs\":[" ONE "," TWO "," THREE "]}"});
    const struct tiny_request *request = tiny_http_request(q.server, 0);

    (void)state;
    if (!q.ok)
        fail_msg("%s", q.err.msg);
    assert_int_equal(strncmp(request->head, "POST /o_v1/_mget ", 17), 0);
    assert_string_equal(request->body,
                        "{\"docs\":[{\"_id\":\"1\"},{\"_id\":\"2\",\"routing\":\"r\xc3\xa9\","
                        "\"_source\":false},{\"_id\":\"3\"}]}");
    assert_true(q.documents[0].found && q.documents[0].version == 7);
    assert_true(str_equal(q.documents[0].source, STR("{\"a\":1.50}")));
    assert_int_equal(q.documents[0].routing.len, 0);
    assert_true(q.documents[1].found && q.documents[1].version == 8);
    assert_true(str_equal(q.documents[1].routing, STR("r\xc3\xa9")));
    assert_null(q.documents[1].source.ptr);
    assert_false(q.documents[2].found);
    end(&q);
}

static void an_answer_that_is_not_about_each_document_is_no_answer(void **state)
{
    static const struct {
        struct tiny_step step;
        const char *words;
    } cases[] = {
        {{.body = "{\"docs\":[" ONE "," TWO "]}"}, "did not answer with so many"},
        {{.body = "{\"docs\":[" ONE "," TWO "," THREE "," THREE "]}"},
         "did not answer with so many"},
        {{.body = "{\"docs\":[" TWO "," ONE "," THREE "]}"}, "with another one"},
        {{.body = "{\"docs\":[" ONE "," TWO ",{\"_id\":\"3\"}]}"}, "does not say whether"},
        {{.body = "{\"docs\":[" ONE "," TWO ",{\"_id\":\"3\",\"fou"}, "cannot be read"},
        {{.body = "{\"docs\":[" ONE "," TWO ",3]}"}, "did not answer with so many"},
        {{.body = "{}"}, "cannot be read"},
        {{.body = "{\"docs\":[" ONE "," TWO
                  ",{\"_id\":\"3\",\"error\":{\"type\":\"index_closed_exception\","
                  "\"reason\":\"closed\"}}]}"},
         "index_closed_exception: closed"},
        {{.act = TINY_PARTIAL, .body = "{\"docs\":[" ONE "," TWO "," THREE "]}"}, ""},
        {{.status = 503, .body = "{}"}, "503"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct asked q = ask(&cases[i].step);

        if (q.ok || q.err.kind != ERR_RETRY || strstr(q.err.msg, cases[i].words) == NULL)
            fail_msg("case %zu: %s", i, q.ok ? "taken" : q.err.msg);
        end(&q);
    }
}

static void an_answer_that_is_too_long_comes_in_parts(void **state)
{
    const size_t size = ((size_t)64 << 20) + 1;
    char *large = memset(mem_alloc(size + 1, 1), ' ', size);
    const struct tiny_step steps[] = {{.body = large},
                                      {.body = "{\"docs\":[" ONE "]}"},
                                      {.body = large},
                                      {.body = "{\"docs\":[" TWO "]}"},
                                      {.body = "{\"docs\":[" THREE "]}"}};
    struct asked q = ask_steps(steps, ARRAY_LEN(steps));

    (void)state;
    if (!q.ok)
        fail_msg("%s", q.err.msg);
    assert_int_equal(q.err.kind, ERR_NONE);
    assert_int_equal(tiny_http_count(q.server), ARRAY_LEN(steps));
    assert_int_equal(q.documents[0].version, 7);
    assert_int_equal(q.documents[1].version, 8);
    assert_false(q.documents[2].found);
    end(&q);
    q = ask_steps((const struct tiny_step[]){{.body = large}, {.body = large}}, 2);
    assert_false(q.ok); /* one document that is too long is told, and not asked for again */
    assert_non_null(strstr(q.err.msg, "the answer is longer"));
    end(&q);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_in_the_order_of_the_wishes),
        cmocka_unit_test(no_engine_is_asked_for_an_empty_id),
        cmocka_unit_test(an_answer_that_is_not_about_each_document_is_no_answer),
        cmocka_unit_test(an_answer_that_is_too_long_comes_in_parts),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}
