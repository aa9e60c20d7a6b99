/* The check of a replica that a database reads from. */
#ifndef REBALANCE_CHECK_REPLICA_H
#define REBALANCE_CHECK_REPLICA_H

#include "rebalance/state/parts.h"

/* Check the replica that a database reads from: it answers and has GTIDs.  Blocks. */
void coordinator_check_replica(struct coordinator *co, const struct topic_definition *topic,
                               const struct database_definition *db, struct problems *problems);

#endif
