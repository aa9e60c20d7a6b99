/*
 * UTF-8 validation (Unicode 15, table 3-7: no surrogates, nothing overlong, nothing above
 * U+10FFFF).
 */
#ifndef SRC_BASE_UTF8_H
#define SRC_BASE_UTF8_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* U+FFFD, which replaces invalid bytes. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

bool utf8_valid(struct str s);

/* Returns the length of the well-formed character at the start of s (1 to 4), or 0. */
size_t utf8_char_len(struct str s);

/*
 * Returns how many bytes one U+FFFD replaces when utf8_char_len(s) is 0 and s is not empty: the
 * longest prefix of a character, at least one byte (as the Unicode standard recommends).
 */
size_t utf8_bad_len(struct str s);

/*
 * Returns the length of the prefix of s that a JSON string can hold unescaped: up to a control
 * character, a quote, a backslash or invalid bytes.
 */
size_t utf8_literal_len(struct str s);

/* Like utf8_literal_len(), and copies that prefix. out needs room for all of s and
 * UTF8_COPY_SPARE more bytes. */
#define UTF8_COPY_SPARE 8
size_t utf8_copy_literal(char *out, struct str s);

/* Writes a code point as UTF-8. Returns 1 to 4. Not for surrogates or above U+10FFFF. */
size_t utf8_encode(char out[4], uint32_t code_point);

#endif
