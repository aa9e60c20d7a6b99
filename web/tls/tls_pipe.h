/*
 * One connection that speaks TLS: a client at one end, the plain bytes for the server at the
 * other.
 *
 * A pipe takes from one end what the other has room for: it holds one record of each direction.
 * The session is made with the client's first byte, so a client that says nothing costs little.
 * Whoever begins to speak plain HTTP gets an answer that says so.  When the server has ended
 * its side, the client gets what is left, and the pipe reads on until the client ends, because
 * closing a socket with unread bytes would discard the answer.
 *
 * @thread one at a time; nothing blocks
 */
#ifndef WEB_TLS_PIPE_H
#define WEB_TLS_PIPE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/list.h"
#include "web/tls/tls_keys.h"

#include <stdbool.h>
#include <stdint.h>

#define TLS_PIECE_MAX ((size_t)16 << 10) /* of a record */

enum tls_phase {
    TLS_FIRST_BYTE = 0,
    TLS_HANDSHAKE,
    TLS_OPEN,
    TLS_FAREWELL, /* the server has ended; the client hears of it */
    TLS_DRAIN,    /* until the client ends, too */
    TLS_OVER,
};

struct tls_end {
    struct tls_pipe *pipe;
    int fd;           /* -1: closed */
    uint32_t watched; /* what the relay's epoll waits for */
};

struct tls_pipe {
    struct link link;      /* the relay's, like the next two */
    struct link ending;    /* unlisted: the server has not ended */
    int64_t ended_ms;      /* when it did */
    struct tls_end client; /* the socket */
    struct tls_end server; /* our end of a socket pair */
    enum tls_phase phase;
    struct tls_keys *keys;
    gnutls_session_t session;        /* NULL: no byte has come */
    struct buf to_server, to_client; /* taken from one end, not yet by the other */
    bool client_ended;               /* it sends no more */
    bool server_deaf;                /* it reads no more */
    bool is_sending;                 /* the library holds a part of to_client */
};

/* Takes both descriptors, and keys. */
struct tls_pipe *tls_pipe_new(int client, int server,
                              struct tls_keys *keys) RETURNS_NONNULL MUST_CHECK;
/* Closes the connection. */
void tls_pipe_free(struct tls_pipe *p);

/* Move what can be moved.  scratch has TLS_PIECE_MAX bytes. */
void tls_pipe_move(struct tls_pipe *p, char *scratch);

/* What to wait for before the next move: EPOLLIN and EPOLLOUT, or 0. */
uint32_t tls_pipe_awaits_client(const struct tls_pipe *p);
uint32_t tls_pipe_awaits_server(const struct tls_pipe *p);

#endif
