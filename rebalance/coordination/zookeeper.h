/*
 * The coordination by ZooKeeper.
 *
 * Below the root: nodes/ID (ephemeral), locks/NAME/GUID-SEQUENCE (ephemeral, in a queue), and
 * the values. The client's own two threads only note events and call `wake`.
 */
#ifndef REBALANCE_COORDINATION_ZOOKEEPER_H
#define REBALANCE_COORDINATION_ZOOKEEPER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct coordination;

/* Copied by zookeeper_open(), but for wake_ctx. */
struct zookeeper_options {
    struct str
        servers; /* "h1:2181,h2:2181/root"; the port may lack, the root is /search-center */
    struct str
        auth;       /* "user:password"; empty: no log-in, and everybody may change everything */
    struct str tls; /* "ca_file,cert_file,key_file"; empty: none */
    unsigned timeout_ms; /* of a session that nobody hears of; the servers may grant another */
    void (*wake)(void *ctx); /* of any thread, under no lock; must not block or call back */
    void *wake_ctx;
};

/*
 * Begins to connect and returns; blocks for the resolving of names only. ERR_REJECT: the
 * servers or the log-in are no such text. ERR_FATAL: this program was built without ZooKeeper.
 */
bool zookeeper_open(const struct zookeeper_options *opt, struct coordination **out,
                    struct err *err) MUST_CHECK;

/* Tells whether the client that this program was built with speaks TLS. */
bool zookeeper_has_tls(void);

#endif
