#include "config.h"

#include "tests/component/web_rig.h"

#include "src/base/arena.h"
#include "web/access/attempts.h"
#include "web/caller.h"
#include "web/request.h"
#include "web/routes.h"

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
        assert_int_equal(ask_port(f, closed[i], &answer), 401);
        assert_has(answer, "log-in-needed");
        assert_has(answer, "WWW-Authenticate: Bearer");
    }
    assert_string_equal(fake_coordinator.call, "");
    buf_free(&answer);
}

/* Ask on the port with more fields in the head. */
static int ask_with(const struct fixture *f, const char *head, const char *fields,
                    const char *body, struct buf *answer)
{
    struct buf b = {0};
    int status;

    buf_printf(&b, "%s HTTP/1.1\r\nHost: localhost\r\n%s", head, fields);
    if (body != NULL)
        buf_printf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                   strlen(body));
    buf_printf(&b, "\r\n%s", body != NULL ? body : "");
    status = talk(connect_tcp(f->port), buf_str(&b), answer);
    buf_free(&b);
    return status;
}

static void a_token_opens_the_routes_of_its_role(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_with(f, "GET /api/v1/status", "Authorization: Bearer mrt_viewer\r\n",
                              NULL, &answer),
                     200);
    assert_int_equal(ask_with(f, "GET /api/v1/config", "Authorization: Bearer mrt_viewer\r\n",
                              NULL, &answer),
                     403);
    assert_has(answer, "role-too-low");
    assert_has(answer, "this needs the role admin, and you have viewer");
    assert_int_equal(ask_with(f, "POST /api/v1/topics/a/pause",
                              "Authorization: Bearer mrt_operator\r\n", "{}", &answer),
                     200);
    assert_int_equal(
        ask_with(f, "GET /", "Authorization: Bearer mrt_nobody\r\n", NULL, &answer), 401);
    buf_free(&answer);
}

static void a_log_in_gets_a_cookie_that_scripts_of_a_page_cannot_read(void **state)
{
    static const char good[] = "{\"name\":\"anna\",\"password\":\"anna\"}",
                      bad[] = "{\"name\":\"anna\",\"password\":\"bert\"}";
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_with(f, "POST /api/v1/login", "", good, &answer), 200);
    assert_has(answer, "Set-Cookie: millrace_session=mrt_viewer; Path=/; HttpOnly; "
                       "SameSite=Strict; Max-Age=43200\r\n");
    assert_int_equal(ask_with(f, "POST /api/v1/login", "", bad, &answer), 401);
    assert_null(strstr(answer.ptr, "Set-Cookie"));
    assert_int_equal(
        ask_with(f, "POST /api/v1/login", "Origin: http://elsewhere\r\n", good, &answer), 403);
    assert_has(answer, "cross-site");
    assert_int_equal(
        ask_with(f, "GET /api/v1/me", "Cookie: millrace_session=mrt_viewer\r\n", NULL, &answer),
        200);
    assert_has(answer, "\"role\":\"viewer\"");
    assert_has(answer, "user test (127.0.0.1)");
    assert_int_equal(ask_with(f, "POST /api/v1/logout",
                              "Cookie: millrace_session=mrt_viewer\r\n"
                              "Origin: http://localhost\r\n",
                              "{}", &answer),
                     200);
    assert_has(answer, "Set-Cookie: millrace_session=; ");
    assert_has(answer, "Max-Age=0");
    assert_string_equal(fake_coordinator.call, "log out mrt_viewer");
    buf_free(&answer);
}

static void a_list_knows_whether_the_caller_sees_rows(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_with(f, "GET /api/v1/jobs/12", "Authorization: Bearer mrt_viewer\r\n",
                              NULL, &answer),
                     200);
    assert_string_equal(fake_coordinator.call, "list job 12 without rows");
    assert_int_equal(ask_with(f, "GET /api/v1/jobs/12",
                              "Authorization: Bearer mrt_operator\r\n", NULL, &answer),
                     200);
    assert_string_equal(fake_coordinator.call, "list job 12");
    buf_free(&answer);
}

