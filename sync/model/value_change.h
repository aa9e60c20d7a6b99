/*
 * Whether a change of a column changes what documents say of rows that are there already.
 *
 * Types that hold every value of the one before, and write it as the same text, change nothing:
 * a wider integer, a longer text, labels that are added at the end.  What may cut, round or
 * convert a value does, whether or not there is such a value.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_VALUE_CHANGE_H
#define SYNC_MODEL_VALUE_CHANGE_H

#include "src/base/base.h"

#include <stdbool.h>

struct column;

/* Every value that `was` could have is the same text in `is`. */
bool value_change_keeps_text(const struct column *was, const struct column *is);

/* Rows that were there before the column was added have NULL in it. */
bool value_change_adds_null(const struct column *added);

#endif
