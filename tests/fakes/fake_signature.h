/*
 * A second implementation of signature version 4, on the side that checks it; it shares nothing
 * with src/net/sigv4.c.
 */
#ifndef TESTS_FAKES_FAKE_SIGNATURE_H
#define TESTS_FAKES_FAKE_SIGNATURE_H

#include "src/base/base.h"
#include "tests/fakes/fake_http.h"

#include <stdbool.h>
#include <stdint.h>

/* The one key that is known; strings stay the caller's. */
struct fake_key {
    const char *id, *secret;
    const char *token; /* NULL: none is wanted */
    const char *region, *service;
};

/*
 * Whether the request is signed by the key, host, date and body with it, up to five minutes
 * from now_ms (milliseconds since 1970).  Else answer is what AWS says then: 403 and
 * {"message": ...}.
 */
bool fake_signature_check(const struct fake_key *key, const struct fake_http_request *req,
                          int64_t now_ms, struct fake_http_answer *answer);

#endif
