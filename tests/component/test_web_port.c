#include "config.h"

#include "tests/component/web_rig.h"

#include "web/request.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* A folder whose name alone is longer than a socket's address may be. */
#define DEEP                                                                       \
    "/a-folder-with-a-name-that-is-so-long-that-no-socket-address-can-hold-it-as-" \
    "it-has-more-than-one-hundred-and-seven-bytes-in-all"

/* ---- the port ---- */

static void the_port_serves_the_open_routes_and_nothing_else(void **state)
{
    static const char *const closed[] = {
        "GET /api/v1/status",          "GET /api/v1/config",       "DELETE /api/v1/tables/a",
        "POST /api/v1/topics/a/reset", "GET /api/v1/dead-letters", "GET /api/v1/version",
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    fake_coordinator.answer = fake_status;
    assert_int_equal(ask_port(f, "GET /", &answer), 200);
    assert_has(answer, "text/html");
    assert_int_equal(ask_port(f, "GET /metrics", &answer), 200);
    assert_has(answer, "text/plain; version=0.0.4");
    assert_has(answer,
               "# TYPE millrace_source_connected gauge\nmillrace_source_connected{topic");
    assert_has(answer, "\nprocess_resident_memory_bytes ");
    assert_int_equal(ask_port(f, "GET /livez", &answer), 200);
    assert_int_equal(ask_port(f, "GET /readyz", &answer), 200);
    fake_coordinator.not_ready = true;
    assert_int_equal(ask_port(f, "GET /readyz", &answer), 503);
    fake_coordinator.call[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(closed); i++) {
        assert_int_equal(ask_port(f, closed[i], &answer), 403);
        assert_has(answer, "socket-only");
    }
    assert_string_equal(fake_coordinator.call, "");
    buf_free(&answer);
}

static void a_foreign_host_name_is_refused(void **state)
{
    static const struct {
        const char *host;
        int status;
    } cases[] = {
        {"localhost", 200},
        {"LOCALHOST:7700", 200},
        {"127.0.0.1", 200},
        {"[::1]:80", 200},
        {"evil.example", 421},
        {"127.0.0.1.evil.example:7700", 421},
        {"", 421},
        {"[::1", 421},
        {"localhost:", 200},
        {"localhost:80:evil", 421},
        {"localhost:80.evil.example", 421},
        {"[::1]evil.example", 421},
        {"[::1].evil.example:80", 421},
    };
    const struct fixture *f = *state;
    struct buf answer = {0}, text = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&text);
        buf_printf(&text, "GET /livez HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                   cases[i].host);
        assert_int_equal(talk(connect_tcp(f->port), buf_str(&text), &answer), cases[i].status);
    }
    assert_int_equal(talk(connect_tcp(f->port), STR("GET /livez HTTP/1.0\r\n\r\n"), &answer),
                     421);
    buf_free(&text);
    buf_free(&answer);
}

static void every_answer_carries_the_strict_headers(void **state)
{
    static const char *const heads[] = {"GET /", "GET /livez", "GET /nothing", "GET /metrics"};
    const struct fixture *f = *state;
    struct buf answer = {0};

    fake_coordinator.answer = fake_status;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        ask_port(f, heads[i], &answer);
        assert_has(answer, "Content-Security-Policy: default-src 'none'; ");
        assert_has(answer, "frame-ancestors 'none'");
        assert_has(answer, "X-Content-Type-Options: nosniff");
        assert_has(answer, "Cache-Control: no-store");
    }
    buf_free(&answer);
}

static void the_style_sheet_of_the_page_has_a_new_nonce_each_time(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    char nonces[2][33] = {{0}};

    fake_coordinator.answer = fake_status;
    for (int i = 0; i < 2; i++) {
        ask_port(f, "GET /", &answer);

        const char *nonce = strstr(answer.ptr, "style-src 'nonce-");

        assert_non_null(nonce);
        memcpy(nonces[i], nonce + 17, 32);
        assert_has(answer, "<style nonce=\"");
        assert_memory_equal(strstr(answer.ptr, "<style nonce=\"") + 14, nonces[i], 32);
    }
    assert_string_not_equal(nonces[0], nonces[1]);
    buf_free(&answer);
}

