/*
 * Tokens: secrets that a program shows instead of a name and a password.  The store has only
 * their SHA-256, from which nobody gets the token back: it has 256 random bits.
 *
 * @thread any
 */
#ifndef SRC_ACCESS_TOKEN_H
#define SRC_ACCESS_TOKEN_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

#define TOKEN_TEXT 68 /* "mrt_" and 64 hexadecimal digits */
#define TOKEN_HASH 64 /* hexadecimal digits */

/* Make a new one.  Both get a NUL at their end. */
void token_make(char text[TOKEN_TEXT + 1]);
/* False if the text cannot be a token. */
bool token_hash(char hash[TOKEN_HASH + 1], struct str text) MUST_CHECK;

#endif
