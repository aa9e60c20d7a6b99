/*
 * A unix socket path of any length.
 *
 * The kernel takes at most 107 bytes. For a longer path, open its folder and go through
 * /proc/self/fd, so a checkout may lie as deep as it likes.
 */
#ifndef SRC_NET_UNIX_PATH_H
#define SRC_NET_UNIX_PATH_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

#define UNIX_PATH_MAX 108 /* with the NUL */

struct unix_path {
    char text[UNIX_PATH_MAX]; /* usable until unix_path_close() */
    int folder_fd;            /* -1 if the path was short enough */
};

bool unix_path_open(struct unix_path *out, const char *path, struct err *err) MUST_CHECK;
void unix_path_close(struct unix_path *p);

#endif
