/* Topics whose server has purged log that they had not read. */
#ifndef REBALANCE_TOPIC_GAP_H
#define REBALANCE_TOPIC_GAP_H

#include "rebalance/state/parts.h"

/* Reset topics that a gap in the log stopped, if their definitions allow it (on_gap). */
void coordinator_close_gaps(struct coordinator *co) NEEDS(co->admin_lock);

#endif
