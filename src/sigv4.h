/*
 * AWS signature version 4: what a request to an engine at AWS carries instead of a password.
 *
 * The signature covers the method, the path, the query, the given headers and the body, and
 * holds for some minutes around its date.  The secret goes into it and nowhere else.
 *
 * Source: "Signature Version 4 signing process" of the AWS General Reference; the services that
 * are meant here encode the path once more (all but S3).
 *
 * @thread any (pure)
 */
#ifndef SRC_SIGV4_H
#define SRC_SIGV4_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

#define SIGV4_HASH_LEN    64 /* hexadecimal digits of SHA-256 */
#define SIGV4_DATE_LEN    16 /* 20150830T123600Z */
#define SIGV4_HEADERS_MAX 16

struct buf;

/* Whose requests they are, and for what. */
struct sigv4_key {
    const char *region;  /* "eu-central-1" */
    const char *service; /* "es", "aoss" */
    const char *id, *secret;
    const char *token; /* of a session; NULL: the key is nobody's session */
};

struct sigv4_header {
    struct str name, value;
};

struct sigv4_request {
    struct str method;
    struct str path, query; /* as they are sent; "" is the path "/" */
    /* Those that are signed, in any order: host and x-amz-date at least. */
    const struct sigv4_header *headers;
    size_t n_headers;    /* up to SIGV4_HEADERS_MAX */
    const char *payload; /* sigv4_hash() of the body as it is sent */
};

/* A copy of all of it in one piece of memory, of NULL: NULL; free() it. */
struct sigv4_key *sigv4_copy_key(const struct sigv4_key *key) MUST_CHECK;

/* SHA-256 in hexadecimal, with a NUL. */
void sigv4_hash(struct str bytes, char hex[SIGV4_HASH_LEN + 1]);
/* The date of a time, milliseconds since 1970, with a NUL. */
void sigv4_date(int64_t wall_ms, char date[SIGV4_DATE_LEN + 1]);

/* The text that is signed instead of the request. */
void sigv4_canonical(const struct sigv4_request *r, struct buf *out);
/* Append the value of the header Authorization.  date: as in x-amz-date. */
void sigv4_authorize(const struct sigv4_key *key, const struct sigv4_request *r,
                     const char *date, struct buf *out);

#endif
