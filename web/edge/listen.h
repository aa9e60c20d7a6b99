/*
 * Opens listening sockets ourselves, so that an error can say what to change.
 */
#ifndef WEB_EDGE_LISTEN_H
#define WEB_EDGE_LISTEN_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct buf;

enum listen_port {
    LISTEN_PAGE = 0, /* on loopback addresses only */
    LISTEN_PAGE_TLS, /* the same port, over TLS: on any address */
    LISTEN_METRICS,  /* on any address */
    LISTEN_WORDS,    /* on any address */
};

/*
 * Listen on "127.0.0.1:7700", "[::1]:7700" or "localhost:7700"; port 0: any free one.  Appends
 * the address in use to *address.
 */
bool listen_tcp(int *fd, struct buf *address, enum listen_port port, const char *where,
                struct err *err) MUST_CHECK;

/* True if no port is wanted: NULL, "off" or an empty text. */
bool listen_is_off(const char *where);
/* Whether only this machine reaches the address; off is such. */
bool listen_is_loopback(const char *where) MUST_CHECK;
/* Check the address without listening.  Off is valid. */
bool listen_check(enum listen_port port, const char *where, struct err *err) MUST_CHECK;

/*
 * Listen on a unix socket with mode 0660.  Replaces a socket on which nobody listens; if
 * somebody answers, fails.
 */
bool listen_unix(int *fd, const char *path, struct err *err) MUST_CHECK;
/* Remove the socket that listen_unix() has made. */
void listen_remove(const char *path);

#endif
