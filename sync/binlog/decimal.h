/*
 * Stored DECIMALs (strings/decimal.cc of the servers) to exact text, as the servers print it.
 */
#ifndef SYNC_BINLOG_DECIMAL_H
#define SYNC_BINLOG_DECIMAL_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* The longest text: 65 digits, a point, a sign and a leading zero. */
#define DECIMAL_MAX 72

#define DECIMAL_PRECISION_MAX 65
#define DECIMAL_SCALE_MAX     38 /* MariaDB's; MySQL's is 30 */

/* Bytes of a cell; scale <= precision <= DECIMAL_PRECISION_MAX. */
size_t decimal_size(unsigned precision, unsigned scale);

/* Writes at most DECIMAL_MAX bytes at out and returns how many; 0: not a stored decimal. */
size_t decimal_text(char *out, const uint8_t *p, unsigned precision, unsigned scale);

#endif