/* ---- the port of the metrics ---- */

static int ask_as(uint16_t port, const char *head, const char *host, struct buf *answer)
{
    struct buf text = {0};

    buf_printf(&text, "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", head, host);

    const int status = talk(connect_tcp(port), buf_str(&text), answer);

    buf_free(&text);
    return status;
}

static void the_metrics_port_serves_metrics_and_health_and_knows_nothing_else(void **state)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        {"GET /metrics", 200},       {"GET /livez", 200},         {"GET /readyz", 200},
        {"HEAD /readyz", 200},       {"POST /metrics", 405},      {"GET /", 404},
        {"GET /api/v1/status", 404}, {"POST /api/v1/drain", 404}, {"GET /metrics/x", 404},
        {"GET /metrics?x=1", 200},
    };
    const struct fixture *f = *state;
    struct server_options opt = options(f);
    struct server *s = NULL;
    struct buf answer = {0};
    struct err err = {0};
    char other[600];

    snprintf(other, sizeof(other), "%s/other.sock", f->folder);
    opt.socket = other;
    opt.listen = "off";
    opt.metrics_listen = "0.0.0.0:0";
    if (!server_start(&s, &opt, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(server_address(s), "");

    const char *colon = strchr(server_metrics_address(s), ':');

    assert_non_null(colon);

    const uint16_t port = (uint16_t)strtoul(colon + 1, NULL, 10);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (ask_as(port, cases[i].head, "10.1.2.3:7701", &answer) != cases[i].status)
            fail_msg("%s: %s", cases[i].head, answer.ptr);
    fake_coordinator.not_ready = true;
    assert_int_equal(ask_as(port, "GET /readyz", "prober", &answer), 503);
    server_stop(s);
    buf_free(&answer);
}

/* ---- listening ---- */

static void assert_refused(const struct server_options *opt, const char *text)
{
    struct server *s = NULL;
    struct err err = {0};

    assert_false(server_start(&s, opt, &err));
    if (strstr(err.msg, text) == NULL)
        fail_msg("\"%s\" is missing from: %s", text, err.msg);
}

static void an_address_that_cannot_be_listened_on_is_refused_with_the_fix(void **state)
{
    static const struct {
        const char *listen, *text;
    } cases[] = {
        {"0.0.0.0:7700", "reverse proxy"},
        {"192.168.1.5:7700", "reverse proxy"},
        {"[::]:7700", "reverse proxy"},
        {"7700", "write it as 127.0.0.1:7700"},
        {"127.0.0.1:99999", "write it as"},
        {"127.0.0.1:", "write it as"},
        {"db1.example:7700", "neither localhost"},
    };
    const struct fixture *f = *state;
    char taken[64], other[600];

    snprintf(other, sizeof(other), "%s/other.sock", f->folder);
    struct server_options opt = options(f);

    opt.socket = other;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        opt.listen = cases[i].listen;
        assert_refused(&opt, cases[i].text);
    }
    snprintf(taken, sizeof(taken), "127.0.0.1:%u", f->port);
    opt.listen = taken;
    assert_refused(&opt, "is taken (ss -ltnp");
    opt.listen = "off";
    opt.metrics_listen = taken;
    assert_refused(&opt, "choose another port with metrics.listen");
    opt.metrics_listen = "*:7701";
    assert_refused(&opt, "metrics.listen: \"*:7701\" is neither localhost nor");
    opt.metrics_listen = "192.0.2.1:7701"; /* of no machine */
    assert_refused(&opt, "change metrics.listen in the configuration");
    opt.metrics_listen = NULL;
    opt.socket = f->socket;
    assert_refused(&opt, "another program answers on");
}

