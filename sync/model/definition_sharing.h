/*
 * What must hold where several tables share an index: they are joined, or named by one pattern,
 * and agree on what belongs to the index.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_DEFINITION_SHARING_H
#define SYNC_MODEL_DEFINITION_SHARING_H

#include "src/problem.h"
#include "sync/model/definition.h"

void definition_check_sharing(const struct definitions *d, struct problems *problems);

#endif
