/*
 * A file whose first line is a secret: a password, a key.
 *
 * Blocks on the file.
 */
#ifndef SRC_SECRET_FILE_H
#define SRC_SECRET_FILE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

/* *out: the line without its end; free() it.  ERR_REJECT names the file. */
bool secret_file_read(const char *path, char **out, struct err *err) MUST_CHECK;

#endif
