/*
 * struct http_client: requests to one search cluster over several addresses, by libcurl.
 *
 * Use it in one of two ways. http_client_call() blocks, from any thread. http_client_submit()
 * and http_client_poll() run many requests at a time on one thread, which http_client_wakeup()
 * wakes. Addresses that are up take turns. A failed address gets requests again once it has
 * answered a probe (http_client_ask()).
 *
 * The rule: the client reports HTTP_NOT_SENT only if no byte of the body has left us. It never
 * repeats a request behind the caller's back once the body is on its way (libcurl would, on a
 * kept connection that turns out dead): the caller must know about a copy that arrives late.
 */
#ifndef SRC_NET_HTTP_CLIENT_H
#define SRC_NET_HTTP_CLIENT_H

#include "src/base/base.h"
#include "src/net/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct http_client;

/* Aborts if libcurl cannot be initialised. Does not contact any address yet. */
struct http_client *http_client_new(const struct http_options *opt) RETURNS_NONNULL MUST_CHECK;
/* Closes all connections and drops pending requests without their callbacks. NULL is fine. */
void http_client_free(struct http_client *c);

/*
 * Sends one request, waits for the answer and appends it to out (may be NULL). A request that
 * was not sent goes to the next address, up to the number of addresses; so does a GET or HEAD
 * that failed in another way. Returns false if there is no answer, with err as in http_result.
 * Ignores the request's done and ctx; result->body is empty. @thread any
 */
bool http_client_call(struct http_client *c, const struct http_request *req,
                      struct http_result *result, struct buf *out, struct err *err) MUST_CHECK;

/* Makes calls fail within a second or two, now and later. @thread any */
void http_client_end(struct http_client *c);

/* Starts a request. The callback reports its end, whatever it is. @thread poll's */
void http_client_submit(struct http_client *c, const struct http_request *req);

/* Advances all requests, waiting up to max_wait_ms for an event. Returns how many ended. */
size_t http_client_poll(struct http_client *c, int64_t max_wait_ms);

/*
 * Starts a probe (GET /, for 2 s at most) of an address that was put aside, if one is due and
 * none is running: a request would wait for its whole timeout at an address that hangs. Whoever
 * polls for long calls this now and then. @thread poll's
 */
void http_client_ask(struct http_client *c);

/* Makes the running or the next http_client_poll() return early. @thread any */
void http_client_wakeup(struct http_client *c);

/* Limits the connections for requests from now on; further requests wait for one. @thread
 * poll's */
void http_client_set_connections(struct http_client *c, unsigned max);

/* Returns how many requests and probes are running. @thread poll's */
size_t http_client_pending(const struct http_client *c);

/* Returns true if the address did not answer, or answered that no engine is behind it: the
 * client then puts it aside. */
bool http_is_address_fault(const struct http_result *result);

/* Returns true if an address other than the one named in a result is up. @thread any */
bool http_client_has_other(struct http_client *c, const char *address);

#endif
