/*
 * Opens listening sockets ourselves, so that an error can say what to change.
 */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct buf;

/*
 * Listen on "127.0.0.1:7700", "[::1]:7700" or "localhost:7700"; port 0: any free one.  Only
 * loopback addresses, until there are users and passwords.  Appends the address in use to
 * *address.
 */
bool listen_tcp(int *fd, struct buf *address, const char *where, struct err *err) MUST_CHECK;

/* Check the address without listening.  "off" and an empty text are valid: no port. */
bool listen_check(const char *where, struct err *err) MUST_CHECK;

/*
 * Listen on a unix socket with mode 0660.  Replaces a socket on which nobody listens; if
 * somebody answers, fails.
 */
bool listen_unix(int *fd, const char *path, struct err *err) MUST_CHECK;

#endif
