/*
 * A value that stands in the definition: `value` and `default` of a column.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_CONSTANT_H
#define SYNC_MODEL_CONSTANT_H

#include "src/base/str.h"
#include "sync/binlog/schema.h"

#include <stdbool.h>

/*
 * A column that could hold the JSON value, for its field type; of an array one that could hold
 * its first element.  False: null, or an array without elements, which tell nothing.  name is
 * borrowed.
 */
bool constant_column(struct str json, struct str name, struct column *out);

/*
 * Whether a field of that type reads this very text or number: numbers within their range, dates
 * that begin with a year (any_date: the field has a format of its own).  Of an array its first.
 */
bool constant_is_readable(struct str json, struct str type, bool any_date);

/* Whether a field of that type, which ends in NUL, takes the kind of value that it is. */
bool constant_fits(struct str json, struct str type);

/* Whether the JSON value is true or false, or an array of such. */
bool constant_is_bool(struct str json);

#endif
