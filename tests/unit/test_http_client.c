#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/net/http_client.h"
#include "tests/fakes/tiny_http.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static struct http_client *client_of(const char *url)
{
    struct http_options opt = {.urls = &url, .n_urls = 1, .verify = true};

    return http_client_new(&opt);
}

/* The end of one asynchronous request, kept. */
struct ending {
    struct http_result result;
    struct buf body;
    size_t n;
};

static void note_ending(void *ctx, const struct http_result *result)
{
    struct ending *e = ctx;

    e->result = *result;
    buf_clear(&e->body);
    buf_append(&e->body, result->body);
    e->result.body = buf_str(&e->body);
    e->n++;
}

static void submit(struct http_client *c, struct ending *e, struct str body)
{
    http_client_submit(c, &(struct http_request){
                              .method = "POST",
                              .path = STR("/_bulk"),
                              .body = body,
                              .content_type = "application/x-ndjson",
                              .timeout_ms = 20000,
                              .done = note_ending,
                              .ctx = e,
                          });
}

static void wait_for_all(struct http_client *c)
{
    int64_t deadline = clock_mono_ms() + 20000;

    while (http_client_pending(c) > 0 && clock_mono_ms() < deadline)
        http_client_poll(c, 100);
    assert_int_equal(http_client_pending(c), 0);
}

static void post(struct http_client *c, struct ending *e, struct str body)
{
    submit(c, e, body);
    wait_for_all(c);
    assert_int_equal(e->n, 1);
    e->n = 0;
}

static void an_answer_comes_with_its_status_and_body(void **state)
{
    static const struct tiny_step steps[] = {
        {.body = "{\"errors\":false}"},
        {.status = 429, .headers = "Retry-After: 7\r\n", .body = "slow down"},
    };
    struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
    struct http_client *c = client_of(tiny_http_url(s));
    struct ending e = {0};

    (void)state;
    post(c, &e, STR("{\"index\":{}}\n{}\n"));
    assert_int_equal(e.result.outcome, HTTP_ANSWERED);
    assert_int_equal(e.result.status, 200);
    assert_int_equal(e.result.retry_after_ms, -1);
    assert_string_equal(e.body.ptr, "{\"errors\":false}");

    const struct tiny_request *request = tiny_http_request(s, 0);

    assert_string_equal(request->body, "{\"index\":{}}\n{}\n");
    assert_int_equal(strncmp(request->head, "POST /_bulk HTTP/1.1\r\n", 22), 0);
    assert_non_null(strstr(request->head, "\r\nContent-Type: application/x-ndjson\r\n"));
    assert_null(strstr(request->head, "Expect"));
    assert_null(strstr(request->head, "Authorization"));

    post(c, &e, STR("x"));
    assert_int_equal(e.result.status, 429);
    assert_int_equal(e.result.retry_after_ms, 7000);
    assert_string_equal(e.body.ptr, "slow down");
    assert_int_equal(tiny_http_connections(s), 1);
    buf_free(&e.body);
    http_client_free(c);
    tiny_http_stop(s);
}

static void many_requests_run_at_a_time(void **state)
{
    static const struct tiny_step steps[] = {{.body = "ok"}};
    struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
    struct http_client *c = client_of(tiny_http_url(s));
    struct ending endings[50] = {0};
    struct buf big = {0};

    (void)state;
    for (int i = 0; i < 300000; i++)
        buf_append_i64(&big, i);
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        submit(c, &endings[i], buf_str(&big));
    assert_int_equal(http_client_pending(c), ARRAY_LEN(endings));
    wait_for_all(c);
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        const struct tiny_request *request = tiny_http_request(s, i);

        assert_int_equal(endings[i].n, 1);
        assert_int_equal(endings[i].result.status, 200);
        assert_true(str_equal((struct str){request->body, request->body_len}, buf_str(&big)));
        buf_free(&endings[i].body);
    }
    buf_free(&big);
    http_client_free(c);
    tiny_http_stop(s);
}

static void a_refused_connection_is_not_sent_and_says_what_to_do(void **state)
{
    char url[64];
    struct ending e = {0};

    (void)state;
    snprintf(url, sizeof(url), "http://u:secret@127.0.0.1:%u", tiny_http_unused_port());

    struct http_client *c = client_of(url);

    post(c, &e, STR("x"));
    assert_int_equal(e.result.outcome, HTTP_NOT_SENT);
    assert_int_equal(e.result.status, 0);
    assert_int_equal(e.result.err.kind, ERR_RETRY);
    assert_non_null(strstr(e.result.err.msg, "http://127.0.0.1:"));
    assert_non_null(strstr(e.result.err.msg, "is the search engine running"));
    assert_null(strstr(e.result.err.msg, "secret"));
    assert_false(http_client_has_other(c, ""));
    buf_free(&e.body);
    http_client_free(c);
}

