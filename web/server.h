/*
 * The HTTP server: a unix socket and a port that serve the page and the API, a port for metrics
 * and health alone, and one for words of the analyzer alone.
 *
 * A client on the socket is admin if it runs as the daemon's own user or as root; all others
 * are refused.  On the port, a token or a log-in says who the client is
 * (web/access/identity.h); without one it gets the status page, metrics and health.  The port
 * checks Host against DNS rebinding, and speaks TLS if it has keys; without them it listens on
 * loopback only.  Where other machines reach it, it answers nobody until there is an admin.
 * The port of the metrics may listen on any address; nothing else exists there.  So may the
 * port of the words, which serves callers from given addresses who know a token.  Each listener
 * has a door (door.h), which checks heads, and an event loop of the library, which moves bytes;
 * neither ever waits for a call.  Calls run on groups of threads: for the API at the socket and
 * at the port, for log-ins, for the page, for the words, and for the probes, which nothing else
 * can delay.
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
struct tls_keys;

struct server_options {
    const char *socket;         /* path */
    const char *listen;         /* of the page, host:port; NULL, empty or "off": no port */
    const char *metrics_listen; /* of metrics and health alone, the same */
    const char *words_listen;   /* of the words, the same; needs api.words */
    const char *const *hosts;   /* more names that Host may have at the port; borrowed */
    size_t n_hosts;
    struct tls_keys *keys; /* of the page's port, which takes a reference; NULL: no TLS */
    bool is_read_only;     /* the page's port takes no change */
    unsigned timeout_s;    /* for each head, body and answer, in total; 0: 15 */
    unsigned places;       /* connections of each listener; 0: as many as files allow */
    struct api api;        /* what it points to must outlive the server */
};

bool server_start(struct server **out, const struct server_options *opt,
                  struct err *err) MUST_CHECK;

/*
 * Stop the server.  Blocks until the running handlers end; removes the socket.  NULL is fine.
 */
void server_stop(struct server *s);

/* Connections that come to the page's port from now on get these keys.  It has TLS. */
void server_use_keys(struct server *s, struct tls_keys *keys);

/* The address of the page's port, "127.0.0.1:7700"; empty without a port. */
const char *server_address(const struct server *s);
/* The same of the metrics' port. */
const char *server_metrics_address(const struct server *s);
/* The same of the words' port. */
const char *server_words_address(const struct server *s);

#endif
