/*
 * Fields that a mapping has and an earlier one has not: what is put into an index that is there.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_MAPPING_ADDED_H
#define SYNC_MODEL_MAPPING_ADDED_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/*
 * before and after: as mapping_body() makes them; before empty: nothing was there.  Appends the
 * body of PUT _mapping; false: there is nothing to add, and nothing is appended.
 */
bool mapping_added(struct str before, struct str after, struct buf *json);

#endif
