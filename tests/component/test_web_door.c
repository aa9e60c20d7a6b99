#include "config.h"

#include "tests/component/web_rig.h"

#include "web/door.h"
#include "web/edge/listen.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>

/* What a guest may do, and how long: those who send slowly, or much, or nonsense. */

#define SLOW    1000
#define PLACES  16
#define STEP_MS 50
#define STEPS   1200 /* a minute */
#define CALLS   16   /* run at once */
#define WAITING 64   /* and so many may wait */
#define LONG_S  60   /* longer than a test takes */
#define BIG     ((size_t)32 << 20)

static int set_up_long(void **state)
{
    return set_up_limits(state, LONG_S, 0);
}

static int set_up_few(void **state)
{
    return set_up_limits(state, LONG_S, PLACES);
}

/* ---- clients ---- */

static void allow_files(void)
{
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < (rlim_t)16 * SLOW)
        skip();
}

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Whether the other side has answered or closed within ms. */
static bool is_over(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, ms) == 1;
}

static int read_status(int fd, struct buf *answer)
{
    return talk(fd, STR(""), answer);
}

/* Send a byte of text each STEP_MS, again from start when it ends; false: nobody minded. */
static bool trickle(int fd, const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = 0; i < STEPS; i++) {
        if (is_over(fd, STEP_MS))
            return true;
        if (send(fd, text + i % n, 1, MSG_NOSIGNAL) != 1)
            return true;
    }
    return false;
}

static void wait_for_a_call(void)
{
    for (int i = 0; !fake_coordinator_was_called(); i++) {
        assert_int_not_equal(i, STEPS);
        poll(NULL, 0, STEP_MS);
    }
}

static void assert_probes_answer(const struct fixture *f)
{
    static const char *const probes[] = {"GET /livez", "GET /readyz", "GET /metrics", "GET /"};
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(probes); i++) {
        assert_int_equal(ask_port(f, probes[i], &answer), 200);
        assert_int_equal(ask_socket(f, probes[i], NULL, &answer), 200);
    }
    buf_free(&answer);
}

/* ---- who sends slowly ---- */

static void a_thousand_half_sent_requests_keep_nobody_waiting(void **state)
{
    const struct fixture *f = *state;
    static int fds[2 * SLOW];

    allow_files();
    fake_coordinator.answer = fake_status;
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = i < SLOW ? connect_tcp(f->port) : connect_unix(f->socket);
        send_text(fds[i], i % 2 == 0 ? "GET /livez HTTP/1.1\r\nHo" : "G");
    }
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < ARRAY_LEN(fds); i++)
            send_text(fds[i], "x");
        assert_probes_answer(f);
    }
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        assert_false(is_over(fds[i], 0)); /* all of them were there the whole time */
        close(fds[i]);
    }
}

static void a_head_has_its_time_in_all_and_not_from_byte_to_byte(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    int fd = connect_tcp(f->port);

    send_text(fd, "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ");
    assert_true(trickle(fd, "a"));
    assert_int_equal(read_status(fd, &answer), 408);
    assert_has(answer, "too-slow");
    buf_free(&answer);
}

static void a_body_has_its_time_in_all_and_not_from_byte_to_byte(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    int fd = connect_unix(f->socket);

    send_text(fd, "POST /api/v1/apply HTTP/1.1\r\nHost: localhost\r\n"
                  "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{");
    assert_true(trickle(fd, " "));
    assert_int_equal(read_status(fd, &answer), 0);
    assert_string_equal(fake_coordinator.call, "");
    buf_free(&answer);
}

