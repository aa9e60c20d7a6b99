/* @thread any, except where said */
#ifndef REBALANCE_VERSION_PAUSE_H
#define REBALANCE_VERSION_PAUSE_H

#include "rebalance/state/parts.h"

/* Tell delivery which indexes are paused.  Call before topics start. */
void coordinator_put_pauses(struct coordinator *co);
/*
 * Refuse what a paused index cannot do now, such as a build, with the fix.  Returns true if it
 * is not paused.
 */
bool coordinator_is_not_paused(struct coordinator *co, struct str alias, struct str table,
                               struct err *err) MUST_CHECK;

#endif
