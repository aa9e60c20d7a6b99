/*
 * A secret from whoever runs the command: typed without being shown, or the first line of
 * standard input if that is no terminal.
 *
 * @thread main (blocks)
 */
#ifndef SRC_CLI_ACCESS_SECRET_H
#define SRC_CLI_ACCESS_SECRET_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct buf;

/* Append it without its line end.  On a terminal asks twice, until both are the same. */
bool secret_read(struct buf *out, const char *what, struct err *err) MUST_CHECK;

#endif
