/*
 * struct http_exchange: one request and its answer on one libcurl handle.
 *
 * Only http_client uses it. It reuses an exchange for further requests, and with it the handle
 * and, for blocking calls, the connection.
 *
 * @thread one at a time
 */
#ifndef SRC_NET_HTTP_EXCHANGE_H
#define SRC_NET_HTTP_EXCHANGE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/magic.h"
#include "src/net/http.h"

#include <curl/curl.h>

struct http_exchange {
    enum magic magic;
    CURL *easy;
    struct curl_slist *headers;
    struct buf url;
    struct buf packed; /* the compressed body */
    struct str body;   /* the bytes to send: the request's body, or packed */
    size_t sent;       /* how many of them libcurl took */
    struct buf answer;
    size_t answer_max;
    bool answer_too_long;
    char reason[CURL_ERROR_SIZE];
    int64_t start_ms;

    /* These belong to the client. */
    size_t address;
    bool is_question; /* a probe of an address that was away */
    http_done_fn done;
    void *ctx;
    struct http_exchange *prev, *next;
};

/* opt belongs to the client and is complete: no zero stands for a default. */
struct http_exchange *
http_exchange_new(const struct http_options *opt) RETURNS_NONNULL MUST_CHECK;
void http_exchange_free(struct http_exchange *x);

/* Prepares the handle for sending req to the address with this URL. */
void http_exchange_begin(struct http_exchange *x, const struct http_options *opt,
                         const struct http_request *req, const char *url);

/* Returns true if libcurl took the whole body and no answer has begun. */
bool http_exchange_is_sent(const struct http_exchange *x);

/* Translates libcurl's code into a result. result->body is borrowed from x. */
void http_exchange_end(struct http_exchange *x, CURLcode code, const char *address,
                       struct http_result *result);

#endif