static void only_a_request_that_still_runs_may_be_sent_again_later(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_with(f, "POST /api/v1/drain",
                              "Authorization: Bearer mrt_operator\r\nIdempotency-Key: runs\r\n",
                              "{}", &answer),
                     409);
    assert_has(answer, "Retry-After: 1\r\n");
    assert_int_equal(ask_with(f, "POST /api/v1/drain",
                              "Authorization: Bearer mrt_operator\r\nIdempotency-Key: lost\r\n",
                              "{}", &answer),
                     409);
    assert_null(strstr(answer.ptr, "Retry-After"));
    buf_free(&answer);
}

static void a_wrong_secret_has_a_code_of_its_own(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_with(f, "POST /api/v1/login", "",
                              "{\"name\":\"anna\",\"password\":\"bert\"}", &answer),
                     401);
    assert_has(answer, "\"code\":\"wrong-password\"");
    assert_int_equal(ask_with(f, "POST /api/v1/first-admin", "",
                              "{\"token\":\"mrt_x\",\"name\":\"anna\",\"password\":\"anna\"}",
                              &answer),
                     401);
    assert_has(answer, "\"code\":\"wrong-token\"");
    assert_int_equal(ask_with(f, "POST /api/v1/login", "", "{\"name\":\"anna\"}", &answer),
                     400);
    assert_has(answer, "\"code\":\"bad-request\"");
    buf_free(&answer);
}

/* ---- who it comes from ---- */

struct visitor {
    const char *address;
    const char *authorization; /* NULL: none */
    bool is_open;              /* other machines reach the port */
};

static int visit(const struct visitor *v, const struct api *api, enum request_method method,
                 const char *target, const char *body)
{
    const struct head head = {.host = STR("localhost"),
                              .authorization =
                                  str_from(v->authorization != NULL ? v->authorization : "")};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_storage peer = {0};
    struct arena *a = arena_new();
    struct request req = {
        .method = method, .content_type = STR("application/json"), .body = str_from(body)};
    struct response res = {0};
    struct err err;

    if (inet_pton(AF_INET6, v->address, &v6.sin6_addr) == 1) {
        memcpy(&peer, &v6, sizeof(v6));
    } else {
        struct sockaddr_in v4 = {.sin_family = AF_INET};

        assert_int_equal(inet_pton(AF_INET, v->address, &v4.sin_addr), 1);
        memcpy(&peer, &v4, sizeof(v4));
    }

    const struct caller_facts facts = {.kind = LISTENER_PAGE,
                                       .listen_address = STR("localhost:1"),
                                       .is_open = v->is_open,
                                       .from = str_from(v->address),
                                       .peer = &peer,
                                       .head = &head,
                                       .coordinator = api->coordinator,
                                       .arena = a};

    assert_true(caller_check(&req, &res, &facts));
    assert_true(request_target_parse(&req.target, a, str_from(target), &err));
    routes_handle(api, &req, &res);
    buf_free(&res.body);
    arena_free(a);
    return res.status;
}

static int guess_from(const struct api *api, const char *address, const char *name)
{
    struct buf body = {0};

    buf_printf(&body, "{\"name\":\"%s\",\"password\":\"wrong\"}", name);

    const int status = visit(&(struct visitor){.address = address}, api, METHOD_POST,
                             "/api/v1/login", body.ptr);

    buf_free(&body);
    return status;
}

