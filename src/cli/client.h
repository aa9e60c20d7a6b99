/*
 * A client of the API, over the daemon's unix socket or inside this process without a daemon.
 *
 * Both ways give the same answers: the local client calls the same routes, on a coordinator
 * that is opened but not started.
 *
 * @thread one at a time; calls block until the answer is there
 */
#ifndef SRC_CLI_CLIENT_H
#define SRC_CLI_CLIENT_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "web/request.h"

#include <stdbool.h>
#include <stdint.h>

struct api;
struct client;

struct client_answer {
    int status;
    struct buf body;
};

/* ERR_STOP: no daemon listens there.  ERR_REJECT: we may not use the socket. */
bool client_connect(struct client **out, const char *socket, struct err *err) MUST_CHECK;
/* Make a client that calls api inside this process.  api is borrowed. */
struct client *client_local(const struct api *api) RETURNS_NONNULL MUST_CHECK;
void client_close(struct client *c); /* NULL is fine */
/* From now on, a daemon that has not answered after so many seconds gives no answer. */
void client_limit(struct client *c, unsigned seconds);
/* From now on, each request says that it is made from this revision of the definitions. */
void client_require(struct client *c, uint64_t revision);

/*
 * Send a request for target ("/api/v1/status?x=y"); an empty body sends none.  The caller frees
 * answer->body.  Returns false if there was no answer; an HTTP error status is an answer, not
 * an error.
 */
bool client_call(struct client *c, enum request_method method, struct str target,
                 struct str body, struct client_answer *answer, struct err *err) MUST_CHECK;

/* Append one path segment or parameter value, percent-encoded. */
void client_encode(struct buf *target, struct str text);

#endif
