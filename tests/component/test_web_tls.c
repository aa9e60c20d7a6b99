#include "config.h"

#include "tests/component/web_rig.h"

#include "web/tls/tls_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* The port over TLS, and clients that stop half-way, send nonsense, or much. */

#define SLOW    1000
#define PLACES  16
#define STEP_MS 50
#define STEPS   1200 /* a minute */
#define LONG_S  60   /* longer than a test takes */
#define BIG     ((size_t)12 << 20)
#define SOME    ((size_t)512 << 10)

/* ---- certificates ---- */

static struct tls_keys *keys, *other_keys;
static char folder[] = "/tmp/millrace-tls-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[96];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t n, mode_t mode)
{
    const int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* NAME.pem and NAME.key: a certificate that has signed itself. */
static void make_files(const char *name, const char *host)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t crt;
    gnutls_datum_t text;
    char file[32];

    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(
        gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                     GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
        0);
    assert_int_equal(gnutls_x509_crt_init(&crt), 0);
    assert_int_equal(gnutls_x509_crt_set_version(crt, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(crt, "\1", 1), 0);
    assert_int_equal(gnutls_x509_crt_set_key(crt, key), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(crt, time(NULL) - 10), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(crt, time(NULL) + 86400), 0);
    assert_int_equal(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, host,
                                                   (unsigned)strlen(host)),
                     0);
    assert_int_equal(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &text), 0);
    snprintf(file, sizeof(file), "%s.pem", name);
    write_file(file, text.data, text.size, 0644);
    gnutls_free(text.data);
    assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text), 0);
    snprintf(file, sizeof(file), "%s.key", name);
    write_file(file, text.data, text.size, 0600);
    gnutls_free(text.data);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
}

static bool open_keys(struct tls_keys **out, const char *cert, const char *key,
                      const char *min_version, struct err *err)
{
    char cert_path[96], key_path[96];

    snprintf(cert_path, sizeof(cert_path), "%s/%s", folder, cert);
    snprintf(key_path, sizeof(key_path), "%s/%s", folder, key);
    return tls_keys_open(out, &(struct tls_keys_source){cert_path, key_path, min_version}, err);
}

static int make_keys(void **state)
{
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(folder));
    make_files("one", "localhost");
    make_files("two", "other.example");
    return open_keys(&keys, "one.pem", "one.key", "1.2", &err) &&
                   open_keys(&other_keys, "two.pem", "two.key", "1.2", &err)
               ? 0
               : -1;
}