static void
whoever_guesses_from_many_addresses_of_one_network_or_machine_is_stopped(void **state)
{
    static const char *const places[][3] = {
        {"2001:db8:1:2::1", "2001:db8:1:2::7:1", "2001:db8:1:3::1"},
        {"127.0.0.1", "127.9.9.9", "192.0.2.1"},
        {"127.0.0.1", "::1", "192.0.2.2"},
        {"::1", "::ffff:127.0.0.1", "::ffff:192.0.2.3"},
        {"192.0.2.4", "::ffff:192.0.2.4", "192.0.2.5"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct api api = {.coordinator = fake_coordinator_get(),
                                .version = STR("0.1.0"),
                                .attempts = attempts_new()};

        for (int n = 0; n < ATTEMPTS_FREE; n++)
            assert_int_equal(guess_from(&api, places[i][0], "anna"), 401);
        if (guess_from(&api, places[i][1], "anna") != 429)
            fail_msg("%s and %s are two", places[i][0], places[i][1]);
        if (guess_from(&api, places[i][2], "anna") != 401)
            fail_msg("%s and %s are one", places[i][0], places[i][2]);
        attempts_free(api.attempts);
    }
}

static void where_other_machines_reach_the_port_the_status_page_is_for_a_role(void **state)
{
    static const struct {
        struct visitor by;
        int status;
    } cases[] = {
        {{"127.0.0.1", NULL, false}, 200},
        {{"192.0.2.1", NULL, true}, 401},
        {{"127.0.0.1", NULL, true}, 401},
        {{"192.0.2.1", "Bearer mrt_viewer", true}, 200},
    };
    const struct api api = {.coordinator = fake_coordinator_get(), .version = STR("0.1.0")};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fake_coordinator.answer = fake_status;
        assert_int_equal(visit(&cases[i].by, &api, METHOD_GET, "/status", ""), cases[i].status);
    }
}

static void after_wrong_passwords_even_the_right_one_has_to_wait(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    int status = 0;

    for (int i = 0; i < 20 && status != 429; i++)
        status = ask_with(f, "POST /api/v1/login", "",
                          "{\"name\":\"anna\",\"password\":\"bert\"}", &answer);
    assert_int_equal(status, 429);
    assert_int_equal(ask_with(f, "POST /api/v1/login", "",
                              "{\"name\":\"bert\",\"password\":\"bert\"}", &answer),
                     200);
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
        {"admin.example.org", 200},
        {"Admin.Example.org:443", 200},
        {"admin.example.org.evil.example", 421},
        {"x.admin.example.org", 421},
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
    static const char *const heads[] = {"GET /status", "GET /livez", "GET /nothing",
                                        "GET /metrics"};
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
        ask_port(f, "GET /status", &answer);

        const char *nonce = strstr(answer.ptr, "style-src 'nonce-");

        assert_non_null(nonce);
        memcpy(nonces[i], nonce + 17, 32);
        assert_has(answer, "<style nonce=\"");
        assert_memory_equal(strstr(answer.ptr, "<style nonce=\"") + 14, nonces[i], 32);
    }
    assert_string_not_equal(nonces[0], nonces[1]);
    buf_free(&answer);
}

/* ---- a prefix, and for looking only ---- */

static struct server *start_other(const struct fixture *f, struct server_options *opt,
                                  uint16_t *port)
{
    static char other[600];
    struct server *s = NULL;
    struct err err = {0};

    snprintf(other, sizeof(other), "%s/other.sock", f->folder);
    opt->socket = other;
    if (!server_start(&s, opt, &err))
        fail_msg("%s", err.msg);
    *port = (uint16_t)strtoul(strchr(server_address(s), ':') + 1, NULL, 10);
    return s;
}

static int ask_at(uint16_t port, const char *head, const char *body, struct buf *answer)
{
    struct buf b = {0};
    int status;

    buf_printf(&b, "%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer mrt_admin\r\n",
               head);
    if (body != NULL)
        buf_printf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                   strlen(body));
    buf_printf(&b, "\r\n%s", body != NULL ? body : "");
    status = talk(connect_tcp(port), buf_str(&b), answer);
    buf_free(&b);
    return status;
}

