/*
 * AWS signature version 4: authenticates requests to an engine at AWS, instead of a password.
 *
 * The signature covers the method, the path, the query, the given headers and the body, and is
 * valid for some minutes around its date. The secret is used for nothing else.
 *
 * Source: "Signature Version 4 signing process" of the AWS General Reference. The services that
 * we support encode the path once more (all but S3).
 *
 * @thread any (pure)
 */
#ifndef SRC_NET_SIGV4_H
#define SRC_NET_SIGV4_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

#define SIGV4_HASH_LEN    64 /* hexadecimal digits of SHA-256 */
#define SIGV4_DATE_LEN    16 /* 20150830T123600Z */
#define SIGV4_HEADERS_MAX 16

struct buf;

/* The credentials and their scope. */
struct sigv4_key {
    const char *region;  /* "eu-central-1" */
    const char *service; /* "es", "aoss" */
    const char *id, *secret;
    const char *token; /* of a session; NULL if the key has none */
};

struct sigv4_header {
    struct str name, value;
};

struct sigv4_request {
    struct str method;
    struct str path, query; /* as sent; "" is the path "/" */
    /* The headers to sign, in any order: at least host and x-amz-date. */
    const struct sigv4_header *headers;
    size_t n_headers;    /* at most SIGV4_HEADERS_MAX */
    const char *payload; /* sigv4_hash() of the body as sent */
};

/* Copies the key and its strings into one block; free() it. Returns NULL for NULL. */
struct sigv4_key *sigv4_copy_key(const struct sigv4_key *key) MUST_CHECK;

/* Writes SHA-256 in hexadecimal, with a NUL. */
void sigv4_hash(struct str bytes, char hex[SIGV4_HASH_LEN + 1]);
/* Formats a time, in milliseconds since 1970, with a NUL. */
void sigv4_date(int64_t wall_ms, char date[SIGV4_DATE_LEN + 1]);

/* Appends the canonical request: the text that is signed. */
void sigv4_canonical(const struct sigv4_request *r, struct buf *out);
/* Appends the value of the Authorization header. date: as in x-amz-date. */
void sigv4_authorize(const struct sigv4_key *key, const struct sigv4_request *r,
                     const char *date, struct buf *out);

#endif
