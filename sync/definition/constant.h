/*
 * A constant in a definition: `value` or `default` of a column.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_CONSTANT_H
#define SYNC_DEFINITION_CONSTANT_H

#include "src/base/str.h"
#include "sync/value/schema.h"

#include <stdbool.h>

/*
 * Make a column that could hold the JSON value, to derive a field type from; for an array, one
 * for its first element.  Returns false for null and empty arrays, which have no type.  Borrows
 * name.
 */
bool constant_column(struct str json, struct str name, struct column *out);

/*
 * Tell whether a field of this type accepts exactly this text or number: numbers within range,
 * dates that begin with a year (with any_date, any: the field has its own format).  Checks an
 * array by its first element.
 */
bool constant_is_readable(struct str json, struct str type, bool any_date);

/* Tell whether a field of this type accepts this kind of value. type must end in NUL. */
bool constant_fits(struct str json, struct str type);

/* Tell whether the JSON value is true or false, or an array of these. */
bool constant_is_bool(struct str json);

#endif