static void an_answer_that_nobody_reads_ends(void **state)
{
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};
    char *big = mem_alloc(BIG + 1, 1);
    int fd = connect_unix(f->socket);

    memset(big, 'x', BIG);
    fake_coordinator.answer = big;
    request(&text, "GET /api/v1/export", NULL);
    send_text(fd, text.ptr);
    for (int i = 0; i < STEPS; i++) {
        struct pollfd p = {.fd = fd, .events = POLLRDHUP};

        if (poll(&p, 1, STEP_MS) == 1 && (p.revents & (POLLHUP | POLLRDHUP)) != 0)
            break;
        assert_int_not_equal(i, STEPS - 1);
    }
    assert_int_equal(read_status(fd, &answer), 200);
    assert_true(answer.len < BIG);
    fake_coordinator.answer = NULL;
    free(big);
    buf_free(&text);
    buf_free(&answer);
}

static void a_head_that_comes_in_pieces_is_answered(void **state)
{
    static const char text[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const struct fixture *f = *state;
    struct buf answer = {0};
    int fds[2] = {connect_tcp(f->port), connect_unix(f->socket)};

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        for (size_t n = 0; n < sizeof(text) - 1; n++) {
            assert_false(is_over(fds[i], 0));
            assert_int_equal(send(fds[i], text + n, 1, MSG_NOSIGNAL), 1);
        }
        assert_int_equal(read_status(fds[i], &answer), 200);
    }
    buf_free(&answer);
}

/* ---- places ---- */

static void who_has_waited_longest_goes_when_the_places_are_taken(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    int fds[3 * PLACES];

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = i % 2 == 0 ? connect_tcp(f->port) : connect_unix(f->socket);
        send_text(fds[i], "GET ");
    }
    assert_probes_answer(f);
    for (size_t i = 0; i < PLACES; i++) {
        assert_int_equal(read_status(fds[i], &answer), 503);
        assert_has(answer, "too many connections");
    }
    for (size_t i = ARRAY_LEN(fds) - PLACES / 2; i < ARRAY_LEN(fds); i++)
        assert_false(is_over(fds[i], 0)); /* the last of them stay */
    for (size_t i = PLACES; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    buf_free(&answer);
}

/* A library that leaves nobody until it is told to. */
static struct slow_library {
    struct door *door;
    int fds[8];
    size_t n; /* atomic */
} slow;

static bool enter_slowly(void *cls, int fd, const struct sockaddr *address, socklen_t len)
{
    const size_t n = __atomic_load_n(&slow.n, __ATOMIC_RELAXED);

    (void)cls, (void)address, (void)len;
    if (n < ARRAY_LEN(slow.fds))
        slow.fds[n] = fd;
    __atomic_store_n(&slow.n, n + 1, __ATOMIC_RELEASE);
    return true;
}