static void what_cannot_be_an_address_is_not_sent(void **state)
{
    static const char *const urls[] = {"ftp://127.0.0.1/", "http://no-such-host.invalid:9200",
                                       "http://bad host", "file:///etc/passwd"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct http_client *c = client_of(urls[i]);
        struct ending e = {0};

        post(c, &e, STR("x"));
        assert_int_equal(e.result.outcome, HTTP_NOT_SENT);
        buf_free(&e.body);
        http_client_free(c);
    }
}

static void after_the_body_was_sent_silence_and_broken_answers_are_unknown(void **state)
{
    static const struct tiny_step faults[] = {
        {.act = TINY_CUT},
        {.act = TINY_RESET},
        {.act = TINY_PARTIAL, .body = "{\"items\":["},
        {.act = TINY_SILENT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct tiny_http *s = tiny_http_start(&faults[i], 1);
        struct http_client *c = client_of(tiny_http_url(s));
        struct ending e = {0};

        http_client_submit(c, &(struct http_request){.method = "POST",
                                                     .path = STR("/_bulk"),
                                                     .body = STR("x"),
                                                     .timeout_ms = 8000,
                                                     .done = note_ending,
                                                     .ctx = &e});
        wait_for_all(c);
        assert_int_equal(e.n, 1);
        assert_int_equal(e.result.outcome, HTTP_UNKNOWN);
        assert_int_equal(e.result.status, 0);
        assert_int_equal(e.result.body.len, 0);
        assert_int_equal(tiny_http_count(s), 1);
        buf_free(&e.body);
        http_client_free(c);
        tiny_http_stop(s);
    }
}

static void a_port_that_speaks_mysql_is_named(void **state)
{
    struct tiny_http *s = tiny_http_start(&(struct tiny_step){.act = TINY_FOREIGN}, 1);
    struct http_client *c = client_of(tiny_http_url(s));
    struct ending e = {0};

    (void)state;
    post(c, &e, STR("x"));
    assert_int_equal(e.result.err.kind, ERR_RETRY);
    assert_non_null(strstr(e.result.err.msg, "this port does not speak HTTP"));
    assert_null(strstr(e.result.err.msg, "begins with http"));
    buf_free(&e.body);
    http_client_free(c);
    tiny_http_stop(s);
}

/* libcurl alone would send it again on a new connection, and nobody would know of the first
 * copy. */
static void a_request_is_not_repeated_when_a_kept_connection_breaks(void **state)
{
    static const struct tiny_step steps[] = {{.body = "ok"}, {.act = TINY_CUT}, {.body = "ok"}};
    struct buf big = {0};

    (void)state;
    for (int i = 0; i < 1000000; i++)
        buf_append_char(&big, 'x');

    const struct str bodies[] = {STR("x"), buf_str(&big)};

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
        struct http_client *c = client_of(tiny_http_url(s));
        struct ending e = {0};

        post(c, &e, STR("first"));
        assert_int_equal(e.result.outcome, HTTP_ANSWERED);
        post(c, &e, bodies[i]);
        assert_int_equal(e.result.outcome, HTTP_UNKNOWN);
        assert_int_equal(tiny_http_count(s), 2);
        buf_free(&e.body);
        http_client_free(c);
        tiny_http_stop(s);
    }
    buf_free(&big);
}

static void an_answer_that_is_too_long_is_unknown(void **state)
{
    static const struct tiny_step steps[] = {{.body = "0123456789"}, {.body = "01234567890"}};
    struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
    const char *url = tiny_http_url(s);
    struct http_client *c = http_client_new(
        &(struct http_options){.urls = &url, .n_urls = 1, .verify = true, .answer_max = 10});
    struct ending e = {0};

    (void)state;
    post(c, &e, STR("x"));
    assert_int_equal(e.result.outcome, HTTP_ANSWERED);
    post(c, &e, STR("x"));
    assert_int_equal(e.result.outcome, HTTP_UNKNOWN);
    assert_non_null(strstr(e.result.err.msg, "the answer is longer than 10 bytes"));
    buf_free(&e.body);
    http_client_free(c);
    tiny_http_stop(s);
}

