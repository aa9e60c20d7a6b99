/*
 * struct http_exchange: one request and its answer on one libcurl handle.
 *
 * Used by http_client alone.  An exchange is used again for further requests, so that its
 * handle (and, in blocking use, its connection) is.
 *
 * @thread one at a time
 */
#ifndef SRC_HTTP_EXCHANGE_H
#define SRC_HTTP_EXCHANGE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/http.h"

#include <curl/curl.h>

struct http_exchange {
    CURL *easy;
    struct curl_slist *headers;
    struct buf url;
    struct buf packed; /* the compressed body */
    struct str body;   /* what is sent: the request's, or packed */
    size_t sent;       /* bytes of it that libcurl took */
    struct buf answer;
    size_t answer_max;
    bool answer_too_long;
    char reason[CURL_ERROR_SIZE];
    int64_t start_ms;

    /* The client's. */
    size_t address;
    bool is_question; /* whether the address is back */
    http_done_fn done;
    void *ctx;
    struct http_exchange *prev, *next;
};

/* opt belongs to the client and is complete: no zeros that mean a default. */
struct http_exchange *
http_exchange_new(const struct http_options *opt) RETURNS_NONNULL MUST_CHECK;
void http_exchange_free(struct http_exchange *x);

/* Prepare the handle for req to the address with this URL. */
void http_exchange_begin(struct http_exchange *x, const struct http_options *opt,
                         const struct http_request *req, const char *url);

/* libcurl took the whole body, and nothing has come back. */
bool http_exchange_is_sent(const struct http_exchange *x);

/* What became of it: libcurl's code, put in our terms.  result->body is borrowed from x. */
void http_exchange_end(struct http_exchange *x, CURLcode code, const char *address,
                       struct http_result *result);

#endif
