/*
 * struct fake_http: a small HTTP/1.1 server whose handler decides everything, also how an
 * answer breaks off.
 *
 * On 127.0.0.1, a thread for each connection.  Request bodies by Content-Length, gzip undone.
 */
#ifndef TESTS_FAKES_FAKE_HTTP_H
#define TESTS_FAKES_FAKE_HTTP_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_http;

struct fake_http_request {
    struct str method;
    struct str path;  /* before the "?", percent-decoded */
    struct str query; /* behind it, raw */
    struct str head;  /* request line and headers */
    struct str body;  /* gzip undone */
    struct str sent;  /* the body as it came */
};

enum fake_http_end {
    FAKE_HTTP_ANSWER = 0,
    FAKE_HTTP_CUT,    /* close in the middle of the body */
    FAKE_HTTP_RESET,  /* reset the connection without an answer */
    FAKE_HTTP_SILENT, /* never answer; the connection ends with the server or the client */
};

struct fake_http_answer {
    int status; /* 200 at first */
    enum fake_http_end end;
    struct buf headers; /* further lines, each with its \r\n */
    struct buf body;
};

/* Called on the connection's thread. */
typedef void (*fake_http_fn)(void *ctx, const struct fake_http_request *req,
                             struct fake_http_answer *answer);

/* port 0: any free one. */
struct fake_http *fake_http_start(uint16_t port, fake_http_fn handle,
                                  void *ctx) RETURNS_NONNULL MUST_CHECK;
uint16_t fake_http_port(const struct fake_http *h);
/* Ends all connections and waits for their threads. */
void fake_http_stop(struct fake_http *h);

/* For handlers: sleep, but not beyond fake_http_stop().  False: it is stopping. */
bool fake_http_sleep(struct fake_http *h, int64_t ms);

#endif
