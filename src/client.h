/*
 * A client of the API: over the daemon's unix socket, or in this process without a daemon.
 *
 * Both ways give the same answers, as the one without a daemon calls the same routes on a
 * coordinator that is opened and not started.
 *
 * @thread one at a time; calls block until the answer is there
 */
#ifndef SRC_CLIENT_H
#define SRC_CLIENT_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "web/request.h"

#include <stdbool.h>

struct api;
struct client;

struct client_answer {
    int status;
    struct buf body;
};

/* ERR_STOP: no daemon listens there; ERR_REJECT: we may not use the socket. */
bool client_connect(struct client **out, const char *socket, struct err *err) MUST_CHECK;
/* In this process; api is borrowed. */
struct client *client_local(const struct api *api) RETURNS_NONNULL MUST_CHECK;
void client_close(struct client *c); /* NULL is fine */

/*
 * Ask target ("/api/v1/status?x=y"); body empty: none.  The answer's body is to be freed.
 * False: no answer.  A status is not an error here.
 */
bool client_call(struct client *c, enum request_method method, struct str target,
                 struct str body, struct client_answer *answer, struct err *err) MUST_CHECK;

/* Append one segment of a path, or the value of a parameter, percent-encoded. */
void client_encode(struct buf *target, struct str text);

#endif
