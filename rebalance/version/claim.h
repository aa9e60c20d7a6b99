/*
 * Who owns an alias and its indexes: checked before a build creates an index, and before an
 * alias moves.
 */
#ifndef REBALANCE_VERSION_CLAIM_H
#define REBALANCE_VERSION_CLAIM_H

#include "rebalance/state/parts.h"

/* An alias that a build takes. */
struct claimed {
    struct str alias;
    struct take take;
    uint64_t highest; /* the highest version number in the engine */
    struct buf taken; /* text: what we took from others; empty: nothing */
};
/*
 * Check that the alias, and all that looks like a version of it, belong to this store.  Refuses
 * (409) if not, unless c->take allows it.  Fills in the rest of c.  Blocks.
 */
bool coordinator_claim(struct coordinator *co, struct str table, struct claimed *c,
                       struct err *err) MUST_CHECK;
/*
 * Check the same again before the alias moves, since a build takes long.  ERR_RETRY until it
 * may move.  ctx: the coordinator.  @thread a build's
 */
bool coordinator_may_publish(void *ctx, const char *alias, const struct take *take,
                             struct err *err) MUST_CHECK;
/* Tables whose aliases are checked. */
struct claims {
    const struct definitions *definitions;
    const struct table_definition **tables;
    size_t n;
    struct take take;
};
/*
 * Report what a build of each table would refuse.  Says nothing if the engine is unreachable: a
 * build asks it again.  Blocks.
 */
void coordinator_check_claims(struct coordinator *co, const struct claims *claims,
                              struct problems *problems);

#endif