static int enter_by(const char *path)
{
    const size_t before = __atomic_load_n(&slow.n, __ATOMIC_ACQUIRE);
    int fd = connect_unix(path);

    send_text(fd, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (__atomic_load_n(&slow.n, __ATOMIC_ACQUIRE) == before && !is_over(fd, 1))
        ;
    return fd;
}

static void leave_slowly(size_t i)
{
    guest_leave(door_find(slow.door, slow.fds[i]));
    close(slow.fds[i]);
}

static void the_library_is_given_no_more_than_it_takes_though_it_is_slow_to_leave(void **state)
{
    const struct fixture *f = *state;
    struct door_options opt = {
        .timeout_s = LONG_S, .places = 2, .inside_max = 3, .enter = enter_slowly};
    struct buf answer = {0};
    char path[96];
    struct err err;
    int fds[3], again;

    snprintf(path, sizeof(path), "%s/door.sock", f->folder);
    assert_true(listen_unix(&opt.fd, path, &err) && door_start(&slow.door, &opt, &err));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = enter_by(path); /* each takes the place of the one before */
    assert_int_equal(slow.n, 3);
    assert_int_equal(read_status(enter_by(path), &answer), 503);
    assert_int_equal(slow.n, 3);
    leave_slowly(0);
    again = enter_by(path);
    assert_int_equal(slow.n, 4);
    door_stop(slow.door);
    for (size_t i = 1; i < slow.n; i++)
        leave_slowly(i);
    door_free(slow.door);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    close(again);
    unlink(path);
    buf_free(&answer);
}

static int connect_from(uint32_t from, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(from)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(port);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    send_text(fd, "G");
    return fd;
}

static void an_address_with_many_connections_takes_no_place_of_another(void **state)
{
    const struct fixture *f = *state;
    int other[PLACES / 4], many[3 * PLACES];

    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        other[i] = connect_from(INADDR_LOOPBACK + 1, f->port);
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = connect_from(INADDR_LOOPBACK + 2, f->port);
    assert_probes_answer(f);
    for (size_t i = 0; i < ARRAY_LEN(other); i++) {
        assert_false(is_over(other[i], 0));
        close(other[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        close(many[i]);
}

static void the_oldest_of_all_goes_when_many_addresses_take_every_place(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    int fds[2 * PLACES];

    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = connect_from(INADDR_LOOPBACK + 1 + (uint32_t)i, f->port);
    assert_int_equal(ask_port(f, "GET /livez", &answer), 200);
    for (size_t i = 0; i <= PLACES; i++)
        assert_int_equal(read_status(fds[i], &answer), 503);
    for (size_t i = PLACES + 1; i < ARRAY_LEN(fds); i++) {
        assert_false(is_over(fds[i], 0));
        close(fds[i]);
    }
    buf_free(&answer);
}

static void a_call_that_runs_keeps_its_place(void **state)
{
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};
    int call = connect_unix(f->socket), fds[3 * PLACES];

    fake_coordinator_hold(true);
    request(&text, "GET /api/v1/doctor", NULL);
    send_text(call, text.ptr);
    wait_for_a_call();
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = connect_unix(f->socket);
    assert_int_equal(ask_socket(f, "GET /livez", NULL, &answer), 200);
    fake_coordinator_hold(false);
    assert_int_equal(read_status(call, &answer), 200);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    buf_free(&text);
    buf_free(&answer);
}

/* ---- slow calls ---- */

/* How many of the n connections were refused as busy; the others still wait. */
static int count_busy(int *fds, size_t n)
{
    struct buf answer = {0};
    int n_busy = 0;

    for (size_t i = 0; i < n; i++) {
        if (fds[i] == -1 || !is_over(fds[i], 0))
            continue;
        assert_int_equal(read_status(fds[i], &answer), 503);
        assert_has(answer, "Retry-After: 1");
        fds[i] = -1;
        n_busy++;
    }
    buf_free(&answer);
    return n_busy;
}

static void calls_that_hang_keep_no_probe_waiting_and_too_many_are_refused(void **state)
{
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};
    int fds[CALLS + WAITING + 40], n_busy = 0;

    fake_coordinator_hold(true);
    request(&text, "GET /api/v1/status", NULL);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = connect_unix(f->socket);
        send_text(fds[i], text.ptr);
    }
    assert_int_equal(ask_port(f, "GET /livez", &answer), 200);
    assert_int_equal(ask_socket(f, "GET /readyz", NULL, &answer), 200);
    for (int i = 0; i < STEPS && n_busy < 40; i++) {
        n_busy += count_busy(fds, ARRAY_LEN(fds));
        poll(NULL, 0, STEP_MS);
    }
    assert_true(n_busy >= 40 && n_busy <= 40 + CALLS);
    fake_coordinator_hold(false);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] != -1)
            assert_in_range(read_status(fds[i], &answer), 200, 503);
    buf_free(&text);
    buf_free(&answer);
}

