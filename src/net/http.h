/*
 * The values that http_client works with: options, a request and its result.
 */
#ifndef SRC_NET_HTTP_H
#define SRC_NET_HTTP_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_set;
struct aws_credentials;
struct sigv4_key;

/* Strings are copied. */
struct http_options {
    const char *const *urls; /* "http://host:9200", "https://host/prefix"; at least one */
    size_t n_urls;
    struct address_set *addresses; /* instead of urls: shared, outlives the client; or NULL */
    const char *user;              /* basic authentication, or NULL */
    const char *password;
    const char *api_key;              /* "Authorization: ApiKey ...", or NULL */
    const struct sigv4_key *aws;      /* signs requests, or NULL */
    struct aws_credentials *renewed;  /* instead of aws: shared, outlives the client; or NULL */
    const char *ca_file;              /* NULL: the system's */
    const char *cert_file, *key_file; /* client certificate, or NULL */
    /* The major version that Elasticsearch shall emulate; 0 or NULL: plain JSON. Atomic and may
     * change; the caller owns it, and it must outlive the client. */
    const unsigned *compatible;
    bool verify;                 /* check the certificate and its name */
    unsigned timeout_ms;         /* for a whole request; 0: 30000 */
    unsigned connect_timeout_ms; /* 0: 5000 */
    unsigned connections_max;    /* connections kept open between requests; 0: 100 */
    size_t answer_max;           /* bytes of one answer; 0: 64 MiB */
};

#define HTTP_TOO_LONG "answer" /* the origin of an error: it is longer than answer_max */

enum http_outcome {
    HTTP_ANSWERED = 0, /* a whole answer with a status */
    HTTP_NOT_SENT,     /* no byte of the body was sent: refused, no such host, TLS ... */
    HTTP_UNKNOWN, /* timeout, reset, end of stream or unreadable answer: the cluster may have
                     applied the request */
};

struct http_result {
    enum http_outcome outcome;
    int status;             /* 0 unless HTTP_ANSWERED */
    struct str body;        /* the answer's; borrowed during the callback */
    int64_t retry_after_ms; /* -1 if the answer does not say */
    int64_t took_ms;
    const char
        *address; /* as configured, without user and password; lives as long as the addresses */
    struct err err; /* unless HTTP_ANSWERED: ERR_RETRY, with the address and the fix */
};

/* http_client_poll() calls this on its thread, once per request. The callback may submit
 * further requests. */
typedef void (*http_done_fn)(void *ctx, const struct http_result *result);

struct http_request {
    const char *method;       /* "GET", "POST" ...; a literal */
    struct str path;          /* from "/" on, with the query; copied */
    struct str body;          /* may be empty; must stay valid until done is called */
    const char *content_type; /* NULL: application/json */
    unsigned timeout_ms;      /* 0: as in the options */
    bool gzip;                /* compress the body (level 1; the copy is made at once) */
    http_done_fn done;        /* for submit only */
    void *ctx;
};

#endif
