/*
 * What all who open the SQLite file of a store share: what its errors mean, and whether it is
 * whole.
 *
 * Only files of src/store include this.
 *
 * @thread whoever has the connection
 */
#ifndef SRC_STORE_SQLITE_FILE_H
#define SRC_STORE_SQLITE_FILE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <sqlite3.h>
#include <stdbool.h>

/* "Mill" in the file's header: this is a store of Millrace. */
#define SQLITE_FILE_ID 0x4d696c6c

/* How long a call waits for another program that has the file locked. */
#define SQLITE_FILE_BUSY_MS 5000

/*
 * Set err from the last error of the connection, with the name of its file and, where there is
 * one, the fix.  Returns false.  db may be NULL: no memory.
 */
bool sqlite_file_fail(sqlite3 *db, struct err *err);

/*
 * Read the whole file, and compare each row with its sum (sqlite_sum.h), which the connection
 * must have.  ERR_FATAL: it is damaged; the message says where.  Blocks as long as reading the
 * file takes.
 */
bool sqlite_file_is_whole(sqlite3 *db, struct err *err) MUST_CHECK;

#endif
