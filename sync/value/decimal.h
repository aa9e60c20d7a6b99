/*
 * Convert stored DECIMALs (strings/decimal.cc of the servers) to exact text, as the servers
 * print it.
 */
#ifndef SYNC_VALUE_DECIMAL_H
#define SYNC_VALUE_DECIMAL_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* The longest text: 65 digits, a point, a sign and a leading zero. */
#define DECIMAL_MAX 72

#define DECIMAL_PRECISION_MAX 65
#define DECIMAL_SCALE_MAX     38 /* MariaDB; MySQL allows 30 */

/* The size of a cell in bytes.  Requires scale <= precision <= DECIMAL_PRECISION_MAX. */
size_t decimal_size(unsigned precision, unsigned scale);

/*
 * Writes at most DECIMAL_MAX bytes to out.  Returns the length, or 0 if p is no valid decimal.
 */
size_t decimal_text(char *out, const uint8_t *p, unsigned precision, unsigned scale);

#endif
