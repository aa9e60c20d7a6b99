#include "config.h"

#include "tests/component/web_rig.h"

#include "src/base/clock.h"
#include "web/stream/streams.h"

#include <poll.h>

/* Streams of the status: what they tell, whom, and how many there may be. */

#define PLACES  16
#define LONG_S  60
#define SOON_MS 30000
#define BIG     ((size_t)1 << 20)

static int set_up_few(void **state)
{
    return set_up_limits(state, LONG_S, PLACES);
}

/* ---- a reader ---- */

struct stream_client {
    int fd;
    struct buf got; /* what came and was not looked at */
    bool is_over;
};

static void send_head(int fd, const char *method, const char *fields)
{
    struct buf b = {0};

    buf_printf(&b, "%s /api/v1/events HTTP/1.1\r\nHost: localhost\r\n%s\r\n", method, fields);
    assert_int_equal(send(fd, b.ptr, b.len, MSG_NOSIGNAL), b.len);
    buf_free(&b);
}

static struct stream_client open_stream(int fd, const char *fields)
{
    send_head(fd, "GET", fields);
    return (struct stream_client){.fd = fd};
}

static void close_stream(struct stream_client *c)
{
    if (c->fd != -1)
        close(c->fd);
    buf_free(&c->got);
}

/* Read what is there, or comes soon. */
static void read_more(struct stream_client *c)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    static char piece[1 << 16];
    ssize_t n;

    if (poll(&p, 1, SOON_MS) != 1)
        fail_msg("nothing came; so far:\n%s", c->got.len > 0 ? c->got.ptr : "");
    n = recv(c->fd, piece, sizeof(piece), 0);
    c->is_over = n <= 0;
    if (n > 0)
        buf_append(&c->got, (struct str){piece, (size_t)n});
}

static const char *find(const struct stream_client *c, const char *text)
{
    return c->got.len > 0 ? strstr(c->got.ptr, text) : NULL;
}

/* Wait for text, and drop everything up to its end. */
static void expect(struct stream_client *c, const char *text)
{
    while (find(c, text) == NULL) {
        if (c->is_over)
            fail_msg("it ended before \"%s\":\n%s", text, c->got.len > 0 ? c->got.ptr : "");
        read_more(c);
    }

    struct buf rest = {0};

    buf_append(&rest, str_from(find(c, text) + strlen(text)));
    buf_free(&c->got);
    c->got = rest;
}

/* The id of the next message. */
static void read_id(struct stream_client *c, char out[64])
{
    expect(c, "id: ");
    while (find(c, "\n") == NULL)
        read_more(c);
    snprintf(out, 64, "%.*s", (int)(find(c, "\n") - c->got.ptr), c->got.ptr);
}

static void expect_end(struct stream_client *c)
{
    while (!c->is_over)
        read_more(c);
}

/* ---- what it tells ---- */

static void the_state_comes_first_and_then_only_what_differs(void **state)
{
    const struct fixture *f = *state;

    fake_coordinator_set_answer("{\"n\":1}\n");

    struct stream_client c = open_stream(connect_unix(f->socket), "");

    expect(&c, "HTTP/1.1 200 OK\r\n");
    expect(&c, "\r\n\r\n");
    expect(&c, "event: status\ndata: {\"n\":1}\n\n");
    for (int n = 2; n < 5; n++) {
        char text[32], line[64];

        snprintf(text, sizeof(text), "{\"n\":%d}", n);
        snprintf(line, sizeof(line), "data: %s\n\n", text);
        fake_coordinator_set_answer(text);
        while (find(&c, line) == NULL)
            read_more(&c);
        fake_coordinator_set_answer(NULL); /* the text ends */
        expect(&c, "data: {}\n\n");
    }
    assert_null(find(&c, "data: "));
    close_stream(&c);
}

static void each_of_its_fields_says_that_nobody_may_keep_it(void **state)
{
    const struct fixture *f = *state;
    struct stream_client c = open_stream(connect_unix(f->socket), "");

    while (find(&c, "\r\n\r\n") == NULL)
        read_more(&c);
    assert_has(c.got, "Content-Type: text/event-stream\r\n");
    assert_has(c.got, "Cache-Control: no-store\r\n");
    assert_has(c.got, "X-Accel-Buffering: no\r\n");
    expect(&c, "retry: 2000\n\n");
    close_stream(&c);
}

