/*
 * The changes that MySQL logs instead of a whole JSON value (binlog_row_value_options =
 * PARTIAL_JSON), applied to the value before.
 */
#ifndef SYNC_BINLOG_JSON_DIFF_H
#define SYNC_BINLOG_JSON_DIFF_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/*
 * Append what json (compact, as jsonb_append() makes it) becomes by the changes of a cell
 * (sql-common/json_diff.h).  False: damaged, or they do not fit the value; nothing is appended.
 */
bool json_diff_apply(struct buf *out, struct str json, struct str changes) MUST_CHECK;

#endif
