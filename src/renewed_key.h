/*
 * struct renewed_key: a key for signatures that lies in a file, where somebody renews it.
 *
 * The file is as tools of AWS write it: lines such as "aws_access_key_id = AKIA...", also
 * aws_secret_access_key and aws_session_token, before any section or in [default].  It is looked at
 * before each request and read again when it has changed; while it cannot be read, the key before
 * counts.
 *
 * Blocks on the file.  @thread any (locked inside)
 */
#ifndef SRC_RENEWED_KEY_H
#define SRC_RENEWED_KEY_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct renewed_key;
struct sigv4_key;

/* The file has a key.  ERR_REJECT names the file and what it lacks. */
bool renewed_key_check(const char *path, struct err *err) MUST_CHECK;

/* Region and service are of `of`, whose id, secret and token do not count.  Copied. */
struct renewed_key *renewed_key_new(const char *path,
                                    const struct sigv4_key *of) RETURNS_NONNULL MUST_CHECK;
void renewed_key_free(struct renewed_key *k); /* NULL is fine */

/* The key of now; free() it.  NULL: there never was one. */
struct sigv4_key *renewed_key_get(struct renewed_key *k) MUST_CHECK;

#endif
