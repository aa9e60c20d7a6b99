/*
 * Passwords of people, kept as yescrypt hashes (crypt(5) of libxcrypt).
 *
 * @thread any (each call computes for about 50 ms and takes 16 MiB)
 */
#ifndef SRC_ACCESS_PASSWORD_H
#define SRC_ACCESS_PASSWORD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

#define PASSWORD_MIN 12  /* characters, as NIST SP 800-63B asks for at least 8 */
#define PASSWORD_MAX 256 /* bytes */

/* Append the hash.  ERR_REJECT: the password is too short, too long or no line of text. */
bool password_hash(struct buf *out, struct str password, struct err *err) MUST_CHECK;
/* hash empty: of nobody; takes as long as any other and is false. */
bool password_matches(struct str hash, struct str password) MUST_CHECK;

#endif
