/*
 * struct hook: somebody else's URL that Millrace posts JSON to.
 *
 * Whoever may set the URL must not get through Millrace to what Millrace alone can reach. So a
 * hook connects only to public addresses (src/net/reach.h), unless told otherwise: it looks at
 * the address that is being connected to, after the name has been resolved. It follows no
 * redirect, uses no proxy of the environment, waits HOOK_LIMIT_MS at most, and reads little of
 * the answer. https alone, unless told otherwise.
 *
 * @thread any
 */
#ifndef SRC_NET_HOOK_H
#define SRC_NET_HOOK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct hook;
struct stop;

#define HOOK_LIMIT_MS    10000 /* for a whole request */
#define HOOK_CONNECT_MS  5000
#define HOOK_ANSWER_MAX  65536 /* bytes of an answer; the rest is not read */
#define HOOK_SECRET_MIN  16    /* bytes */
#define HOOK_SIGNATURE   "Millrace-Signature"
#define HOOK_TIMESTAMP   "Millrace-Timestamp"
#define HOOK_ANSWER_KEPT 300

struct hook_options {
    const char *section; /* of the settings, such as alarms: a literal, for messages */
    const char *url;
    const char *secret;  /* signs what is sent; NULL: nothing does */
    const char *ca_file; /* NULL: the system's authorities */
    bool allow_private;  /* any address, and http */
    bool allow_http;
    const struct stop *stop; /* borrowed: once set, requests end within a second; or NULL */
};

struct hook_answer {
    int status;                      /* 0: there is no answer */
    char text[HOOK_ANSWER_KEPT + 1]; /* how the answer begins, in one line; or empty */
};

/* Checks the URL and the secret, and copies all. ERR_REJECT says what is wrong, without the
 * path. */
bool hook_open(struct hook **out, const struct hook_options *opt, struct err *err) MUST_CHECK;
void hook_close(struct hook *h); /* NULL is fine */

/* Scheme, host and port: the rest of the URL may be a secret. Lives as long as h. */
const char *hook_name(const struct hook *h);

/*
 * Posts body, signed as of now_s (seconds since 1970). Blocks for HOOK_LIMIT_MS at most. False
 * unless the answer is 2xx: ERR_REJECT if this body can never be taken (400, 413, 415, 422),
 * else ERR_RETRY.
 */
bool hook_post(const struct hook *h, struct str body, int64_t now_s, struct hook_answer *answer,
               struct err *err) MUST_CHECK;

/* Writes 64 hexadecimal digits and a NUL: HMAC-SHA-256 by the secret over "TIMESTAMP.BODY".
 * Pure. */
void hook_sign(struct str secret, int64_t now_s, struct str body, char out[65]);

#endif
