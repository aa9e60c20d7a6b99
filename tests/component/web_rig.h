/*
 * The web server over a coordinator that does nothing, and a client that may misbehave.
 */
#ifndef TESTS_COMPONENT_WEB_RIG_H
#define TESTS_COMPONENT_WEB_RIG_H

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "tests/fakes/fake_coordinator.h"
#include "web/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct fixture {
    char folder[64];
    char socket[512];
    struct server *server;
    uint16_t port;
};

static inline struct server_options options(const struct fixture *f)
{
    static const char *const hosts[] = {"admin.example.org"};

    return (struct server_options){
        .socket = f->socket,
        .listen = "127.0.0.1:0",
        .timeout_s = 1,
        .hosts = hosts,
        .n_hosts = 1,
        .api = {.coordinator = fake_coordinator_get(), .version = STR("0.1.0")},
    };
}

/* With other limits than options() has. */
static inline int set_up_limits(void **state, unsigned timeout_s, unsigned places)
{
    struct fixture *f = mem_alloc(1, sizeof(*f));
    struct err err = {0};

    memset(&fake_coordinator, 0, sizeof(fake_coordinator));
    snprintf(f->folder, sizeof(f->folder), "/tmp/millrace-web-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->socket, sizeof(f->socket), "%s/millrace.sock", f->folder);

    struct server_options opt = options(f);

    opt.timeout_s = timeout_s;
    opt.places = places;
    if (!server_start(&f->server, &opt, &err))
        fail_msg("%s", err.msg);
    f->port = (uint16_t)strtoul(strchr(server_address(f->server), ':') + 1, NULL, 10);
    *state = f;
    return 0;
}

static inline int set_up(void **state)
{
    return set_up_limits(state, 1, 0);
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    server_stop(f->server);
    assert_int_equal(access(f->socket, F_OK), -1); /* nothing stays behind */
    rmdir(f->folder);
    free(f);
    return 0;
}

/* ---- a client ---- */

static inline int connect_unix(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_true(strlen(path) < sizeof(a.sun_path));
    memcpy(a.sun_path, path, strlen(path) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

static inline int connect_tcp(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

/* Send text, read until the other side closes; returns the status line's number, 0 without. */
static int talk(int fd, struct str text, struct buf *answer)
{
    char piece[4096];
    ssize_t n;

    buf_clear(answer);
    for (size_t sent = 0; sent < text.len; sent += (size_t)n) {
        n = send(fd, text.ptr + sent, text.len - sent, MSG_NOSIGNAL);
        if (n <= 0)
            break;
    }
    while ((n = recv(fd, piece, sizeof(piece), 0)) > 0)
        buf_append(answer, (struct str){piece, (size_t)n});
    close(fd);
    return answer->len > 12 ? (int)strtol(answer->ptr + 9, NULL, 10) : 0;
}

static inline void request(struct buf *b, const char *head, const char *body)
{
    buf_printf(b, "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", head);
    if (body != NULL)
        buf_printf(b, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                   strlen(body));
    buf_printf(b, "\r\n%s", body != NULL ? body : "");
}

static inline int ask(int fd, const char *head, const char *body, struct buf *answer)
{
    struct buf b = {0};

    request(&b, head, body);

    int status = talk(fd, buf_str(&b), answer);

    buf_free(&b);
    return status;
}

static inline int ask_socket(const struct fixture *f, const char *head, const char *body,
                             struct buf *answer)
{
    return ask(connect_unix(f->socket), head, body, answer);
}

static inline int ask_port(const struct fixture *f, const char *head, struct buf *answer)
{
    return ask(connect_tcp(f->port), head, NULL, answer);
}

#define assert_has(answer, text)                                           \
    do {                                                                   \
        if (strstr((answer).ptr, (text)) == NULL)                          \
            fail_msg("\"%s\" is missing from:\n%s", (text), (answer).ptr); \
    } while (0)

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
