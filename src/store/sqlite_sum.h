/*
 * row_sum(column, ...): an SQL function for SQLite, the checksum of a row's values.
 *
 * SQLite keeps no checksums of its data.  An index over row_sum() of all columns keeps one per
 * row.  PRAGMA integrity_check computes each index entry anew from its row, so it finds a value
 * that changed on the disk.  A program without the function can read such a table but cannot
 * write to it.
 *
 * The sum is zlib's CRC-32 over all values in order.  A value contributes the letter n (NULL),
 * i (a number: 8 bytes, little-endian) or t (text: its length in 8 bytes, then its bytes).
 */
#ifndef SRC_STORE_SQLITE_SUM_H
#define SRC_STORE_SQLITE_SUM_H

#include "src/base/base.h"

#include <sqlite3.h>

/* Register the function with one connection.  Returns an SQLite result code. */
int sqlite_sum_register(sqlite3 *db) MUST_CHECK;

#endif
