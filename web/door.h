/*
 * The door of one listener: its connections (guests), and what each of them waits for.
 *
 * A guest waits at the door until the whole head of its request has arrived and is valid
 * (head.h).  All guests at the door share one thread, and each needs only a few words of
 * memory.  Then the door hands the connection to the HTTP library, with the head still unread
 * in the socket.  So a slow sender keeps nobody waiting.  Head, body and answer each have one
 * total time limit, which does not restart with each byte; the call between body and answer has
 * none.  If all places are taken, the oldest guest has to go; if one address has used up its
 * share, the oldest of that address.  A guest whose call is running stays, and so
 * does one that reads a stream, which no place is counted for.  Each connection
 * carries one request, so the library never reads a head that the door has not checked.
 *
 * If guests speak TLS, a relay (tls/tls_relay.h) is before the door, and the head's time begins
 * with the handshake.
 *
 * The door peeks, so bytes stay in the socket.  A guest on the unix socket, or behind the
 * relay, who sends single bytes fills the socket's buffer after about 280 sends, and is refused
 * when its time is over.
 *
 * @thread door_start() to door_free(): the owner's; the rest is locked inside
 */
#ifndef WEB_DOOR_H
#define WEB_DOOR_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "web/head.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct buf;
struct door;
struct guest;
struct tls_keys;

struct door_options {
    int fd;                /* listening socket; the door owns it, even if it does not start */
    struct tls_keys *keys; /* the door takes a reference; NULL: guests do not encrypt */
    unsigned timeout_s;
    unsigned places;     /* one address may have half of them */
    unsigned inside_max; /* connections the library has, including closing ones */
    /*
     * Hands over the connection fd, which the library owns even if this returns false.  From
     * then on door_find() finds the guest, until guest_leave().
     */
    bool (*enter)(void *cls, int fd, const struct sockaddr *address, socklen_t len);
    void *cls;
};

enum guest_phase {
    GUEST_HEAD = 0, /* at the door */
    GUEST_BODY,
    GUEST_CALL, /* no time limit */
    GUEST_ANSWER,
    GUEST_STREAM, /* an answer without an end: no time limit, and no place */
};

/*
 * Start the door.  Sets *out before it starts the thread: guests may come before this returns.
 */
bool door_start(struct door **out, const struct door_options *opt, struct err *err) MUST_CHECK;
/*
 * Stop accepting, and close the connections that wait at the door.  Blocks until the thread has
 * ended.  NULL is fine.
 */
void door_stop(struct door *d);
/* Call this after door_stop(), once the library has left all connections.  NULL is fine. */
void door_free(struct door *d);

/* Guests that come from now on get these keys; it takes a reference.  The door has keys. */
void door_use_keys(struct door *d, struct tls_keys *keys);

/* The guest whose connection enter() got as fd; NULL if there is none. */
struct guest *door_find(struct door *d, int fd);

/* The guest's request.  Lives until guest_leave(). */
const struct head *guest_head(const struct guest *g);
/* The user at the other end of a unix socket; (uid_t)-1 if unknown. */
uid_t guest_uid(const struct guest *g);
/* The address of the other end.  Lives as long as g. */
const struct sockaddr_storage *guest_peer(const struct guest *g);
/* Append the IP address of the other end, as text; of a unix socket nothing. */
void guest_append_address(const struct guest *g, struct buf *out);
/* Our descriptor of the connection.  Borrowed. */
int guest_fd(const struct guest *g);
/* Begin a phase and its time limit. */
void guest_turn(struct guest *g, enum guest_phase phase);
/* The library has left the connection: forget the guest. */
void guest_leave(struct guest *g);

#endif
