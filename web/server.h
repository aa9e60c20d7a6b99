/*
 * The HTTP server: the unix socket with the whole API, and the port with what is open to it.
 *
 * Who connects to the socket as the daemon's own user or as root is admin, anyone else is
 * refused.  The port is loopback only, checks Host against DNS rebinding, and serves only the
 * routes that are open.  A thread a connection; connections, idle time and sizes are limited.
 *
 * @thread the owner's; the handlers run on the server's
 */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "web/api.h"

#include <stdbool.h>

struct server;

struct server_options {
    const char *socket; /* path */
    const char *listen; /* host:port; NULL, empty or "off": no port */
    unsigned timeout_s; /* idle time of a connection; 0: 15 */
    struct api api;     /* what it points to must outlive the server */
};

bool server_start(struct server **out, const struct server_options *opt,
                  struct err *err) MUST_CHECK;

/* Waits for the handlers that run; removes the socket.  NULL is fine. */
void server_stop(struct server *s);

/* "127.0.0.1:7700", empty without a port. */
const char *server_address(const struct server *s);

#endif
