/*
 * A lock file: one process at a time holds it. The lock is released when the process ends, in
 * whatever way. The file holds the owner's pid and is never removed.
 *
 * @thread any
 */
#ifndef SRC_FILE_FILE_LOCK_H
#define SRC_FILE_FILE_LOCK_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct file_lock;

/* How long to wait for another process to release the lock: long enough for a command to end,
 * too short for a daemon. */
#define FILE_LOCK_WAIT_MS 10000
#define FILE_LOCK_POLL_MS 100

/* ERR_RETRY names the pid of the owner. */
bool file_lock_take(struct file_lock **out, const char *path, struct err *err) MUST_CHECK;
/* Returns true if err says that another process holds the lock: retry once that process has
 * ended. */
bool file_lock_is_taken(const struct err *err);
void file_lock_release(struct file_lock *l); /* NULL is fine */

#endif