static void bodies_are_compressed_on_request(void **state)
{
    static const struct tiny_step steps[] = {{.body = "ok"}};
    struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
    struct http_client *c = client_of(tiny_http_url(s));
    struct buf body = {0};
    struct ending e = {0};

    (void)state;
    for (int i = 0; i < 20000; i++)
        buf_append_i64(&body, i);
    http_client_submit(c, &(struct http_request){.method = "POST",
                                                 .path = STR("/_bulk"),
                                                 .body = buf_str(&body),
                                                 .gzip = true,
                                                 .done = note_ending,
                                                 .ctx = &e});
    wait_for_all(c);
    assert_int_equal(e.result.status, 200);

    const struct tiny_request *request = tiny_http_request(s, 0);
    struct buf plain = {0};
    z_stream z = {.next_in = (Bytef *)request->body, .avail_in = (uInt)request->body_len};

    assert_non_null(strstr(request->head, "\r\nContent-Encoding: gzip\r\n"));
    assert_true(request->body_len < body.len);
    buf_reserve(&plain, body.len);
    z.next_out = (Bytef *)plain.ptr;
    z.avail_out = (uInt)plain.cap;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    plain.len = z.total_out;
    inflateEnd(&z);
    assert_true(str_equal(buf_str(&plain), buf_str(&body)));

    /* The next one, uncompressed, on the same handle. */
    e.n = 0;
    post(c, &e, STR("small"));
    assert_string_equal(tiny_http_request(s, 1)->body, "small");
    assert_null(strstr(tiny_http_request(s, 1)->head, "Content-Encoding"));
    buf_free(&plain);
    buf_free(&body);
    buf_free(&e.body);
    http_client_free(c);
    tiny_http_stop(s);
}

static void rights_are_sent_as_configured(void **state)
{
    static const struct tiny_step steps[] = {{.body = "ok"}};
    struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
    const char *url = tiny_http_url(s);
    struct http_options options[] = {
        {.urls = &url, .n_urls = 1, .user = "elastic", .password = "a:b"},
        {.urls = &url, .n_urls = 1, .api_key = "abc=\r\nX-Evil: 1"},
    };
    static const char *const expected[] = {"\r\nAuthorization: Basic ZWxhc3RpYzphOmI=\r\n",
                                           "\r\nAuthorization: ApiKey abc=\r\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        struct http_client *c = http_client_new(&options[i]);
        struct http_result result;
        struct err err = {0};

        assert_true(http_client_call(
            c, &(struct http_request){.method = "GET", .path = STR("/")}, &result, NULL, &err));
        assert_non_null(strstr(tiny_http_request(s, i)->head, expected[i]));
        assert_null(strstr(tiny_http_request(s, i)->head, "Evil"));
        http_client_free(c);
    }
    tiny_http_stop(s);
}

static void a_call_waits_for_its_answer(void **state)
{
    static const struct tiny_step steps[] = {{.body = "{}"},
                                             {.status = 404, .body = "missing"},
                                             {.status = 200, .body = "not shown"},
                                             {.body = "deleted"}};
    static const struct {
        const char *method;
        const char *line;
        int status;
        const char *body;
    } calls[] = {
        {"GET", "GET /a?b=c HTTP/1.1\r\n", 200, "{}"},
        {"PUT", "PUT /a?b=c HTTP/1.1\r\n", 404, "missing"},
        {"HEAD", "HEAD /a?b=c HTTP/1.1\r\n", 200, ""},
        {"DELETE", "DELETE /a?b=c HTTP/1.1\r\n", 200, "deleted"},
    };
    struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
    struct http_client *c = client_of(tiny_http_url(s));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct http_request req = {.method = calls[i].method, .path = STR("/a?b=c")};
        struct http_result result;
        struct buf out = {0};
        struct err err = {0};

        if (strcmp(calls[i].method, "PUT") == 0)
            req.body = STR("{\"x\":1}");
        buf_append(&out, STR(""));
        assert_true(http_client_call(c, &req, &result, &out, &err));
        assert_int_equal(result.status, calls[i].status);
        assert_string_equal(out.ptr, calls[i].body);
        assert_int_equal(
            strncmp(tiny_http_request(s, i)->head, calls[i].line, strlen(calls[i].line)), 0);
        assert_true(str_equal(str_from(tiny_http_request(s, i)->body), req.body));
        buf_free(&out);
    }
    assert_int_equal(tiny_http_connections(s), 1);
    http_client_free(c);
    tiny_http_stop(s);
}

static void a_path_goes_as_it_is(void **state)
{
    static const struct tiny_step steps[] = {{.body = "{}"}};
    static const char line[] = "GET /orders/_doc/..?_source=false HTTP/1.1\r\n";
    struct tiny_http *s = tiny_http_start(steps, ARRAY_LEN(steps));
    struct http_client *c = client_of(tiny_http_url(s));
    struct http_request req = {.method = "GET", .path = STR("/orders/_doc/..?_source=false")};
    struct http_result result;
    struct err err = {0};

    (void)state;
    assert_true(http_client_call(c, &req, &result, NULL, &err));
    assert_int_equal(strncmp(tiny_http_request(s, 0)->head, line, strlen(line)), 0);
    http_client_free(c);
    tiny_http_stop(s);
}

