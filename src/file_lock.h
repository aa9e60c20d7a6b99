/*
 * A lock file: one process at a time has it, and it is free again when that process is gone,
 * however it went.  The file holds the owner's pid and stays where it is.
 *
 * @thread any
 */
#ifndef SRC_FILE_LOCK_H
#define SRC_FILE_LOCK_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct file_lock;

/* ERR_RETRY names the pid of the process that has it. */
bool file_lock_take(struct file_lock **out, const char *path, struct err *err) MUST_CHECK;
void file_lock_release(struct file_lock *l); /* NULL is fine */

#endif
