/*
 * Tells indexes that every engine takes from those that an engine may refuse, so that only
 * these need a question.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MAPPING_USUAL_H
#define SYNC_MAPPING_USUAL_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

/*
 * Tell whether the body of an index (mapping_index_body()) has only types that no engine lacks,
 * and no more fields than an engine allows unless somebody set the limit.
 */
bool mapping_is_usual(struct str body);

#endif