static void the_server_stops_while_calls_run_and_wait(void **state)
{
    struct fixture *f = *state;
    struct server *s = NULL;
    struct err err = {0};
    struct buf text = {0};
    char path[600];
    int fds[CALLS + 8];

    snprintf(path, sizeof(path), "%s/other.sock", f->folder);

    struct server_options opt = options(f);

    opt.socket = path;
    assert_true(server_start(&s, &opt, &err));
    fake_coordinator.delay_ms = 300;
    request(&text, "GET /api/v1/status", NULL);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = connect_unix(path);
        send_text(fds[i], i % 4 == 3 ? "GET /half" : text.ptr);
    }
    wait_for_a_call();
    server_stop(s);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    buf_free(&text);
}

/* ---- nonsense ---- */

#define HEAD   "POST /api/v1/apply HTTP/1.1\r\n"
#define HOST   "Host: localhost\r\n"
#define LENGTH "Content-Length: 2\r\n"
#define END    "\r\n{}"

static void what_two_programs_could_understand_in_two_ways_is_refused(void **state)
{
    static const struct str bad[] = {
        STR(HEAD HOST LENGTH LENGTH END),
        STR(HEAD HOST LENGTH "content-length: 3\r\n" END),
        STR(HEAD HOST "Content-Length: 2, 2\r\n" END),
        STR(HEAD HOST "Content-Length: +2\r\n" END),
        STR(HEAD HOST "Content-Length: 0x2\r\n" END),
        STR(HEAD HOST "Content-Length: \r\n" END),
        STR(HEAD HOST "Content-Length: 18446744073709551618\r\n" END),
        STR(HEAD HOST LENGTH "Transfer-Encoding: chunked\r\n" END),
        STR(HEAD HOST "Transfer-Encoding: identity\r\n" LENGTH END),
        STR(HEAD HOST "Host: evil.example\r\n" LENGTH END),
        STR(HEAD HOST HOST LENGTH END),
        STR(HEAD LENGTH END),
        STR(HEAD "Host: localhost/x\r\n" LENGTH END),
        STR(HEAD "Host: a@localhost\r\n" LENGTH END),
        STR(HEAD "Host: localhost evil\r\n" LENGTH END),
        STR("POST /api/v1/apply HTTP/1.1\nHost: localhost\nContent-Length: 2\n\n{}"),
        STR(HEAD "Host: localhost\n" LENGTH END),
        STR(HEAD HOST LENGTH "\n{}"),
        STR(HEAD "Host: local\rhost\r\n" LENGTH END),
        STR(HEAD HOST "X: a\r\n folded\r\n" LENGTH END),
        STR(HEAD HOST "Content-Length: 2\r\n\t3\r\n" END),
        STR(HEAD " " HOST LENGTH END),
        STR(HEAD "Host: localhost\0.evil.example\r\n" LENGTH END),
        STR(HEAD HOST "X: \0\r\n" LENGTH END),
        STR("POST /api/v1/apply\0 HTTP/1.1\r\n" HOST LENGTH END),
        STR(HEAD HOST "X: \x01\r\n" LENGTH END),
        STR(HEAD "Host : localhost\r\n" LENGTH END),
        STR(HEAD HOST "Content-Length : 2\r\n" END),
        STR(HEAD HOST "no field\r\n" LENGTH END),
        STR(HEAD HOST ": empty\r\n" LENGTH END),
        STR("POST  /api/v1/apply HTTP/1.1\r\n" HOST LENGTH END),
        STR("POST /api/v1/apply  HTTP/1.1\r\n" HOST LENGTH END),
        STR("POST /api/v1/apply\tHTTP/1.1\r\n" HOST LENGTH END),
        STR("POST /api/v1/apply x HTTP/1.1\r\n" HOST LENGTH END),
        STR("POST /api/v1/apply HTTP/1.1 \r\n" HOST LENGTH END),
        STR("POST /api/v1/apply HTTP/1.2\r\n" HOST LENGTH END),
        STR("POST /api/v1/apply HTTP/2.0\r\n" HOST LENGTH END),
        STR("POST /api/v1/apply http/1.1\r\n" HOST LENGTH END),
        STR("POST /api/v1/apply\r\n"),
        STR("(POST) /api/v1/apply HTTP/1.1\r\n" HOST LENGTH END),
        STR("\r\n" HEAD HOST LENGTH END),
        STR(" " HEAD HOST LENGTH END),
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        for (int port = 0; port < 2; port++) {
            int fd = port ? connect_tcp(f->port) : connect_unix(f->socket);

            if (talk(fd, bad[i], &answer) != 400)
                fail_msg("not refused: %s\n%s", bad[i].ptr, answer.ptr);
            assert_has(answer, "application/problem+json");
            assert_has(answer, "Cache-Control: no-store");
        }
    }
    assert_string_equal(fake_coordinator.call, "");
    buf_free(&answer);
}

