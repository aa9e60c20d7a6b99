/*
 * What other nodes of the cluster change in the store takes effect here: definitions, versions,
 * stops and waits by loading them again, pauses and settings of delivery by telling delivery.
 */
#ifndef REBALANCE_ADMIN_FOLLOW_H
#define REBALANCE_ADMIN_FOLLOW_H

#include "rebalance/state/parts.h"

/*
 * Ask the store whether anything changed; if so, a load is due.  Blocks on the store. Does
 * nothing if no other node uses the store.
 */
void coordinator_look_for_changes(struct coordinator *co);
/*
 * What the store has now is in effect here, for a command of another node that may follow from
 * it.  If the store cannot be read, the command meets what was known.  Blocks on the store.
 */
void coordinator_catch_up(struct coordinator *co);
/* After each load: tell delivery what it has to know. */
void coordinator_follow_changes(struct coordinator *co) NEEDS(co->admin_lock);

#endif
