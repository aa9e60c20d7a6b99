/*
 * Reads a small file whole.
 *
 * Blocks on the file.
 */
#ifndef SRC_FILE_WHOLE_FILE_H
#define SRC_FILE_WHOLE_FILE_H

#include "src/base/base.h"

#include <stdbool.h>

struct buf;

/* Larger files are cut at some point beyond this size. */
#define WHOLE_FILE_MAX (1 << 20)

struct stat;

/* Returns true if users other than this process's may read or change the file: everyone, or the
 * group of a file that this user owns. Group access to another user's file is allowed: packages
 * and container platforms install root's files that way. */
bool whole_file_is_exposed(const struct stat *st);

/* Appends the file to out. Sets *exposed as whole_file_is_exposed() does, unless exposed is
 * NULL. Returns false with errno set on failure, and for anything but a regular file. */
bool whole_file_read(const char *path, struct buf *out, bool *exposed) MUST_CHECK;

#endif
