/*
 * What nodes can own: the topics of the definitions, and which of them must be on one node.
 * Topics that are deleted and still have indexes count, too: somebody has to drop these.
 *
 * Topics whose tables show each other's rows, or share an index, are on one node, as that node
 * hands keys and read locks from one pipeline to the other; so are those of one `group`.
 *
 * Pure.
 */
#ifndef REBALANCE_TOPIC_THINGS_H
#define REBALANCE_TOPIC_THINGS_H

#include "rebalance/cluster/barrier_event.h"
#include "src/base/base.h"
#include "sync/definition/definition.h"

#include <stddef.h>

struct arena;
struct catalogue;

/* Returns how many, those of the definitions first, in their order; the texts are in the arena.
 */
size_t things_of(const struct definitions *d, const struct catalogue *c, struct arena *a,
                 struct barrier_thing **out);

#endif
