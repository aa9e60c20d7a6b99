/* Indexes that the engine refuses for long: their tables are stopped, so that others go on. */
#ifndef REBALANCE_VERSION_HELD_H
#define REBALANCE_VERSION_HELD_H

#include "rebalance/state/parts.h"

/* Whether delivery holds an index that this node writes to. */
bool coordinator_has_held(struct coordinator *co) MUST_CHECK;
/*
 * Stop the table of a held index that keeps others from being written, and end holds of indexes
 * that other nodes write to now.
 */
void coordinator_stop_held(struct coordinator *co) NEEDS(co->admin_lock);

#endif