static void who_has_the_state_gets_the_next_one_first(void **state)
{
    const struct fixture *f = *state;
    char id[64], fields[128];

    fake_coordinator_set_answer("{\"n\":1}");

    struct stream_client a = open_stream(connect_unix(f->socket), "");

    read_id(&a, id);
    snprintf(fields, sizeof(fields), "Last-Event-ID: %s\r\n", id);

    struct stream_client b = open_stream(connect_unix(f->socket), fields);

    expect(&b, "retry: 2000\n\n");
    fake_coordinator_set_answer("{\"n\":2}");
    while (find(&b, "\"n\":2") == NULL)
        read_more(&b);
    assert_null(find(&b, "\"n\":1"));
    fake_coordinator_set_answer(NULL);
    expect(&a, "data: {}");
    close_stream(&a);
    close_stream(&b);
}

static void who_has_another_state_gets_the_present_one_first(void **state)
{
    static const char *const others[] = {"0123456789abcdef-1", "x", "-1", "0123456789abcdef-"};
    const struct fixture *f = *state;

    fake_coordinator_set_answer("{\"n\":1}");
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        char fields[128];

        snprintf(fields, sizeof(fields), "Last-Event-ID: %s\r\n", others[i]);

        struct stream_client c = open_stream(connect_unix(f->socket), fields);

        expect(&c, "data: {\"n\":1}\n\n");
        close_stream(&c);
    }
    fake_coordinator_set_answer(NULL);
}

static void a_state_of_several_lines_is_one_line(void **state)
{
    const struct fixture *f = *state;

    fake_coordinator_set_answer("{\"n\":\r\n1,\n\"event\":2}\n\n");

    struct stream_client c = open_stream(connect_unix(f->socket), "");

    expect(&c, "data: {\"n\":  1, \"event\":2}\n\n");
    fake_coordinator_set_answer(NULL);
    close_stream(&c);
}

/* As many states as come within two seconds; then the reader reads. */
static void a_slow_reader_gets_the_newest_state_and_no_queue(void **state)
{
    const struct fixture *f = *state;
    char *texts[2] = {mem_alloc(BIG, 1), mem_alloc(BIG, 1)};
    const int64_t until_ms = clock_mono_ms() + 4 * STREAMS_TICK_MS;
    size_t n = 0, came = 0;

    for (size_t i = 0; i < 2; i++) {
        memset(texts[i], ' ', BIG - 1);
        memcpy(texts[i], i == 0 ? "{\"n\":0," : "{\"n\":1,", 7);
        memcpy(texts[i] + BIG - 20, "\"end\":true}", 11);
    }

    fake_coordinator_set_answer(texts[n++ % 2]);

    struct stream_client c = open_stream(connect_unix(f->socket), "");

    for (; clock_mono_ms() < until_ms; poll(NULL, 0, 20))
        fake_coordinator_set_answer(texts[n++ % 2]);
    fake_coordinator_set_answer("{\"newest\":true}");
    while (find(&c, "newest") == NULL)
        read_more(&c);
    for (const char *at = c.got.ptr; (at = strstr(at, "event: status")) != NULL; at++)
        came++;
    assert_in_range(came, 2, 3); /* what was on its way, what was newer then, the newest */
    fake_coordinator_set_answer(NULL);
    close_stream(&c);
    free(texts[0]);
    free(texts[1]);
}

static void head_has_the_fields_and_no_events(void **state)
{
    const struct fixture *f = *state;
    struct stream_client c = {.fd = connect_unix(f->socket)};

    send_head(c.fd, "HEAD", "");
    expect_end(&c);
    assert_has(c.got, "Content-Type: text/event-stream\r\n");
    assert_null(find(&c, "retry"));
    close_stream(&c);
}

/* ---- whom ---- */

static void a_stream_ends_with_its_token(void **state)
{
    const struct fixture *f = *state;
    struct stream_client mine =
        open_stream(connect_tcp(f->port), "Authorization: Bearer mrt_viewer\r\n");
    struct stream_client admins = open_stream(connect_unix(f->socket), "");

    expect(&mine, "data: {}\n\n");
    expect(&admins, "data: {}\n\n");
    __atomic_store_n(&fake_coordinator.tokens_ended, true, __ATOMIC_RELEASE);
    expect_end(&mine);
    fake_coordinator_set_answer("{\"n\":1}");
    expect(&admins, "data: {\"n\":1}\n\n"); /* the socket's users need none */
    fake_coordinator_set_answer(NULL);
    close_stream(&mine);
    close_stream(&admins);
}