static void a_call_goes_to_the_next_address_only_if_nothing_can_be_done_twice(void **state)
{
    static const struct tiny_step cut[] = {{.act = TINY_CUT}};
    static const struct tiny_step fine[] = {{.body = "ok"}};
    struct tiny_http *bad = tiny_http_start(cut, 1);
    struct tiny_http *good = tiny_http_start(fine, 1);
    char closed[64];
    const char *urls[] = {closed, tiny_http_url(bad), tiny_http_url(good)};
    struct http_options opt = {.urls = urls, .n_urls = 3};
    struct http_result result;
    struct err err = {0};

    (void)state;
    snprintf(closed, sizeof(closed), "http://127.0.0.1:%u", tiny_http_unused_port());

    struct http_client *c = http_client_new(&opt);

    /* A GET may: past the closed port and the server that hangs up. */
    assert_true(http_client_call(c, &(struct http_request){.method = "GET", .path = STR("/")},
                                 &result, NULL, &err));
    assert_string_equal(result.address, tiny_http_url(good));
    assert_true(http_client_has_other(c, ""));
    assert_false(http_client_has_other(c, result.address));
    http_client_free(c);

    /* A POST stops at the server that may have acted on it. */
    c = http_client_new(&opt);
    assert_false(http_client_call(
        c, &(struct http_request){.method = "POST", .path = STR("/"), .body = STR("x")},
        &result, NULL, &err));
    assert_int_equal(result.outcome, HTTP_UNKNOWN);
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, tiny_http_url(bad)));
    assert_int_equal(tiny_http_count(good), 1);
    http_client_free(c);
    tiny_http_stop(bad);
    tiny_http_stop(good);
}

static void *wake(void *arg)
{
    http_client_wakeup(arg);
    return NULL;
}

static void a_waiting_poll_is_woken(void **state)
{
    struct http_client *c = client_of("http://127.0.0.1:1");
    int64_t start = clock_mono_ms();
    pthread_t thread = thread_start("waker", wake, c);

    (void)state;
    assert_int_equal(http_client_poll(c, 60000), 0);
    assert_true(clock_mono_ms() - start < 30000);
    pthread_join(thread, NULL);
    http_client_free(c);
}

static void freeing_gives_up_what_is_pending(void **state)
{
    static const struct tiny_step steps[] = {{.act = TINY_SILENT}};
    struct tiny_http *s = tiny_http_start(steps, 1);
    struct http_client *c = client_of(tiny_http_url(s));
    struct ending e = {0};

    (void)state;
    submit(c, &e, STR("x"));
    submit(c, &e, STR("y"));
    http_client_poll(c, 10);
    http_client_free(c);
    assert_int_equal(e.n, 0);
    tiny_http_stop(s);
}

static void *call_often(void *arg)
{
    for (int i = 0; i < 50; i++) {
        struct http_result result;
        struct err err = {0};

        if (!http_client_call(arg, &(struct http_request){.method = "GET", .path = STR("/")},
                              &result, NULL, &err))
            return NULL;
    }
    return arg;
}

static void calls_from_many_threads_do_not_disturb_each_other(void **state)
{
    static const struct tiny_step steps[] = {{.body = "ok"}};
    struct tiny_http *s = tiny_http_start(steps, 1);
    struct http_client *c = client_of(tiny_http_url(s));
    pthread_t threads[8];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        threads[i] = thread_start("caller", call_often, c);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *result;

        pthread_join(threads[i], &result);
        assert_ptr_equal(result, c);
    }
    assert_int_equal(tiny_http_count(s), 50 * ARRAY_LEN(threads));
    assert_true(tiny_http_connections(s) <= ARRAY_LEN(threads));
    http_client_free(c);
    tiny_http_stop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_with_its_status_and_body),
        cmocka_unit_test(many_requests_run_at_a_time),
        cmocka_unit_test(a_refused_connection_is_not_sent_and_says_what_to_do),
        cmocka_unit_test(what_cannot_be_an_address_is_not_sent),
        cmocka_unit_test(after_the_body_was_sent_silence_and_broken_answers_are_unknown),
        cmocka_unit_test(a_port_that_speaks_mysql_is_named),
        cmocka_unit_test(a_request_is_not_repeated_when_a_kept_connection_breaks),
        cmocka_unit_test(an_answer_that_is_too_long_is_unknown),
        cmocka_unit_test(bodies_are_compressed_on_request),
        cmocka_unit_test(rights_are_sent_as_configured),
        cmocka_unit_test(a_call_waits_for_its_answer),
        cmocka_unit_test(a_path_goes_as_it_is),
        cmocka_unit_test(a_call_goes_to_the_next_address_only_if_nothing_can_be_done_twice),
        cmocka_unit_test(a_waiting_poll_is_woken),
        cmocka_unit_test(freeing_gives_up_what_is_pending),
        cmocka_unit_test(calls_from_many_threads_do_not_disturb_each_other),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("http_client", tests, NULL, NULL);
}
