/*
 * Listening sockets, opened by ourselves so that a failure says what to change.
 */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct buf;

/*
 * "127.0.0.1:7700", "[::1]:7700" or "localhost:7700"; port 0: any.  Only loopback, until there
 * are users and passwords.  *address becomes the address in force.
 */
bool listen_tcp(int *fd, struct buf *address, const char *where, struct err *err) MUST_CHECK;

/* The same checks without listening.  "off" and an empty text are fine: no port. */
bool listen_check(const char *where, struct err *err) MUST_CHECK;

/*
 * A unix socket of mode 0660.  A socket that nobody listens on is replaced; one that somebody
 * answers is an error.
 */
bool listen_unix(int *fd, const char *path, struct err *err) MUST_CHECK;

#endif
