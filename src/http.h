/*
 * A request to a search cluster over HTTP, how it ended, and how the cluster is reached: the
 * values that http_client works with.
 */
#ifndef SRC_HTTP_H
#define SRC_HTTP_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_set;
struct renewed_key;
struct sigv4_key;

/* Strings are copied. */
struct http_options {
    const char *const *urls; /* "http://host:9200", "https://host/prefix"; at least one */
    size_t n_urls;
    struct address_set *addresses; /* in place of urls: shared, outlives the client; or NULL */
    const char *user; /* basic authentication, or NULL */
    const char *password;
    const char *api_key;              /* "Authorization: ApiKey ...", or NULL */
    const struct sigv4_key *aws; /* requests are signed by it; NULL: they are not */
    struct renewed_key *renewed; /* in place of aws: shared, outlives the client; or NULL */
    const char *ca_file;              /* NULL: the system's */
    const char *cert_file, *key_file; /* client certificate, or NULL */
    /* As which major version an Elasticsearch is to answer; 0, or NULL: plain JSON is spoken.
     * Atomic, may change; it stays the caller's and must outlive the client. */
    const unsigned *compatible;
    bool verify;                      /* the certificate and its name */
    unsigned timeout_ms;              /* a whole request; 0: 30000 */
    unsigned connect_timeout_ms;      /* 0: 5000 */
    unsigned connections_max;         /* kept open between requests; 0: 100 */
    size_t answer_max;                /* bytes of one answer; 0: 64 MiB */
};

enum http_outcome {
    HTTP_ANSWERED = 0, /* there is a whole answer, with a status */
    HTTP_NOT_SENT,     /* nothing of the body was sent: refused, no such host, TLS ... */
    HTTP_UNKNOWN, /* timeout, reset, end of stream or an unreadable answer: may be applied */
};

struct http_result {
    enum http_outcome outcome;
    int status;             /* 0 unless HTTP_ANSWERED */
    struct str body;        /* of the answer; borrowed during the callback */
    int64_t retry_after_ms; /* -1: the answer does not say */
    int64_t took_ms;
    const char
        *address;   /* as configured, without user and password; lives as long as the addresses */
    struct err err; /* unless HTTP_ANSWERED: ERR_RETRY, names the address and the fix */
};

/* Called by http_client_poll(), on its thread, once per request.  It may submit further ones.
 */
typedef void (*http_done_fn)(void *ctx, const struct http_result *result);

struct http_request {
    const char *method;       /* "GET", "POST" ...; a literal */
    struct str path;          /* from "/" on, with the query; copied */
    struct str body;          /* empty: none; must stay valid until done was called */
    const char *content_type; /* NULL: application/json */
    unsigned timeout_ms;      /* 0: that of the options */
    bool gzip;                /* compress the body (level 1; the copy is made at once) */
    http_done_fn done;        /* submit only */
    void *ctx;
};

#endif
