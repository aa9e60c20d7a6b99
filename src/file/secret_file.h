/*
 * A file whose first line is a secret: a password, a key.
 *
 * Blocks on the file.
 */
#ifndef SRC_FILE_SECRET_FILE_H
#define SRC_FILE_SECRET_FILE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

/* Stores the line, without its end, in *out; free() it. ERR_REJECT names the file; it is also
 * returned if others may read or change the file (whole_file_is_exposed()). */
bool secret_file_read(const char *path, char **out, struct err *err) MUST_CHECK;

#endif
