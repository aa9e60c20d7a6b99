/*
 * The HTTP server: a unix socket that serves the whole API, a port that serves the page too
 * but no API, and a port for metrics and health alone.
 *
 * A client on the socket is admin if it runs as the daemon's own user or as root; all others
 * are refused.  The port of the page listens on loopback only and checks Host against DNS
 * rebinding.  The port of the metrics may listen on any address; nothing else exists there.
 * Each listener has a door (door.h), which checks heads, and an event loop of the library,
 * which moves bytes; neither ever waits for a call.  Calls run on three groups of threads: for
 * the API, for the page, and for the probes, which nothing else can delay.
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
    const char *socket;         /* path */
    const char *listen;         /* of the page, host:port; NULL, empty or "off": no port */
    const char *metrics_listen; /* of metrics and health alone, the same */
    unsigned timeout_s;         /* for each head, body and answer, in total; 0: 15 */
    unsigned places;            /* connections of each listener; 0: as many as files allow */
    struct api api;             /* what it points to must outlive the server */
};

bool server_start(struct server **out, const struct server_options *opt,
                  struct err *err) MUST_CHECK;

/*
 * Stop the server.  Blocks until the running handlers end; removes the socket.  NULL is fine.
 */
void server_stop(struct server *s);

/* The address of the page's port, "127.0.0.1:7700"; empty without a port. */
const char *server_address(const struct server *s);
/* The same of the metrics' port. */
const char *server_metrics_address(const struct server *s);

#endif
