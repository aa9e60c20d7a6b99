/*
 * Topics that another node has taken: their pipelines end without storing anything, and nobody
 * needs to do anything.  A topic that comes back to this node starts where its last owner
 * stored its position.
 */
#ifndef REBALANCE_TOPIC_LOST_H
#define REBALANCE_TOPIC_LOST_H

#include "rebalance/state/parts.h"

/*
 * End the pipelines of topics that are lost (rebalance/state/owned.h), and those that stopped
 * themselves because they met what only the owner of another topic may store.  Both start again
 * with coordinator_sync_topics().
 */
void coordinator_leave_lost(struct coordinator *co) NEEDS(co->admin_lock);
/*
 * Ask the store who owns topics whose reader failed: the server ends our reader when that of
 * the new owner comes.  A topic that is still ours is read again, three times at most while
 * fewer than 60 s lie between them.  Blocks on the store.
 */
void coordinator_ask_failed(struct coordinator *co) NEEDS(co->admin_lock);

#endif
