/*
 * Checks definitions that are to be applied against the servers that they name.
 */
#ifndef REBALANCE_ADMIN_LIVE_CHECK_H
#define REBALANCE_ADMIN_LIVE_CHECK_H

#include "rebalance/state/parts.h"
#include "sync/definition/diff.h"

/*
 * Checks what of d differs from the definitions in force: log-ins, rights, columns, row images,
 * cascades.  Adds what is wrong to problems.  Blocks for as long as the servers take; the
 * caller must not hold admin_lock.
 */
void coordinator_check_live(struct coordinator *co, const struct definitions *d,
                            const struct definition_diff *diff, struct problems *problems);

#endif