static int drop_keys(void **state)
{
    static const char *const names[] = {"one.pem", "one.key", "two.pem", "two.key", "bad"};

    (void)state;
    tls_keys_unref(keys);
    tls_keys_unref(other_keys);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

/* ---- servers ---- */

static struct server_options tls_options(const struct fixture *f)
{
    struct server_options opt = options(f);

    opt.keys = keys;
    return opt;
}

static int set_up_tls(void **state, unsigned timeout_s, unsigned places)
{
    struct fixture *f = mem_alloc(1, sizeof(*f));
    struct err err = {0};

    memset(&fake_coordinator, 0, sizeof(fake_coordinator));
    snprintf(f->folder, sizeof(f->folder), "/tmp/millrace-web-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->socket, sizeof(f->socket), "%s/millrace.sock", f->folder);

    struct server_options opt = tls_options(f);

    opt.timeout_s = timeout_s;
    opt.places = places;
    if (!server_start(&f->server, &opt, &err))
        fail_msg("%s", err.msg);
    f->port = (uint16_t)strtoul(strchr(server_address(f->server), ':') + 1, NULL, 10);
    *state = f;
    return 0;
}

static int set_up_long(void **state)
{
    return set_up_tls(state, LONG_S, 0);
}

static int set_up_short(void **state)
{
    return set_up_tls(state, 1, 0);
}

static int set_up_many(void **state)
{
    return set_up_tls(state, LONG_S, 3 * SLOW);
}

static int set_up_few(void **state)
{
    return set_up_tls(state, LONG_S, PLACES);
}

/* ---- clients ---- */

struct client {
    int fd;
    gnutls_certificate_credentials_t credentials;
    gnutls_session_t session;
};

/* Returns what the library says of the handshake. */
static int open_client(struct client *c, int fd, const char *priority)
{
    int code;

    *c = (struct client){.fd = fd};
    assert_int_equal(gnutls_certificate_allocate_credentials(&c->credentials), 0);
    assert_int_equal(gnutls_init(&c->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
    assert_int_equal(gnutls_priority_set_direct(c->session, priority, NULL), 0);
    assert_int_equal(gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->credentials),
                     0);
    gnutls_transport_set_int(c->session, c->fd);
    do
        code = gnutls_handshake(c->session);
    while (code < 0 && !gnutls_error_is_fatal(code));
    return code;
}

static void connect_client(struct client *c, uint16_t port)
{
    const int code = open_client(c, connect_tcp(port), "NORMAL");

    if (code != 0)
        fail_msg("no handshake: %s", gnutls_strerror(code));
}

static void close_client(struct client *c)
{
    gnutls_deinit(c->session);
    gnutls_certificate_free_credentials(c->credentials);
    close(c->fd);
}

/* Returns false when the other side takes no more. */
static bool client_send(struct client *c, struct str text)
{
    while (text.len > 0) {
        const ssize_t n = gnutls_record_send(c->session, text.ptr, text.len);

        if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
            continue;
        if (n <= 0)
            return false;
        text = (struct str){text.ptr + n, text.len - (size_t)n};
    }
    return true;
}

/* Read to the end; returns the status.  *is_whole: the server has said farewell. */
static int client_read(struct client *c, struct buf *answer, bool *is_whole)
{
    static char piece[16384];
    ssize_t n = 1;

    buf_clear(answer);
    while (n > 0 || n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED) {
        n = gnutls_record_recv(c->session, piece, sizeof(piece));
        if (n > 0)
            buf_append(answer, (struct str){piece, (size_t)n});
    }
    *is_whole = n == 0;
    return answer->len > 12 ? (int)strtol(answer->ptr + 9, NULL, 10) : 0;
}

static int talk_tls(uint16_t port, struct str text, struct buf *answer)
{
    struct client c;
    bool is_whole;
    int status;

    connect_client(&c, port);
    client_send(&c, text);
    status = client_read(&c, answer, &is_whole);
    close_client(&c);
    assert_true(is_whole);
    return status;
}

static int ask_tls(const struct fixture *f, const char *head, struct buf *answer)
{
    struct buf text = {0};
    int status;

    request(&text, head, NULL);
    status = talk_tls(f->port, buf_str(&text), answer);
    buf_free(&text);
    return status;
}

static void assert_probes_answer(const struct fixture *f)
{
    struct buf answer = {0};

    assert_int_equal(ask_tls(f, "GET /livez", &answer), 200);
    assert_int_equal(ask_socket(f, "GET /livez", NULL, &answer), 200);
    buf_free(&answer);
}

/* Whether the other side has said something or closed within ms. */
static bool is_over(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, ms) == 1;
}

/* Wait until the other side has closed, whatever it says before. */
static void wait_for_the_end(int fd)
{
    char piece[4096];

    for (int i = 0; i < STEPS; i++)
        if (is_over(fd, STEP_MS) && recv(fd, piece, sizeof(piece), MSG_DONTWAIT) <= 0)
            return;
    fail_msg("the connection is still open");
}

/* ---- what works ---- */

static void a_request_over_tls_is_answered_and_told_to_come_over_tls_again(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_tls(f, "GET /readyz", &answer), 200);
    assert_null(
        strstr(answer.ptr, "Strict-Transport")); /* other ports of localhost have none */
    assert_int_equal(talk_tls(f->port,
                              STR("GET /readyz HTTP/1.1\r\nHost: admin.example.org\r\n\r\n"),
                              &answer),
                     200);
    assert_has(answer, "Strict-Transport-Security: max-age=2592000\r\n");
    assert_int_equal(
        talk_tls(f->port, STR("GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), &answer),
        400);
    buf_free(&answer);
}

static void a_cookie_of_tls_is_secure_and_a_page_without_tls_may_not_use_it(void **state)
{
    static const struct str log_in =
        STR("POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/json\r\nContent-Length: 33\r\n\r\n"
            "{\"name\":\"anna\",\"password\":\"anna\"}");
    static const struct str from_plain =
        STR("POST /api/v1/drain/cancel HTTP/1.1\r\nHost: localhost\r\n"
            "Cookie: millrace_session=mrt_admin\r\nOrigin: http://localhost\r\n"
            "Content-Length: 0\r\n\r\n");
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(talk_tls(f->port, log_in, &answer), 200);
    assert_has(answer, "; Max-Age=43200; Secure\r\n");
    assert_int_equal(talk_tls(f->port, from_plain, &answer), 403);
    assert_has(answer, "cross-site");
    buf_free(&answer);
}

static void a_head_that_comes_in_single_bytes_is_answered(void **state)
{
    static const char text[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct client c;
    bool is_whole;

    connect_client(&c, f->port);
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        assert_true(client_send(&c, (struct str){text + i, 1}));
    assert_int_equal(client_read(&c, &answer, &is_whole), 200);
    assert_true(is_whole);
    close_client(&c);
    buf_free(&answer);
}

static void a_big_body_and_a_big_answer_come_whole(void **state)
{
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};
    char *big = mem_alloc(BIG + 1, 1);

    memset(big, ' ', BIG);
    memcpy(big, "{\"files\":[]", 11);
    big[BIG - 1] = '}';
    fake_coordinator.answer = big;
    buf_printf(&text,
               "POST /api/v1/apply HTTP/1.1\r\nHost: localhost\r\n"
               "Authorization: Bearer mrt_admin\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               BIG, big);
    talk_tls(f->port, buf_str(&text), &answer);
    buf_clear(&text);
    buf_printf(&text, "GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n"
                      "Authorization: Bearer mrt_admin\r\n\r\n");
    assert_int_equal(talk_tls(f->port, buf_str(&text), &answer), 200);
    assert_true(answer.len > BIG);
    assert_memory_equal(answer.ptr + answer.len - BIG, big, BIG);
    fake_coordinator.answer = NULL;
    free(big);
    buf_free(&text);
    buf_free(&answer);
}

/* What a refused body leaves unread does not cost its sender the answer. */
static void who_sends_too_much_still_gets_the_answer(void **state)
{
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};

    buf_printf(&text,
               "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "%04000d", 0);
    assert_int_equal(talk_tls(f->port, buf_str(&text), &answer), 413);
    buf_free(&text);
    buf_free(&answer);
}

static void a_connection_has_one_request(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(talk_tls(f->port,
                              STR("GET /livez HTTP/1.1\r\nHost: localhost\r\n"
                                  "Connection: keep-alive\r\n\r\n"
                                  "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                              &answer),
                     200);
    assert_has(answer, "Connection: close");
    assert_null(strstr(answer.ptr, "process_resident"));
    buf_free(&answer);
}

/* ---- handshakes ---- */

static void allow_files(void)
{
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < (rlim_t)6 * SLOW)
        skip();
}

/* The start of a ClientHello, which announces more than it sends. */
static void send_half(int fd)
{
    static const char half[] = {0x16, 3, 1, 2, 0, 1, 0, 1, (char)0xfc, 3, 3};

    assert_int_equal(send(fd, half, sizeof(half), MSG_NOSIGNAL), sizeof(half));
}

static void a_thousand_half_handshakes_keep_nobody_waiting(void **state)
{
    const struct fixture *f = *state;
    static int fds[SLOW];

    allow_files();
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = connect_tcp(f->port);
        if (i % 2 == 0)
            send_half(fds[i]);
    }
    assert_probes_answer(f);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        assert_false(is_over(fds[i], 0)); /* all of them were there the whole time */
        close(fds[i]);
    }
    assert_probes_answer(f);
}

static void half_handshakes_count_and_the_oldest_goes(void **state)
{
    const struct fixture *f = *state;
    int fds[3 * PLACES];

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = connect_tcp(f->port);
        send_half(fds[i]);
    }
    assert_probes_answer(f);
    for (size_t i = 0; i < PLACES; i++)
        wait_for_the_end(fds[i]);
    for (size_t i = ARRAY_LEN(fds) - PLACES / 4; i < ARRAY_LEN(fds); i++)
        assert_false(is_over(fds[i], 0)); /* the last of them stay */
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

static void a_handshake_and_its_head_have_their_time_in_all(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct client c;
    bool is_whole;
    int silent = connect_tcp(f->port), half = connect_tcp(f->port);

    send_half(half);
    wait_for_the_end(silent);
    wait_for_the_end(half);
    connect_client(&c, f->port); /* and then says nothing */
    assert_int_equal(client_read(&c, &answer, &is_whole), 408);
    assert_true(is_whole);
    close_client(&c);
    close(silent);
    close(half);
    buf_free(&answer);
}

static void who_speaks_no_tls_hears_so_or_nothing(void **state)
{
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};

    request(&text, "GET /livez", NULL);
    assert_int_equal(talk(connect_tcp(f->port), buf_str(&text), &answer), 400);
    assert_has(answer, "\"code\":\"speaks-tls\"");
    assert_has(answer, "use https://");
    for (int i = 0; i < 200000; i++)
        buf_append_char(&text, 'x');
    assert_int_equal(talk(connect_tcp(f->port), buf_str(&text), &answer), 400);
    assert_int_equal(talk(connect_tcp(f->port), STR("\x80\x2e\x01 nonsense"), &answer), 0);
    assert_int_equal(answer.len, 0);
    assert_int_equal(talk(connect_tcp(f->port), STR("\x16\xff\xff\xff\xff nonsense"), &answer),
                     0);
    assert_string_equal(fake_coordinator.call, "");
    assert_probes_answer(f);
    buf_free(&text);
    buf_free(&answer);
}

static void an_old_version_is_refused_and_the_setting_refuses_more(void **state)
{
    const struct fixture *f = *state;
    struct tls_keys *strict = NULL;
    struct client c;
    struct err err;

    assert_int_not_equal(open_client(&c, connect_tcp(f->port), "NORMAL:-VERS-ALL:+VERS-TLS1.1"),
                         0);
    close_client(&c);
    assert_int_equal(open_client(&c, connect_tcp(f->port), "NORMAL:-VERS-ALL:+VERS-TLS1.2"), 0);
    close_client(&c);
    assert_true(open_keys(&strict, "one.pem", "one.key", "1.3", &err));
    server_use_keys(f->server, strict);
    tls_keys_unref(strict);
    assert_int_not_equal(open_client(&c, connect_tcp(f->port), "NORMAL:-VERS-ALL:+VERS-TLS1.2"),
                         0);
    close_client(&c);
    assert_probes_answer(f);
}

/* ---- keys ---- */

static bool shows(const struct client *c, const char *host)
{
    unsigned n;
    const gnutls_datum_t *der = gnutls_certificate_get_peers(c->session, &n);
    gnutls_x509_crt_t crt;
    char name[64];
    size_t len = sizeof(name);

    assert_int_equal(gnutls_x509_crt_init(&crt), 0);
    assert_int_equal(gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER), 0);
    assert_int_equal(
        gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &len), 0);
    gnutls_x509_crt_deinit(crt);
    return strcmp(name, host) == 0;
}

