/*
 * Bytes as two hexadecimal digits.
 *
 * @thread any
 */
#ifndef SRC_BASE_HEX_H
#define SRC_BASE_HEX_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

/* Writes byte as two lower-case digits. Returns the end of what it wrote. */
char *hex_put(char *out, unsigned char byte) RETURNS_NONNULL;

/* Decodes the two digits at `at`, lower or upper case. Returns -1 if they are not digits. */
int hex_byte(struct str text, size_t at);

#endif
