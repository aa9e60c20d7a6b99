/*
 * struct word_access: who may have the words that `words.listen` serves: callers from given
 * addresses, who know the token that stands in the path.  The analyzer sends no log-in.
 *
 * @thread any (immutable)
 */
#ifndef WEB_WORDS_ACCESS_H
#define WEB_WORDS_ACCESS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct sockaddr;
struct word_access;

#define WORD_TOKEN_MIN 16
#define WORD_TOKEN_MAX 200

/*
 * allow: addresses ("10.0.0.7") and networks ("10.0.0.0/8", "fd00::/8"); none: this machine
 * alone.  ERR_REJECT says what to write instead.
 */
bool word_access_open(struct word_access **out, const char *token, const char *const *allow,
                      size_t n_allow, struct err *err) MUST_CHECK;
void word_access_free(struct word_access *a); /* NULL is fine */

/* How long it takes says nothing of how much of the token is right. */
bool word_access_is_token(const struct word_access *a, struct str token) MUST_CHECK;
bool word_access_admits(const struct word_access *a, const struct sockaddr *peer) MUST_CHECK;

#endif
