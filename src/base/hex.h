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

/* Write byte as two lower-case digits; returns what follows them. */
char *hex_put(char *out, unsigned char byte) RETURNS_NONNULL;

/* The byte that the two digits at `at` stand for, in lower or upper case; -1: they are none. */
int hex_byte(struct str text, size_t at);

#endif
