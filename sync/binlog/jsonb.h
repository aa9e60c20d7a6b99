/*
 * MySQL's binary JSON (sql-common/json_binary.cc) to JSON text without white space.
 *
 * Numbers are as the server prints them.  What JSON has no type for is a string, also as the
 * server prints it: "2015-01-15 23:24:25.000000", "base64:type16:yv4=".  Holes and too large
 * sizes, which partial updates leave behind, are allowed for.
 */
#ifndef SYNC_BINLOG_JSONB_H
#define SYNC_BINLOG_JSONB_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/* Nothing at all is null, as in the server.  False: damaged; nothing is appended. */
bool jsonb_append(struct buf *b, struct str binary) MUST_CHECK;

#endif
