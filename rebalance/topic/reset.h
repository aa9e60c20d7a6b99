/* A topic begins anew: it gives up its position, and its tables are rebuilt. */
#ifndef REBALANCE_TOPIC_RESET_H
#define REBALANCE_TOPIC_RESET_H

#include "rebalance/state/parts.h"

/*
 * Reset a topic: when started next, it begins at the server's present position.  *n: the number
 * of its tables that stop until they are rebuilt.
 */
struct reset_wish {
    struct str topic;
    const char *reason;
    bool again; /* rebuild its tables automatically */
};
bool coordinator_reset_topic(struct coordinator *co, const struct definitions *d,
                             const struct reset_wish *wish, uint64_t *n, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;

#endif
