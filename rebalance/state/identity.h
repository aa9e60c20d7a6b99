/*
 * Who this node is: the uuid of its data folder, the store that it belongs to, and which
 * replica of its server each topic is.
 *
 * @thread any (the calls block on the store)
 */
#ifndef REBALANCE_STATE_IDENTITY_H
#define REBALANCE_STATE_IDENTITY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;
struct topic_definition;

/* Read once, at the start. */
struct identity {
    char uuid[37];  /* this node's */
    char name[256]; /* its name for people */
    char owner[37]; /* the store's, shared by all nodes of a cluster; marks our indexes */
};

/*
 * Who a topic is among the replicas of its server. Of two replicas with the same id, or (MySQL)
 * the same uuid, a server keeps one, so two topics of a node differ in both.
 */
struct replica_identity {
    uint32_t server_id;
    char uuid[37];
};

/* Take the id of this node from the options, and load that of its store. */
bool coordinator_load_identity(struct coordinator *co, struct err *err) MUST_CHECK;
/* Get the identity: as defined, else as stored, else a new one, which is stored. */
bool coordinator_replica_identity(struct coordinator *co, const struct topic_definition *d,
                                  struct replica_identity *out, struct err *err) MUST_CHECK;

#endif
