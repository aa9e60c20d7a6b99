#include "config.h"

#include "web/tls/tls_pipe.h"

#include "src/base/log.h"
#include "src/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS    4    /* in one move, so that others get their turn */
#define HANDSHAKE 0x16 /* the first byte of TLS */

struct tls_pipe *tls_pipe_new(int client, int server, struct tls_keys *keys)
{
    struct tls_pipe *p = mem_alloc(1, sizeof(*p));

    *p = (struct tls_pipe){.keys = keys};
    p->client = (struct tls_end){.pipe = p, .fd = client};
    p->server = (struct tls_end){.pipe = p, .fd = server};
    return p;
}

static void end_server(struct tls_pipe *p)
{
    if (p->server.fd != -1)
        close(p->server.fd);
    p->server = (struct tls_end){.pipe = p, .fd = -1};
}

void tls_pipe_free(struct tls_pipe *p)
{
    end_server(p);
    if (p->session != NULL)
        gnutls_deinit(p->session);
    close(p->client.fd);
    tls_keys_unref(p->keys);
    buf_free(&p->to_server);
    buf_free(&p->to_client);
    free(p);
}

static bool is_later(ssize_t n)
{
    return n == -1 && (errno == EAGAIN || errno == EINTR);
}

static bool library_is_later(ssize_t n)
{
    return n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
}

/* ---- before a session is open ---- */

/* The server says nothing before it has a head: it has turned the guest away. */
static bool server_gave_up(const struct tls_pipe *p)
{
    char c;

    return !is_later(recv(p->server.fd, &c, 1, MSG_PEEK | MSG_DONTWAIT));
}

/* The client hears no more from us; read on until it ends. */
static void hang_up(struct tls_pipe *p)
{
    end_server(p);
    shutdown(p->client.fd, SHUT_WR);
    p->phase = TLS_DRAIN;
}

