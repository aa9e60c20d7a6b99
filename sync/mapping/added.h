/*
 * The fields that a mapping adds to an earlier one, to be put into an existing index.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MAPPING_ADDED_H
#define SYNC_MAPPING_ADDED_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/*
 * Append the body of PUT _mapping that turns before into after, both as from mapping_body();
 * before may be empty.  Returns false and appends nothing if there is nothing to add.
 */
bool mapping_added(struct str before, struct str after, struct buf *json);

#endif
