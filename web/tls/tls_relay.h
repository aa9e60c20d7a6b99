/*
 * The connections of a port that speaks TLS: one thread decrypts what clients send and encrypts
 * what the server answers.
 *
 * The door (web/door.h) gives each connection to the relay, and gets a socket whose other end
 * has the plain bytes.  So the door, its limits and the HTTP library know nothing of TLS: who
 * does not finish the handshake has sent no head, and goes when its time is over.  After the
 * server has ended its side, a connection has linger_s to take the rest of its answer.
 *
 * @thread any (locked inside); start and stop: the owner's
 */
#ifndef WEB_TLS_RELAY_H
#define WEB_TLS_RELAY_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct tls_keys;
struct tls_relay;

struct tls_relay_options {
    struct tls_keys *keys; /* the relay takes a reference; NULL: there is no TLS */
    unsigned linger_s;
    unsigned linger_max; /* connections that the server has ended; more: the oldest goes */
};

/* Without keys *out is NULL. */
bool tls_relay_start(struct tls_relay **out, const struct tls_relay_options *opt,
                     struct err *err) MUST_CHECK;
/*
 * Give the relay a connection, also if that fails.  Returns a socket with its plain bytes,
 * which the caller owns; -1 with errno set.  r NULL: returns fd.  Never blocks.
 */
int tls_relay_take(struct tls_relay *r, int fd) MUST_CHECK;
/* Connections that come from now on get these keys.  Takes a reference. */
void tls_relay_use(struct tls_relay *r, struct tls_keys *keys);
/*
 * Call this once the server has ended all connections.  Blocks for a second at most, while
 * clients take the rest of their answers.  NULL is fine.
 */
void tls_relay_stop(struct tls_relay *r);

#endif