static bool begins_a_method(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Whoever speaks plain HTTP gets this.  Returns false if the socket does not take it. */
static bool refuse_plain(const struct tls_pipe *p)
{
    static const char body[] =
        "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
        "\"detail\":\"this port speaks TLS\",\"code\":\"speaks-tls\","
        "\"fix\":\"use https:// instead of http://\"}\n";
    char text[512];
    const int n = snprintf(text, sizeof(text),
                           "HTTP/1.1 400 Bad Request\r\n"
                           "Content-Type: application/problem+json\r\n"
                           "Cache-Control: no-store\r\n"
                           "Connection: close\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           sizeof(body) - 1, body);

    return send(p->client.fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n;
}

static void take_first_byte(struct tls_pipe *p)
{
    char c;
    const ssize_t n = recv(p->client.fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

    if (is_later(n))
        return;
    p->phase = TLS_OVER;
    if (n != 1)
        return;
    if (c == HANDSHAKE && (p->session = tls_keys_session(p->keys, p->client.fd)) != NULL)
        p->phase = TLS_HANDSHAKE;
    else if (begins_a_method(c) && refuse_plain(p))
        hang_up(p);
}

static void shake_hands(struct tls_pipe *p)
{
    int code = gnutls_handshake(p->session);

    for (int i = 0; i < ROUNDS && code < 0 && !library_is_later(code); i++) {
        if (gnutls_error_is_fatal(code))
            break;
        code = gnutls_handshake(p->session); /* after a warning */
    }
    if (code == 0) {
        p->phase = TLS_OPEN;
    } else if (!library_is_later(code)) {
        log_debug("a TLS handshake failed", KV("reason", gnutls_strerror(code)));
        gnutls_alert_send_appropriate(p->session, code);
        hang_up(p);
    }
}

/* ---- the open session ---- */

/* True once the server has everything. */
static bool feed_server(struct tls_pipe *p)
{
    while (p->to_server.len > 0) {
        const ssize_t n =
            send(p->server.fd, p->to_server.ptr, p->to_server.len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (is_later(n))
            return false;
        p->server_deaf = n <= 0;
        buf_drop(&p->to_server, n > 0 ? (size_t)n : p->to_server.len);
    }
    return true;
}

/* Take a record from the client.  Returns false if none came, or none has room. */
static bool pull(struct tls_pipe *p, char *scratch)
{
    if (!feed_server(p) || p->client_ended)
        return false;

    const ssize_t n = gnutls_record_recv(p->session, scratch, TLS_PIECE_MAX);

    if (n > 0) {
        if (!p->server_deaf)
            buf_append(&p->to_server, (struct str){scratch, (size_t)n});
        return true;
    }
    if (library_is_later(n))
        return false;
    if (n == 0 || n == GNUTLS_E_PREMATURE_TERMINATION) {
        p->client_ended = true;
        shutdown(p->server.fd, SHUT_WR);
        return false;
    }
    if (!gnutls_error_is_fatal((int)n) && n != GNUTLS_E_REHANDSHAKE)
        return true; /* a warning */
    p->phase = TLS_OVER;
    return false;
}

/* True once the client's socket has everything. */
static bool feed_client(struct tls_pipe *p)
{
    while (p->to_client.len > 0) {
        const ssize_t n =
            p->is_sending ? gnutls_record_send(p->session, NULL, 0)
                          : gnutls_record_send(p->session, p->to_client.ptr, p->to_client.len);

        p->is_sending = library_is_later(n);
        if (p->is_sending)
            return false;
        if (n <= 0) {
            p->phase = TLS_OVER;
            return false;
        }
        buf_drop(&p->to_client, (size_t)n);
    }
    return true;
}

/* Take a piece from the server.  Returns false if none came, or none has room. */
static bool push(struct tls_pipe *p, char *scratch)
{
    if (!feed_client(p))
        return false;

    const ssize_t n = recv(p->server.fd, scratch, TLS_PIECE_MAX, MSG_DONTWAIT);

    if (is_later(n))
        return false;
    if (n > 0) {
        buf_append(&p->to_client, (struct str){scratch, (size_t)n});
        return true;
    }
    end_server(p);
    p->phase = TLS_FAREWELL;
    return false;
}

/* Records that the library has already are in no socket, so nothing would tell of them. */
static bool has_more(const struct tls_pipe *p)
{
    return p->to_server.len == 0 && gnutls_record_check_pending(p->session) > 0;
}

static void relay(struct tls_pipe *p, char *scratch)
{
    bool pulled = true, pushed = true;

    for (int i = 0; (pulled || pushed) && p->phase == TLS_OPEN; i++) {
        if (i >= ROUNDS && !has_more(p))
            break;
        pulled = pull(p, scratch);
        pushed = p->phase == TLS_OPEN && push(p, scratch);
    }
}

/* ---- the end ---- */

static void say_farewell(struct tls_pipe *p)
{
    const int code = gnutls_bye(p->session, GNUTLS_SHUT_WR);

    if (!library_is_later(code))
        hang_up(p);
}

static void drain(struct tls_pipe *p, char *scratch)
{
    ssize_t n = 1;

    for (int i = 0; i < ROUNDS && n > 0; i++)
        n = recv(p->client.fd, scratch, TLS_PIECE_MAX, MSG_DONTWAIT);
    if (n <= 0 && !is_later(n))
        p->phase = TLS_OVER;
}

void tls_pipe_move(struct tls_pipe *p, char *scratch)
{
    if (p->phase < TLS_OPEN && server_gave_up(p))
        p->phase = TLS_OVER;
    if (p->phase == TLS_FIRST_BYTE)
        take_first_byte(p);
    if (p->phase == TLS_HANDSHAKE)
        shake_hands(p);
    if (p->phase == TLS_OPEN)
        relay(p, scratch);
    if (p->phase == TLS_FAREWELL)
        say_farewell(p);
    if (p->phase == TLS_DRAIN)
        drain(p, scratch);
}

/* ---- what it waits for ---- */

uint32_t tls_pipe_awaits_client(const struct tls_pipe *p)
{
    switch (p->phase) {
    case TLS_FIRST_BYTE:
    case TLS_DRAIN: return EPOLLIN;
    case TLS_HANDSHAKE:
        return gnutls_record_get_direction(p->session) == 1 ? EPOLLOUT : EPOLLIN;
    case TLS_OPEN:
        return (p->to_server.len == 0 && !p->client_ended ? EPOLLIN : 0U) |
               (p->to_client.len > 0 ? EPOLLOUT : 0U);
    case TLS_FAREWELL: return EPOLLOUT;
    case TLS_OVER: break;
    }
    return 0;
}

uint32_t tls_pipe_awaits_server(const struct tls_pipe *p)
{
    switch (p->phase) {
    case TLS_FIRST_BYTE:
    case TLS_HANDSHAKE: return EPOLLIN;
    case TLS_OPEN:
        return (p->to_client.len == 0 ? EPOLLIN : 0U) | (p->to_server.len > 0 ? EPOLLOUT : 0U);
    case TLS_FAREWELL:
    case TLS_DRAIN:
    case TLS_OVER: break;
    }
    return 0;
}
