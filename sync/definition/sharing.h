/*
 * Check tables that share an index: a join or one pattern must connect them, and they must
 * agree on what belongs to the index.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_SHARING_H
#define SYNC_DEFINITION_SHARING_H

#include "src/format/problem.h"
#include "sync/definition/definition.h"

void definition_check_sharing(const struct definitions *d, struct problems *problems);

#endif