static void the_port_serves_everything_below_its_prefix_and_the_socket_without_it(void **state)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        {"GET /mill/", 200},
        {"GET /mill/api/v1/version", 200},
        {"GET /mill/livez", 200},
        {"GET /livez", 200},
        {"GET /metrics", 200},
        {"GET /mill/nothing", 404},
        {"GET /", 404},
        {"GET /api/v1/version", 404},
        {"GET /millx/", 404},
        {"GET /mill//livez", 400},
        {"GET /mill/../livez", 400},
    };
    const struct fixture *f = *state;
    struct server_options opt = options(f);
    struct buf answer = {0};
    uint16_t port;

    opt.api.prefix = STR("/mill");
    fake_coordinator.answer = fake_status;

    struct server *s = start_other(f, &opt, &port);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (ask_at(port, cases[i].head, NULL, &answer) != cases[i].status)
            fail_msg("%s: %s", cases[i].head, answer.ptr);
    assert_int_equal(ask_at(port, "GET /mill?x=1", NULL, &answer), 308);
    assert_has(answer, "Location: /mill/\r\n");
    assert_int_equal(ask_at(port, "GET /mill/api/v1/openapi.json", NULL, &answer), 200);
    assert_has(answer, "\"servers\":[{\"url\":\"/mill\",");
    assert_int_equal(ask_at(port, "POST /mill/api/v1/login",
                            "{\"name\":\"anna\",\"password\":\"anna\"}", &answer),
                     200);
    assert_has(answer, "millrace_session=mrt_viewer; Path=/mill; HttpOnly;");
    assert_int_equal(ask(connect_unix(opt.socket), "GET /api/v1/version", NULL, &answer), 200);
    assert_int_equal(ask(connect_unix(opt.socket), "GET /mill/api/v1/version", NULL, &answer),
                     404);
    server_stop(s);
    buf_free(&answer);
}

static void a_port_for_looking_takes_questions_and_no_change(void **state)
{
    static const struct {
        const char *head, *body;
        int status;
    } cases[] = {
        {"GET /api/v1/status", NULL, 200},
        {"POST /api/v1/login", "{\"name\":\"anna\",\"password\":\"anna\"}", 200},
        {"POST /api/v1/words/try", "{\"text\":\"x\"}", 200},
        {"POST /api/v1/drain/cancel", NULL, 403},
        {"PUT /api/v1/users/anna", "{}", 403},
        {"DELETE /api/v1/tables/a.b", NULL, 403},
        {"PATCH /api/v1/config/delivery", "{}", 403},
    };
    const struct fixture *f = *state;
    struct server_options opt = options(f);
    struct buf answer = {0};
    uint16_t port;

    opt.is_read_only = true;

    struct server *s = start_other(f, &opt, &port);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (ask_at(port, cases[i].head, cases[i].body, &answer) != cases[i].status)
            fail_msg("%s: %s", cases[i].head, answer.ptr);
        if (cases[i].status == 403)
            assert_has(answer, "\"code\":\"read-only\"");
    }
    assert_int_equal(ask_at(port, "GET /api/v1/me", NULL, &answer), 200);
    assert_has(answer, "\"read_only\":true");
    assert_int_equal(ask(connect_unix(opt.socket), "POST /api/v1/drain/cancel", NULL, &answer),
                     200);
    assert_int_equal(ask(connect_unix(opt.socket), "GET /api/v1/me", NULL, &answer), 200);
    assert_has(answer, "\"read_only\":false");
    server_stop(s);
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
    assert_int_equal(ask_port(f, "POST /api/v1/topics/a/reset", &answer), 401);
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
        TEST(a_token_opens_the_routes_of_its_role),
        TEST(a_log_in_gets_a_cookie_that_scripts_of_a_page_cannot_read),
        TEST(after_wrong_passwords_even_the_right_one_has_to_wait),
        TEST(a_list_knows_whether_the_caller_sees_rows),
        TEST(only_a_request_that_still_runs_may_be_sent_again_later),
        TEST(a_wrong_secret_has_a_code_of_its_own),
        TEST(whoever_guesses_from_many_addresses_of_one_network_or_machine_is_stopped),
        TEST(where_other_machines_reach_the_port_the_status_page_is_for_a_role),
        TEST(a_foreign_host_name_is_refused),
        TEST(every_answer_carries_the_strict_headers),
        TEST(the_style_sheet_of_the_page_has_a_new_nonce_each_time),
        TEST(the_port_serves_everything_below_its_prefix_and_the_socket_without_it),
        TEST(a_port_for_looking_takes_questions_and_no_change),
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
