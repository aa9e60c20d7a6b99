/*
 * Files that come into being together: all of them whole, or none; no file is replaced.
 *
 * Each is written under another name beside its own, then linked to its name, which fails if
 * the name exists.
 *
 * Blocks on the file system.
 */
#ifndef SRC_FILE_NEW_FILES_H
#define SRC_FILE_NEW_FILES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct new_file {
    const char *path;
    struct str text;
    unsigned mode; /* 0600, 0644; the umask applies */
};

/* ERR_REJECT names the first of the paths that exists already. */
bool new_files_are_free(const struct new_file *files, size_t n, struct err *err) MUST_CHECK;
/* ERR_REJECT names the file that exists or cannot be written; then none of them is there. */
bool new_files_write(const struct new_file *files, size_t n, struct err *err) MUST_CHECK;

#endif
