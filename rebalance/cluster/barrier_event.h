/*
 * What goes into the rebalance barrier and what comes out (barrier.h).
 * Texts in events are borrowed during the call; those in actions live until the next one.
 */
#ifndef REBALANCE_CLUSTER_BARRIER_EVENT_H
#define REBALANCE_CLUSTER_BARRIER_EVENT_H

#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum barrier_event_kind {
    BARRIER_TIME,
    BARRIER_CONNECTED, /* is_new: by a new session, without ephemerals; BARRIER_NODES follows */
    BARRIER_SUSPENDED, /* no sign of the coordination since heard_ms */
    BARRIER_LOST,      /* the session has expired, with node and lock */
    BARRIER_NODES,     /* list: the ids of all nodes, at each change */
    BARRIER_NODE,      /* answers READ: node, text, version, token; version -1: gone */
    BARRIER_NODE_CHANGED, /* once after each READ: node */
    BARRIER_STATE, /* answers READ_STATE: text, version, token; without a value: empty, -1 */
    BARRIER_STATE_CHANGED, /* once after each READ_STATE */
    BARRIER_WRITTEN,       /* answers REGISTER and WRITE: node, answer, version */
    BARRIER_STATE_WRITTEN, /* answers WRITE_STATE: answer, version */
    BARRIER_LOCK_GRANTED,
    BARRIER_LOCK_LOST, /* also after a reconnect, if the lock is not ours any more */
    BARRIER_THINGS,    /* things, revision: what can be owned */
    BARRIER_STARTED,   /* thing: it is owned, and works */
    BARRIER_STOPPED,   /* thing */
    BARRIER_REFUSED,   /* thing: the store has a newer term; the work has ended */
    BARRIER_ASKED,     /* ask, node, thing, token: a person's wish */
};

enum barrier_answer {
    BARRIER_OK,
    BARRIER_DIFFERS, /* another version is there; nothing was written */
    BARRIER_GONE,
    BARRIER_UNKNOWN, /* it may be written, or not */
};

enum barrier_ask {
    BARRIER_ASK_REBALANCE,
    BARRIER_ASK_EVACUATE, /* node */
    BARRIER_ASK_ADMIT,    /* node */
    BARRIER_ASK_MOVE,     /* thing, node; an empty node: anywhere */
    BARRIER_ASK_FORGET,   /* node: as if nobody had asked anything of it */
};

struct barrier_thing {
    struct str name;
    struct str group;    /* things of one group are on one node */
    bool is_interrupted; /* every rebalance stops it; others go on where they stay */
};

struct barrier_event {
    enum barrier_event_kind kind;
    int64_t now_ms, heard_ms; /* of one clock that goes on while the process sleeps */
    bool is_new;
    struct str node, thing, text;
    int64_t version;
    uint64_t token, revision;
    enum barrier_answer answer;
    enum barrier_ask ask;
    const struct str *list;
    const struct barrier_thing *things;
    size_t n; /* of list or things */
};

enum barrier_action_kind {
    BARRIER_REGISTER,    /* make our node's ephemeral with text, in place of any other */
    BARRIER_READ,        /* node, and tell of its next change; of our own: gone if not ours */
    BARRIER_READ_STATE,  /* and tell of its next change */
    BARRIER_WRITE,       /* node, text, if its version is version */
    BARRIER_WRITE_STATE, /* text, if its version is version; -1: if there is none */
    BARRIER_ENTER,       /* the lock's queue, once; the driver repeats it after a reconnect */
    BARRIER_LEAVE,       /* the lock, or its queue; the same */
    BARRIER_START,       /* thing: take it, which raises its term, and begin its work */
    BARRIER_STOP,        /* thing: end its work, save, give it back */
    BARRIER_HALT,        /* thing: end its work at once, without saving; also while it stops */
    BARRIER_ANSWER,      /* a person's wish: token, is_done, text */
};

struct barrier_action {
    enum barrier_action_kind kind;
    struct str node, thing, text;
    int64_t version;
    uint64_t token; /* returned with the answer */
    bool is_done;
};

struct barrier_actions { /* zero-initialise it */
    struct barrier_action *list;
    size_t n, cap;
    struct arena *texts;
};

void barrier_actions_free(struct barrier_actions *a);

#endif
