/*
 * Which replica of its server a topic is.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_STATE_REPLICA_H
#define REBALANCE_STATE_REPLICA_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;
struct topic_definition;

/*
 * Who a topic is among the replicas of its server. Of two replicas with the same id, or (MySQL)
 * the same uuid, a server keeps one, so two topics of a node differ in both.
 */
struct replica_identity {
    uint32_t server_id;
    char uuid[37];
};

/* Get the identity: as defined, else as stored, else a new one, which is stored. */
bool coordinator_replica_identity(struct coordinator *co, const struct topic_definition *d,
                                  struct replica_identity *out, struct err *err) MUST_CHECK;

#endif