static void who_has_no_token_gets_none(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_port(f, "GET /api/v1/events", &answer), 401);
    assert_int_equal(ask_socket(f, "GET /api/v1/events?x=1", NULL, &answer), 400);
    assert_int_equal(ask_socket(f, "POST /api/v1/events", "{}", &answer), 405);
    buf_free(&answer);
}

/* ---- how many ---- */

static void an_address_has_its_share_and_gives_it_back(void **state)
{
    const struct fixture *f = *state;
    static struct stream_client all[STREAMS_OF_SENDER];
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i] = i % 2 == 0 ? open_stream(connect_unix(f->socket), "")
                            : open_stream(connect_tcp(f->port),
                                          "Authorization: Bearer mrt_viewer\r\n");
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        expect(&all[i], "data: {}\n\n");
    assert_int_equal(ask_socket(f, "GET /api/v1/events", NULL, &answer), 503);
    assert_has(answer, "Retry-After: ");
    assert_has(answer, "your address has 96 streams");
    assert_int_equal(ask_socket(f, "GET /api/v1/status", NULL, &answer), 200);
    assert_int_equal(ask_port(f, "GET /livez", &answer), 200);

    /* The place of one who goes is free soon. */
    close(all[0].fd);
    for (int64_t until_ms = clock_mono_ms() + SOON_MS;;) {
        struct stream_client again = open_stream(connect_unix(f->socket), "");
        bool ok;

        while (find(&again, "\r\n") == NULL)
            read_more(&again);
        ok = strncmp(again.got.ptr, "HTTP/1.1 200", 12) == 0;
        close_stream(&again);
        if (ok)
            break;
        assert_true(clock_mono_ms() < until_ms);
    }
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (i == 0)
            all[i].fd = -1;
        close_stream(&all[i]);
    }
    buf_free(&answer);
}

static void nobody_takes_the_place_of_a_stream_and_no_stream_takes_a_place(void **state)
{
    const struct fixture *f = *state;
    struct stream_client streams[2 * PLACES];
    struct buf answer = {0};
    int slow[2 * PLACES];

    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        streams[i] = open_stream(connect_tcp(f->port), "Authorization: Bearer mrt_viewer\r\n");
        expect(&streams[i], "data: {}\n\n");
    }
    for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
        slow[i] = connect_tcp(f->port);
        assert_int_equal(send(slow[i], "G", 1, MSG_NOSIGNAL), 1);
    }
    assert_int_equal(ask_port(f, "GET /livez", &answer), 200);
    fake_coordinator_set_answer("{\"n\":1}");
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        expect(&streams[i], "data: {\"n\":1}\n\n");
        close_stream(&streams[i]);
    }
    fake_coordinator_set_answer(NULL);
    for (size_t i = 0; i < ARRAY_LEN(slow); i++)
        close(slow[i]);
    buf_free(&answer);
}

/* tear_down() would wait for ever. */
static void the_server_stops_while_streams_are_read_and_not_read(void **state)
{
    struct fixture *f = *state;
    char *big = mem_alloc(BIG, 1);

    memset(big, '1', BIG - 1);
    fake_coordinator_set_answer(big);

    struct stream_client stuck = open_stream(connect_unix(f->socket), "");

    expect(&stuck, "data: 1");
    fake_coordinator_set_answer(NULL);

    struct stream_client idle = open_stream(connect_unix(f->socket), "");

    expect(&idle, "data: {}\n\n");
    server_stop(f->server);
    f->server = NULL;
    expect_end(&idle);
    close_stream(&idle);
    close_stream(&stuck);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_state_comes_first_and_then_only_what_differs),
        TEST(each_of_its_fields_says_that_nobody_may_keep_it),
        TEST(who_has_the_state_gets_the_next_one_first),
        TEST(who_has_another_state_gets_the_present_one_first),
        TEST(a_state_of_several_lines_is_one_line),
        TEST(a_slow_reader_gets_the_newest_state_and_no_queue),
        TEST(head_has_the_fields_and_no_events),
        TEST(a_stream_ends_with_its_token),
        TEST(who_has_no_token_gets_none),
        TEST(an_address_has_its_share_and_gives_it_back),
        cmocka_unit_test_setup_teardown(
            nobody_takes_the_place_of_a_stream_and_no_stream_takes_a_place, set_up_few,
            tear_down),
        TEST(the_server_stops_while_streams_are_read_and_not_read),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("web_stream", tests, NULL, NULL);
}
