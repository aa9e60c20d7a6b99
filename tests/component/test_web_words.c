/* The port of the words: a token in the path, given addresses, and nothing else. */
#include "config.h"

#include "tests/component/web_rig.h"

#include "web/words/access.h"

#define TOKEN "0123456789abcdef"
#define FILE_ "/words/" TOKEN "/ext.dic"

struct port {
    struct server *server;
    struct word_access *access;
    uint16_t number;
};

static void open_port(struct port *p, const struct fixture *f, const char *const *allow,
                      size_t n_allow)
{
    struct server_options opt = options(f);
    struct err err = {0};
    char other[600];

    snprintf(other, sizeof(other), "%s/other.sock", f->folder);
    opt.socket = other;
    opt.listen = "off";
    opt.words_listen = "0.0.0.0:0";
    if (!word_access_open(&p->access, TOKEN, allow, n_allow, &err))
        fail_msg("%s", err.msg);
    opt.api.words = p->access;
    if (!server_start(&p->server, &opt, &err))
        fail_msg("%s", err.msg);
    p->number = (uint16_t)strtoul(strchr(server_words_address(p->server), ':') + 1, NULL, 10);
}

static void close_port(struct port *p)
{
    server_stop(p->server);
    word_access_free(p->access);
}

static int ask_words(const struct port *p, const char *head, const char *more,
                     struct buf *answer)
{
    struct buf text = {0};

    buf_printf(&text, "%s HTTP/1.1\r\nHost: words.example:7702\r\n%s\r\n", head, more);

    const int status = talk(connect_tcp(p->number), buf_str(&text), answer);

    buf_free(&text);
    return status;
}

static void the_words_port_serves_lists_to_who_knows_the_token_and_nothing_else(void **state)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        {"GET " FILE_, 200},
        {"HEAD " FILE_, 200},
        {"GET " FILE_ "?x=1", 200},
        {"POST " FILE_, 405},
        {"GET /words/" TOKEN "/stop.dic", 200},
        {"GET /words/" TOKEN "/ext.txt", 404},
        {"GET /words/" TOKEN "/.dic", 404},
        {"GET /words/" TOKEN, 404},
        {"GET /words/0123456789abcdeX/ext.dic", 404},
        {"GET /words/x/ext.dic", 404},
        {"GET /metrics", 404},
        {"GET /livez", 404},
        {"GET /", 404},
        {"GET /api/v1/words", 404},
        {"POST /api/v1/words", 404},
        {"GET /api/v1/status", 404},
    };
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct port p;

    open_port(&p, f, NULL, 0);
    fake_coordinator.answer = "one\ntwo\n";
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (ask_words(&p, cases[i].head, "", &answer) != cases[i].status)
            fail_msg("%s: %s", cases[i].head, answer.ptr);
    assert_int_equal(ask_socket(f, "GET " FILE_, NULL, &answer), 404);
    assert_int_equal(ask_port(f, "GET " FILE_, &answer), 404);
    close_port(&p);
    buf_free(&answer);
}

static void a_list_comes_with_its_etag_and_the_time_of_its_change(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct port p;

    open_port(&p, f, NULL, 0);
    fake_coordinator.answer = "one\ntwo\n";
    assert_int_equal(ask_words(&p, "GET " FILE_, "", &answer), 200);
    assert_non_null(strstr(answer.ptr, "\r\nETag: \"e1\"\r\n"));
    assert_non_null(strstr(answer.ptr, "\r\nLast-Modified: Thu, 01 Jan 1970 00:00:01 GMT\r\n"));
    assert_non_null(strstr(answer.ptr, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
    assert_non_null(strstr(answer.ptr, "\r\n\r\none\ntwo\n"));
    assert_string_equal(fake_coordinator.call, "serve words ext to 127.0.0.1");
    assert_int_equal(ask_words(&p, "HEAD " FILE_, "", &answer), 200);
    assert_non_null(strstr(answer.ptr, "\r\nETag: \"e1\"\r\n"));
    assert_null(strstr(answer.ptr, "two"));
    assert_int_equal(ask_words(&p, "GET " FILE_, "If-None-Match: \"e0\"\r\n", &answer), 200);
    close_port(&p);
    buf_free(&answer);
}

static void who_has_a_list_already_gets_304_without_it(void **state)
{
    static const char *const heads[] = {"GET " FILE_, "HEAD " FILE_};
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct port p;

    open_port(&p, f, NULL, 0);
    fake_coordinator.answer = "one\ntwo\n";
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        assert_int_equal(ask_words(&p, heads[i], "If-None-Match: \"e1\"\r\n", &answer), 304);
        assert_non_null(strstr(answer.ptr, "\r\nETag: \"e1\"\r\n"));
        assert_null(strstr(answer.ptr, "two"));
    }
    close_port(&p);
    buf_free(&answer);
}

static void without_an_answer_of_the_store_there_is_no_list(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct port p;

    open_port(&p, f, NULL, 0);
    err_set(&fake_coordinator.fail, ERR_RETRY, "the store does not answer");
    assert_int_equal(ask_words(&p, "GET " FILE_, "If-None-Match: \"e1\"\r\n", &answer), 503);
    assert_null(strstr(answer.ptr, "ETag"));
    close_port(&p);
    buf_free(&answer);
}

static void an_address_that_is_not_allowed_gets_nothing(void **state)
{
    static const char *const allow[] = {"10.0.0.0/8"};
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct port p;

    open_port(&p, f, allow, ARRAY_LEN(allow));
    assert_int_equal(ask_words(&p, "GET " FILE_, "", &answer), 403);
    assert_non_null(strstr(answer.ptr, "words.allow"));
    assert_int_equal(ask_words(&p, "GET /words/x/ext.dic", "", &answer), 403);
    assert_string_equal(fake_coordinator.call, "");
    close_port(&p);
    buf_free(&answer);
}

static void the_token_is_not_in_the_log(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    char line[8192];
    struct port p;
    int fds[2];
    ssize_t n;

    open_port(&p, f, NULL, 0);
    assert_int_equal(pipe(fds), 0);
    log_set_fd(fds[1]);
    log_set_level(LOG_DEBUG);
    assert_int_equal(ask_words(&p, "GET " FILE_, "", &answer), 200);
    assert_int_equal(ask_words(&p, "POST " FILE_, "", &answer), 405);
    close_port(&p);
    log_set_level(LOG_ERROR);
    log_set_fd(STDERR_FILENO);
    n = read(fds[0], line, sizeof(line) - 1);
    assert_true(n > 0);
    line[n] = '\0';
    assert_non_null(strstr(line, "request for words"));
    assert_null(strstr(line, TOKEN));
    close(fds[0]);
    close(fds[1]);
    buf_free(&answer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_words_port_serves_lists_to_who_knows_the_token_and_nothing_else),
        TEST(a_list_comes_with_its_etag_and_the_time_of_its_change),
        TEST(who_has_a_list_already_gets_304_without_it),
        TEST(without_an_answer_of_the_store_there_is_no_list),
        TEST(an_address_that_is_not_allowed_gets_nothing),
        TEST(the_token_is_not_in_the_log),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("web_words", tests, NULL, NULL);
}
