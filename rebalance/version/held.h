/* Indexes that the engine refuses for long: their tables are stopped, so that others go on. */
#ifndef REBALANCE_VERSION_HELD_H
#define REBALANCE_VERSION_HELD_H

#include "rebalance/state/parts.h"

/* Stop the table of a held index that keeps others from being written. */
void coordinator_stop_held(struct coordinator *co) NEEDS(co->admin_lock);

#endif