static void a_socket_that_was_left_behind_is_replaced(void **state)
{
    const struct fixture *f = *state;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct server *s = NULL;
    struct err err = {0};

    snprintf(a.sun_path, sizeof(a.sun_path), "%s/left.sock", f->folder);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    close(fd);

    struct server_options opt = options(f);

    opt.socket = a.sun_path;
    opt.listen = "off";
    assert_true(server_start(&s, &opt, &err));
    assert_string_equal(server_address(s), "");
    server_stop(s);
}

static void a_file_in_the_sockets_place_is_left_alone(void **state)
{
    const struct fixture *f = *state;
    char path[600];

    snprintf(path, sizeof(path), "%s/file.sock", f->folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    struct server_options opt = options(f);

    opt.socket = path;
    assert_refused(&opt, "exists and is not a socket");
    assert_int_equal(access(path, F_OK), 0);
    close(fd);
    unlink(path);
}

static void a_path_too_long_for_a_socket_address_works(void **state)
{
    const struct fixture *f = *state;
    struct server *s = NULL;
    struct err err = {0};
    struct buf path = {0}, answer = {0};
    char here[512];

    buf_printf(&path, "%s" DEEP, f->folder);
    assert_int_equal(mkdir(path.ptr, 0700), 0);
    buf_append(&path, STR("/millrace.sock"));

    struct server_options opt = options(f);

    opt.socket = path.ptr;
    if (!server_start(&s, &opt, &err))
        fail_msg("%s", err.msg);
    assert_non_null(getcwd(here, sizeof(here)));
    path.ptr[path.len - strlen("/millrace.sock")] = '\0';
    assert_int_equal(chdir(path.ptr), 0);
    assert_int_equal(ask(connect_unix("millrace.sock"), "GET /livez", NULL, &answer), 200);
    path.ptr[path.len - strlen("/millrace.sock")] = '/';
    server_stop(s);
    assert_int_equal(access("millrace.sock", F_OK), -1);
    assert_int_equal(chdir(here), 0);
    path.ptr[path.len - strlen("/millrace.sock")] = '\0';
    assert_int_equal(rmdir(path.ptr), 0);
    buf_free(&path);
    buf_free(&answer);
}

/* What the log says of a request. */
static void read_log(int fd, char *text, size_t size)
{
    const ssize_t n = read(fd, text, size - 1);

    assert_true(n > 0);
    text[n] = '\0';
}

static void the_log_names_a_user_for_requests_of_the_socket_alone(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    char line[1024];
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    log_set_fd(fds[1]);
    log_set_level(LOG_INFO);
    assert_int_equal(ask_port(f, "POST /api/v1/topics/a/reset", &answer), 403);
    read_log(fds[0], line, sizeof(line));
    assert_non_null(strstr(line, "POST"));
    assert_null(strstr(line, "uid"));
    (void)ask_socket(f, "POST /api/v1/nothing", NULL, &answer);
    read_log(fds[0], line, sizeof(line));
    assert_non_null(strstr(line, "uid"));
    log_set_level(LOG_ERROR);
    log_set_fd(STDERR_FILENO);
    close(fds[0]);
    close(fds[1]);
    buf_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_port_serves_the_open_routes_and_nothing_else),
        TEST(a_foreign_host_name_is_refused),
        TEST(every_answer_carries_the_strict_headers),
        TEST(the_style_sheet_of_the_page_has_a_new_nonce_each_time),
        TEST(the_metrics_port_serves_metrics_and_health_and_knows_nothing_else),
        TEST(an_address_that_cannot_be_listened_on_is_refused_with_the_fix),
        TEST(a_socket_that_was_left_behind_is_replaced),
        TEST(a_file_in_the_sockets_place_is_left_alone),
        TEST(a_path_too_long_for_a_socket_address_works),
        TEST(the_log_names_a_user_for_requests_of_the_socket_alone),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("web_port", tests, NULL, NULL);
}
