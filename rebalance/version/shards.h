/* The routings that lead to each shard of an index, which look-ups by parent need. */
#ifndef REBALANCE_VERSION_SHARDS_H
#define REBALANCE_VERSION_SHARDS_H

#include "rebalance/state/parts.h"

/*
 * Get the routings that lead to each of the version's shards, separated by spaces.  *shards
 * belongs to the caller; NULL if no documents are found by their parents.  Asks the engine
 * once, then uses the stored answer.  ERR_REJECT: the index is gone, and the answer was never
 * stored.  Blocks.
 */
bool coordinator_shards(struct coordinator *co, const struct stored_version *v,
                        const struct definitions *d, const struct table_definition *lead,
                        char **shards, struct err *err) MUST_CHECK;

#endif
