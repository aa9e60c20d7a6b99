/*
 * A checksum of a row's values, as a function of SQL in SQLite: row_sum(column, ...).
 *
 * SQLite has no checksums of what it stores.  An index over row_sum() of all columns keeps one for
 * each row, and PRAGMA integrity_check, which makes each index entry anew from its row, finds a
 * value that has changed by itself.  A program that does not know the function can read such a
 * table, and is refused when it writes to it.
 *
 * The sum is the CRC-32 of zlib over all values one after the other: of each the letter n (NULL),
 * i (a number: 8 bytes, little-endian) or t (text: its length in 8 bytes, then its bytes).
 */
#ifndef SRC_SQLITE_SUM_H
#define SRC_SQLITE_SUM_H

#include "src/base/base.h"

#include <sqlite3.h>

/* Make the function known to one connection.  A result code of SQLite. */
int sqlite_sum_register(sqlite3 *db) MUST_CHECK;

#endif
