/*
 * Whether changing a column changes the documents of existing rows.
 *
 * A type that holds every old value and prints it as the same text changes nothing: a wider
 * integer, a longer text, labels appended at the end.  A type that may cut, round or convert
 * values counts as a change even if no such value exists.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MAPPING_VALUE_CHANGE_H
#define SYNC_MAPPING_VALUE_CHANGE_H

#include "src/base/base.h"

#include <stdbool.h>

struct column;

/* Tell whether every possible value of `was` has the same text in `is`. */
bool value_change_keeps_text(const struct column *was, const struct column *is);

/* Tell whether both compare and sort alike. */
bool value_change_keeps_collation(const struct column *was, const struct column *is);

/*
 * Tell whether every expression over the column keeps its result: besides the text, the bytes,
 * the sign and the form count.
 */
bool value_change_keeps_meaning(const struct column *was, const struct column *is);

/* Tell whether rows that existed before the column was added have NULL in it. */
bool value_change_adds_null(const struct column *added);

#endif