/* A proxy may add its own; nothing depends on which of them counts. */
static void what_a_client_accepts_may_come_in_several_fields(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(talk(connect_tcp(f->port),
                          STR("GET /livez HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n"
                              "Accept-Encoding: br\r\n\r\n"),
                          &answer),
                     200);
    buf_free(&answer);
}

static void a_head_that_is_too_large_is_refused(void **state)
{
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};

    buf_append(&text, STR("GET /livez HTTP/1.1\r\nHost: localhost\r\n"));
    for (int i = 0; i < 65; i++)
        buf_printf(&text, "X-%d: y\r\n", i);
    buf_append(&text, STR("\r\n"));
    assert_int_equal(talk(connect_tcp(f->port), buf_str(&text), &answer), 431);
    buf_clear(&text);
    buf_printf(&text, "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: %016384d\r\n\r\n", 0);
    assert_int_equal(talk(connect_tcp(f->port), buf_str(&text), &answer), 431);
    buf_clear(&text);
    buf_printf(&text, "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: %016000d\r\n\r\n", 0);
    assert_int_equal(talk(connect_tcp(f->port), buf_str(&text), &answer), 200);
    buf_free(&text);
    buf_free(&answer);
}

/* What follows a request on its connection is never a request. */
static void a_connection_has_one_request(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(talk(connect_unix(f->socket),
                          STR("GET /livez HTTP/1.1\r\nHost: localhost\r\n"
                              "Connection: keep-alive\r\n\r\n"
                              "GET /api/v1/doctor HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                          &answer),
                     200);
    assert_has(answer, "Connection: close");
    assert_string_equal(fake_coordinator.call, "");
    buf_free(&answer);
}

#define TEST_WITH(set_up, name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH(set_up_long, a_thousand_half_sent_requests_keep_nobody_waiting),
        TEST(a_head_has_its_time_in_all_and_not_from_byte_to_byte),
        TEST(a_body_has_its_time_in_all_and_not_from_byte_to_byte),
        TEST(an_answer_that_nobody_reads_ends),
        TEST_WITH(set_up_long, a_head_that_comes_in_pieces_is_answered),
        TEST_WITH(set_up_few, who_has_waited_longest_goes_when_the_places_are_taken),
        TEST_WITH(set_up_few,
                  the_library_is_given_no_more_than_it_takes_though_it_is_slow_to_leave),
        TEST_WITH(set_up_few, an_address_with_many_connections_takes_no_place_of_another),
        TEST_WITH(set_up_few, the_oldest_of_all_goes_when_many_addresses_take_every_place),
        TEST_WITH(set_up_few, a_call_that_runs_keeps_its_place),
        TEST_WITH(set_up_long, calls_that_hang_keep_no_probe_waiting_and_too_many_are_refused),
        TEST(the_server_stops_while_calls_run_and_wait),
        TEST_WITH(set_up_long, what_two_programs_could_understand_in_two_ways_is_refused),
        TEST_WITH(set_up_long, what_a_client_accepts_may_come_in_several_fields),
        TEST_WITH(set_up_long, a_head_that_is_too_large_is_refused),
        TEST_WITH(set_up_long, a_connection_has_one_request),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("web_door", tests, NULL, NULL);
}
