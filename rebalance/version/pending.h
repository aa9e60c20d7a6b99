/*
 * Definitions that take effect with the next build of their index, and the version that they
 * wait for.
 */
#ifndef REBALANCE_VERSION_PENDING_H
#define REBALANCE_VERSION_PENDING_H

#include "rebalance/state/parts.h"
#include "rebalance/version/retire.h"

struct definition_diff;
/*
 * Note the tables of `then` whose definition takes effect with their next build, in the values
 * of r.
 */
void coordinator_note_pending(struct coordinator *co, const struct definitions *now,
                              const struct definitions *then,
                              const struct definition_diff *diff, struct retirement *r);

#endif