static void new_keys_count_from_the_next_connection_on(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct client before, after;
    bool is_whole;

    connect_client(&before, f->port);
    assert_true(shows(&before, "localhost"));
    server_use_keys(f->server, other_keys);
    connect_client(&after, f->port);
    assert_true(shows(&after, "other.example"));
    client_send(&before, STR("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_int_equal(client_read(&before, &answer, &is_whole), 200);
    close_client(&before);
    close_client(&after);
    buf_free(&answer);
}

static void refused(const char *cert, const char *key, const char *why)
{
    struct tls_keys *k = NULL;
    struct err err = {0};

    if (open_keys(&k, cert, key, "1.2", &err))
        fail_msg("%s and %s are taken", cert, key);
    if (strstr(err.msg, why) == NULL || err.kind != ERR_REJECT)
        fail_msg("\"%s\" is missing from: %s", why, err.msg);
}

static void files_that_are_no_certificate_and_its_key_are_refused(void **state)
{
    struct tls_keys *k = NULL;
    struct err err;

    (void)state;
    refused("no.pem", "one.key", "web_tls.cert_file: ");
    refused("one.pem", "no.key", "No such file");
    refused("one.pem", "two.key", "the key that the certificate was made with");
    refused("one.key", "one.key", "web_tls.cert_file: ");
    refused("one.pem", "one.pem", "web_tls.key_file: ");
    write_file("bad", "nonsense", 8, 0600);
    refused("bad", "one.key", "PEM");
    refused("one.pem", "bad", "PEM");
    write_file("bad", "", 0, 0600);
    refused("bad", "one.key", "web_tls.cert_file: ");
    refused("one.pem", "bad", "web_tls.key_file: ");
    assert_int_equal(chmod(path_of("one.key"), 0644), 0);
    refused("one.pem", "one.key", "chmod 600");
    assert_int_equal(chmod(path_of("one.key"), 0600), 0);
    assert_true(open_keys(&k, "one.pem", "one.key", "1.2", &err));
    assert_in_range(tls_keys_end_ms(k) / 1000, time(NULL) + 80000, time(NULL) + 90000);
    tls_keys_unref(k);
}

/* ---- who leaves ---- */

static void a_client_that_closes_in_the_middle_leaves_nothing_behind(void **state)
{
    static const struct str parts[] = {
        STR(""),
        STR("GET /liv"),
        STR("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        STR("POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"),
    };
    const struct fixture *f = *state;

    /* Without places left by those before, the last ones would not get in. */
    for (int i = 0; i < 4 * PLACES; i++) {
        const struct linger reset = {.l_onoff = 1};
        struct client c;

        connect_client(&c, f->port);
        client_send(&c, parts[i % (int)ARRAY_LEN(parts)]);
        if (i % 3 == 0)
            gnutls_bye(c.session, GNUTLS_SHUT_WR);
        if (i % 3 == 1)
            setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close_client(&c);
    }
    assert_probes_answer(f);
}

static void a_client_that_has_said_farewell_still_gets_its_answer(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};
    struct client c;
    bool is_whole;

    connect_client(&c, f->port);
    client_send(&c, STR("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    gnutls_bye(c.session, GNUTLS_SHUT_WR);
    assert_int_equal(client_read(&c, &answer, &is_whole), 200);
    close_client(&c);
    buf_free(&answer);
}

static bool hears_the_end(const struct client *c)
{
    bool ended = false;

    for (int i = 0; i < STEPS && !ended; i++) {
        struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};

        ended = poll(&p, 1, STEP_MS) == 1 && (p.revents & (POLLHUP | POLLRDHUP)) != 0;
    }
    return ended;
}

static void ask_for_status(struct client *c)
{
    client_send(c, STR("GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n"
                       "Authorization: Bearer mrt_admin\r\n\r\n"));
}

static void an_answer_that_nobody_reads_ends(void **state)
{
    const struct fixture *f = *state;
    static char big[2 * BIG + 1]; /* the call may still look at it */
    struct client c;

    memset(big, 'x', 2 * BIG);
    fake_coordinator.answer = big;
    connect_client(&c, f->port);
    ask_for_status(&c);
    assert_true(hears_the_end(&c));
    close_client(&c);
}

/* Wherever it got stuck: in the server, in the relay, in our socket's kernel or in the
 * client's. */
static void an_answer_that_nobody_reads_ends_wherever_it_is(void **state)
{
    const struct fixture *f = *state;
    static char some[SOME + 1];
    struct client clients[8];

    memset(some, 'x', SOME);
    fake_coordinator.answer = some;
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        const int room = (int)(SOME >> i);

        connect_client(&clients[i], f->port);
        setsockopt(clients[i].fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
        ask_for_status(&clients[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        assert_true(hears_the_end(&clients[i]));
        close_client(&clients[i]);
    }
}

static void the_server_stops_while_handshakes_and_calls_run(void **state)
{
    const struct fixture *f = *state;
    struct server *s = NULL;
    struct client clients[4];
    struct buf answer = {0};
    struct err err = {0};
    char path[600];
    int half;

    snprintf(path, sizeof(path), "%s/other.sock", f->folder);

    struct server_options opt = tls_options(f);

    opt.socket = path;
    assert_true(server_start(&s, &opt, &err));

    const uint16_t port = (uint16_t)strtoul(strchr(server_address(s), ':') + 1, NULL, 10);

    half = connect_tcp(port);
    send_half(half);
    fake_coordinator.delay_ms = 300;
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        connect_client(&clients[i], port);
        client_send(&clients[i], STR("GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n"
                                     "Authorization: Bearer mrt_admin\r\n\r\n"));
    }
    for (int i = 0; !fake_coordinator_was_called(); i++) {
        assert_int_not_equal(i, STEPS);
        poll(NULL, 0, STEP_MS);
    }
    server_stop(s);
    for (size_t i = 0; i < ARRAY_LEN(clients); i++)
        close_client(&clients[i]);
    close(half);
    buf_free(&answer);
}

/* ---- open to other machines ---- */

static void a_port_that_others_reach_needs_tls_and_an_admin(void **state)
{
    const struct fixture *f = *state;
    struct server *s = NULL;
    struct buf answer = {0};
    struct err err = {0};
    char path[600];

    snprintf(path, sizeof(path), "%s/other.sock", f->folder);

    struct server_options opt = tls_options(f);

    opt.socket = path;
    opt.listen = "0.0.0.0:0";
    opt.keys = NULL;
    assert_false(server_start(&s, &opt, &err));
    assert_non_null(strstr(err.msg, "web_tls.cert_file"));
    assert_non_null(strstr(err.msg, "--role admin"));
    opt.keys = keys;
    assert_true(server_start(&s, &opt, &err));

    const uint16_t port = (uint16_t)strtoul(strchr(server_address(s), ':') + 1, NULL, 10);
    static const struct str ask = STR("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                            log_in = STR("GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\n"
                                         "Authorization: Bearer mrt_admin\r\n\r\n");

    fake_coordinator.has_no_admin = true;
    assert_int_equal(talk_tls(port, ask, &answer), 403);
    assert_has(answer, "no-admin-yet");
    assert_int_equal(talk_tls(port, log_in, &answer), 403);
    fake_coordinator.has_no_admin = false;
    assert_int_equal(talk_tls(port, ask, &answer), 200);
    assert_int_equal(talk_tls(port, log_in, &answer), 200);
    server_stop(s);
    buf_free(&answer);
}

#define TEST_WITH(set_up, name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH(set_up_long, a_request_over_tls_is_answered_and_told_to_come_over_tls_again),
        TEST_WITH(set_up_long, a_cookie_of_tls_is_secure_and_a_page_without_tls_may_not_use_it),
        TEST_WITH(set_up_long, a_head_that_comes_in_single_bytes_is_answered),
        TEST_WITH(set_up_long, a_big_body_and_a_big_answer_come_whole),
        TEST_WITH(set_up_long, who_sends_too_much_still_gets_the_answer),
        TEST_WITH(set_up_long, a_connection_has_one_request),
        TEST_WITH(set_up_many, a_thousand_half_handshakes_keep_nobody_waiting),
        TEST_WITH(set_up_few, half_handshakes_count_and_the_oldest_goes),
        TEST_WITH(set_up_short, a_handshake_and_its_head_have_their_time_in_all),
        TEST_WITH(set_up_long, who_speaks_no_tls_hears_so_or_nothing),
        TEST_WITH(set_up_long, an_old_version_is_refused_and_the_setting_refuses_more),
        TEST_WITH(set_up_long, new_keys_count_from_the_next_connection_on),
        cmocka_unit_test(files_that_are_no_certificate_and_its_key_are_refused),
        TEST_WITH(set_up_few, a_client_that_closes_in_the_middle_leaves_nothing_behind),
        TEST_WITH(set_up_long, a_client_that_has_said_farewell_still_gets_its_answer),
        TEST_WITH(set_up_short, an_answer_that_nobody_reads_ends),
        TEST_WITH(set_up_short, an_answer_that_nobody_reads_ends_wherever_it_is),
        TEST_WITH(set_up_long, the_server_stops_while_handshakes_and_calls_run),
        TEST_WITH(set_up_long, a_port_that_others_reach_needs_tls_and_an_admin),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("web_tls", tests, make_keys, drop_keys);
}
