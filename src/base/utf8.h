/*
 * UTF-8: is it well formed?  (Unicode 15, table 3-7: no surrogates, nothing overlong, nothing
 * above U+10FFFF.)
 */
#ifndef SRC_BASE_UTF8_H
#define SRC_BASE_UTF8_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands in for bytes that are no character: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

bool utf8_valid(struct str s);

/* Length of the well-formed character at the start of s (1 to 4), or 0. */
size_t utf8_char_len(struct str s);

/*
 * How many bytes one U+FFFD replaces, where utf8_char_len(s) is 0 and s is not empty: the
 * longest start of a character, at least one byte (the Unicode standard's recommendation).
 */
size_t utf8_bad_len(struct str s);

/*
 * Length of the start of s that may stand as it is between the quotes of a JSON string: up to a
 * control character, a quote, a backslash or bytes that are no character.
 */
size_t utf8_literal_len(struct str s);

/* The same, and copies it; out has room for all of s and UTF8_COPY_SPARE bytes more. */
#define UTF8_COPY_SPARE 8
size_t utf8_copy_literal(char *out, struct str s);

/* Write a code point as UTF-8; returns 1 to 4.  Not for surrogates or above U+10FFFF. */
size_t utf8_encode(char out[4], uint32_t code_point);

#endif
