/*
 * Convert MySQL's binary JSON (sql-common/json_binary.cc) to JSON text without white space.
 *
 * Numbers look as the server prints them.  Values without a JSON type become strings, also as
 * the server prints them: "2015-01-15 23:24:25.000000", "base64:type16:yv4=".  Accepts the
 * holes and oversized lengths that partial updates leave.
 */
#ifndef SYNC_VALUE_JSONB_H
#define SYNC_VALUE_JSONB_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/* Empty input gives null, as in the server.  Returns false and appends nothing if damaged. */
bool jsonb_append(struct buf *b, struct str binary) MUST_CHECK;

#endif
