/*
 * Apply the changes that MySQL logs instead of a whole JSON value (binlog_row_value_options =
 * PARTIAL_JSON) to the old value.
 */
#ifndef SYNC_VALUE_JSON_DIFF_H
#define SYNC_VALUE_JSON_DIFF_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/*
 * Append json (compact, as jsonb_append() makes it) with a cell's changes applied (format:
 * sql-common/json_diff.h).  Returns false and appends nothing if the changes are damaged or do
 * not fit the value.
 */
bool json_diff_apply(struct buf *out, struct str json, struct str changes) MUST_CHECK;

#endif
