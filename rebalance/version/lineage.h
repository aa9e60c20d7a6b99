/*
 * The mark that each index keeps in its mapping's _meta: owner, topic, number, and the
 * identity and epoch of the log.
 */
#ifndef REBALANCE_VERSION_LINEAGE_H
#define REBALANCE_VERSION_LINEAGE_H

#include "rebalance/state/parts.h"

struct lineage {
    uint64_t epoch;
    struct str identity; /* of the log */
};
/*
 * Put the mark that an index keeps in its mapping's _meta: owner, topic, log identity, epoch.
 */
void coordinator_put_lineage(struct json_writer *w, const struct coordinator *co,
                             const struct stored_version *v, uint64_t epoch,
                             struct str identity);
/*
 * Write the mark into the mapping of an existing index.  now NULL: keep its lineage and set the
 * owner.  Leaves an index alone if another store has taken it, and does nothing if it is gone.
 * Blocks.
 */
bool coordinator_mark_lineage(struct coordinator *co, const struct stored_version *v,
                              const struct lineage *now, struct err *err) MUST_CHECK;

#endif
