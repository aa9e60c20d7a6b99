/*
 * struct http_client: requests to one search cluster, over several addresses (libcurl).
 *
 * Two ways to use it.  http_client_call() blocks, from any thread.  http_client_submit() and
 * http_client_poll() run many requests at a time on one thread; http_client_wakeup() wakes that
 * thread.  Addresses that are up take turns; one that fails is put aside, and has requests again
 * when it has answered a question (http_client_ask()).
 *
 * The rule: "not sent" is only said when no byte of the body has left us.  A request is never
 * repeated behind the caller's back once its body is on the way (libcurl would repeat it on a
 * kept connection that turns out dead), because a copy that arrives late must be known about.
 */
#ifndef SRC_HTTP_CLIENT_H
#define SRC_HTTP_CLIENT_H

#include "src/base/base.h"
#include "src/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct http_client;

/* Aborts when libcurl cannot be initialised.  Addresses are not looked at yet. */
struct http_client *http_client_new(const struct http_options *opt) RETURNS_NONNULL MUST_CHECK;
/* Closes all connections.  What is pending is given up without its callback.  NULL is fine. */
void http_client_free(struct http_client *c);

/*
 * One request, waiting for its answer, which is appended to out (may be NULL).  What was not
 * sent goes to the next address, as often as there are addresses; so does a GET or HEAD that
 * failed in another way.  False: no answer, err as in http_result.  Of the request done and ctx
 * do not count; result->body is empty.  @thread any
 */
bool http_client_call(struct http_client *c, const struct http_request *req,
                      struct http_result *result, struct buf *out, struct err *err) MUST_CHECK;

/* Begin a request.  Its end, whatever it is, is reported by the callback.  @thread poll's */
void http_client_submit(struct http_client *c, const struct http_request *req);

/* Move all requests on, waiting up to max_wait_ms for something to happen; returns how many
 * ended. */
size_t http_client_poll(struct http_client *c, int64_t max_wait_ms);

/*
 * Begin a question (GET /, for 2 s at most) to an address that was put aside, where one is due
 * and none is on its way: a request would wait for its whole timeout at an address that hangs.
 * To be called now and then by whoever polls for long.  @thread poll's
 */
void http_client_ask(struct http_client *c);

/* Make the running or the next http_client_poll() return early.  @thread any */
void http_client_wakeup(struct http_client *c);

/* So many connections for requests at most from now on; what needs another waits for one.  @thread poll's */
void http_client_set_connections(struct http_client *c, unsigned max);

/* Submitted, and not ended yet; a question counts.  @thread poll's */
size_t http_client_pending(const struct http_client *c);

/* The address did not answer, or what answered there says that it has no engine behind it: it
 * is put aside. */
bool http_is_address_fault(const struct http_result *result);

/* Is any address up besides that one, as a result names it?  @thread any */
bool http_client_has_other(struct http_client *c, const char *address);

#endif
