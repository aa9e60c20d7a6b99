/*
 * Rollback: the older versions that are kept current, so that searches can return to them.
 *
 * A return that was cut off is finished here, and a version whose time is over is kept no
 * longer.
 */
#ifndef REBALANCE_VERSION_ROLLBACK_H
#define REBALANCE_VERSION_ROLLBACK_H

#include "rebalance/state/parts.h"

/*
 * Finish returns that were cut off, and end the time of kept versions.  Blocks on the engine
 * and takes admin_lock.  @thread aliases
 */
void coordinator_look_at_older(struct coordinator *co);
/* How long until one of these is due; at most `most_ms`. */
int64_t coordinator_older_rest_ms(struct coordinator *co, int64_t most_ms);

#endif
