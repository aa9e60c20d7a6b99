/*
 * What nodes can own: the topics of the definitions, and which of them must be on one node.
 * Topics that are deleted and still have indexes count, too: somebody has to drop these.
 *
 * Topics whose tables show each other's rows, or share an index, are on one node, as that node
 * hands keys and read locks from one pipeline to the other; so are those of one `group`. An
 * index version that gets changes may still show what the definitions connect no more.
 *
 * Pure but for coordinator_things().
 */
#ifndef REBALANCE_TOPIC_THINGS_H
#define REBALANCE_TOPIC_THINGS_H

#include "rebalance/cluster/barrier_event.h"
#include "src/base/base.h"
#include "sync/definition/definition.h"

#include <stddef.h>

struct arena;
struct catalogue;
struct coordinator;

/* Topics that an index version shows tables of. */
struct topic_set {
    struct str *topics;
    size_t n;
};

/* What things_of() needs to know beside the definitions. */
struct things_stored {
    const struct catalogue *versions;
    const struct topic_set *sets;
    size_t n_sets;
};

/*
 * Returns how many, those of the definitions first, in their order; the texts are in the arena.
 */
size_t things_of(const struct definitions *d, const struct things_stored *stored,
                 struct arena *a, struct barrier_thing **out);
/* The same, of what the coordinator knows now. */
size_t coordinator_things(struct coordinator *co, struct arena *a, struct barrier_thing **out);

#endif
