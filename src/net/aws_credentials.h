/*
 * struct aws_credentials: a signing key in a file that somebody else renews.
 *
 * The file has the format of AWS tools: lines such as "aws_access_key_id = AKIA...", also
 * aws_secret_access_key and aws_session_token, before any section or in [default]. We check the
 * file before each request and read it again when it has changed. While we cannot read it, we
 * use the previous key.
 *
 * Blocks on the file. @thread any (locked inside)
 */
#ifndef SRC_NET_AWS_CREDENTIALS_H
#define SRC_NET_AWS_CREDENTIALS_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct aws_credentials;
struct sigv4_key;

/* Checks that the file has a key. ERR_REJECT names the file and what is missing. */
bool aws_credentials_check(const char *path, struct err *err) MUST_CHECK;

/* Takes region and service from `of`, and ignores its id, secret and token. Copies both. */
struct aws_credentials *
aws_credentials_new(const char *path, const struct sigv4_key *of) RETURNS_NONNULL MUST_CHECK;
void aws_credentials_free(struct aws_credentials *k); /* NULL is fine */

/* Returns the current key; free() it. Returns NULL if no key was ever read. */
struct sigv4_key *aws_credentials_get(struct aws_credentials *k) MUST_CHECK;

#endif
