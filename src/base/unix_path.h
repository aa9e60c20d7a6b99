/*
 * A unix socket's path of any length.
 *
 * The kernel takes at most 107 bytes.  A longer path is reached through its folder, held open,
 * by way of /proc/self/fd, so that a checkout may lie as deep as it likes.
 */
#ifndef SRC_BASE_UNIX_PATH_H
#define SRC_BASE_UNIX_PATH_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

#define UNIX_PATH_MAX 108 /* with the NUL */

struct unix_path {
    char text[UNIX_PATH_MAX]; /* names the socket until unix_path_close() */
    int folder_fd;            /* -1: the path was short enough */
};

bool unix_path_open(struct unix_path *out, const char *path, struct err *err) MUST_CHECK;
void unix_path_close(struct unix_path *p);

#endif
