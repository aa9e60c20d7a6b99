/*
 * struct tiny_http: an HTTP/1.1 server that plays a script, to see how clients take faults.
 *
 * Each request, on whatever connection, takes the next step; the last step is played again and
 * again.  What was asked is recorded.
 *
 * @thread its own, one per connection
 */
#ifndef TESTS_FAKES_TINY_HTTP_H
#define TESTS_FAKES_TINY_HTTP_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

enum tiny_act {
    TINY_ANSWER = 0,
    TINY_CUT,     /* read the request, then close without a word */
    TINY_RESET,   /* read the head and the first of the body, then reset the connection */
    TINY_PARTIAL, /* answer, but close before the end of the body */
    TINY_FOREIGN, /* read the request, answer as a MySQL server greets, then close */
    TINY_SILENT,  /* read the request and never answer */
};

struct tiny_step {
    enum tiny_act act;
    int status;          /* 0: 200 */
    const char *headers; /* further header lines, each with its \r\n; NULL: none */
    const char *body;    /* NULL: empty */
};

struct tiny_request {
    char *head; /* request line and headers */
    char *body;
    size_t body_len;
};

struct tiny_http;

/* steps stay the caller's and must live as long as the server. */
struct tiny_http *tiny_http_start(const struct tiny_step *steps,
                                  size_t n) RETURNS_NONNULL MUST_CHECK;
void tiny_http_stop(struct tiny_http *s);

uint16_t tiny_http_port(const struct tiny_http *s);
const char *tiny_http_url(const struct tiny_http *s);

/* Requests so far, and one of them; it lives as long as the server. */
size_t tiny_http_count(struct tiny_http *s);
const struct tiny_request *tiny_http_request(struct tiny_http *s, size_t i);
/* Connections accepted so far. */
size_t tiny_http_connections(struct tiny_http *s);

/* A port of 127.0.0.1 on which nobody listens. */
uint16_t tiny_http_unused_port(void);

#endif
