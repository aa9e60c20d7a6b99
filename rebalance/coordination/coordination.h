/*
 * The coordination of nodes: which nodes live, small values that all share, and locks.
 *
 * It translates and decides nothing. One thread, the deciding one, makes all calls; each may
 * block for its answers, timeout_ms for each at most. After a wake events may wait.
 *
 * ERR_RETRY: we are not connected, or the answer was lost; such a write may have happened, so
 * read again and compare. ERR_REJECT: a name, data or rights that will not do; the message has
 * the fix. A name is 1 to 200 printable ASCII characters without "/".
 *
 * @thread one at a time; coordination_state(), which does not block, any
 */
#ifndef REBALANCE_COORDINATION_COORDINATION_H
#define REBALANCE_COORDINATION_COORDINATION_H

#include "rebalance/coordination/coordination_ops.h"

static inline void coordination_state(struct coordination *c, struct coordination_state *out)
{
    c->ops->state(c, out);
}

/* Takes the next event; false: none waits. Keeps the connection and moves dead_ms on, too: call
 * it after each wake, and once a second, until it is false. The call after the one that told of
 * COORDINATION_LOST opens a new session, in which nothing is joined, watched or locked. */
static inline bool coordination_next(struct coordination *c, struct coordination_event *out)
{
    return c->ops->next(c, out);
}

/* Be a node while the session lives. If we are it already, replaces the data. ERR_RETRY while
 * the node of an earlier session of this id is still there. */
static inline bool coordination_join(struct coordination *c, struct str id, struct str data,
                                     struct err *err)
{
    return c->ops->join(c, id, data, err);
}

/* Lists the ids of all nodes in no order, valid until the next call of it, and watches the list
 * for one change. What is not named as nodes are (node_file.h) is not listed. After an id that
 * is listed and not found, COORDINATION_NODES follows. */
static inline bool coordination_list(struct coordination *c, const struct str **ids, size_t *n,
                                     struct err *err)
{
    return c->ops->list(c, ids, n, err);
}

/*
 * Reads one node and watches it for one change; *found: false, and no watch, if it is not
 * there. out->data is valid until the next call but coordination_state().
 */
static inline bool coordination_read_node(struct coordination *c, struct str id,
                                          struct coordination_node *out, bool *found,
                                          struct err *err)
{
    return c->ops->read_node(c, id, out, found, err);
}

/* Replaces *data, sets its version or COORDINATION_ABSENT, and watches for one change. */
static inline bool coordination_read_value(struct coordination *c, struct str name,
                                           struct buf *data, int32_t *version, struct err *err)
{
    return c->ops->read_value(c, name, data, version, err);
}

/* Makes a value if w->version is COORDINATION_ABSENT. err is set unless it is WRITTEN_DONE. */
static inline enum written
coordination_write(struct coordination *c, const struct coordination_write *w, struct err *err)
{
    return c->ops->write(c, w, err);
}

/* Queues for a lock, once; COORDINATION_GRANTED follows. Does not wait for the lock. After true
 * the place in the queue is kept, or taken once connected again, while the session lives. */
static inline bool coordination_lock(struct coordination *c, struct str name, struct err *err)
{
    return c->ops->lock(c, name, err);
}

/* Tells whether we hold it now: not while suspended. Does not ask the server. */
static inline bool coordination_holds(struct coordination *c, struct str name)
{
    return c->ops->holds(c, name);
}

/* Gives a lock back, or the place in its queue; true if we have neither. ERR_RETRY: we do not
 * hold it any more, and coordination_next() will tell the server. */
static inline bool coordination_unlock(struct coordination *c, struct str name, struct err *err)
{
    return c->ops->unlock(c, name, err);
}

/* Ends the session: our node and locks vanish at once, if connected. NULL is fine. */
static inline void coordination_close(struct coordination *c)
{
    if (c != NULL)
        c->ops->close(c);
}

#endif
