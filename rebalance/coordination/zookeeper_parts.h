/*
 * The parts of the coordination by ZooKeeper: session, nodes, values, locks.
 * Only files of rebalance/coordination include this, in a build with the client's library.
 *
 * zookeeper_session.c has what the client tells of the session, and what every call needs;
 * zookeeper_handle.c begins, keeps and ends it; zookeeper_root.c makes the root and looks at
 * rights; zookeeper_call.c has the calls, each with its limit; zookeeper_notes.c has what
 * changed; zookeeper_nodes.c, zookeeper_values.c and zookeeper_locks.c translate one kind of
 * thing each; zookeeper.c joins them.
 */
#ifndef REBALANCE_COORDINATION_ZOOKEEPER_PARTS_H
#define REBALANCE_COORDINATION_ZOOKEEPER_PARTS_H
#ifdef HAVE_ZOOKEEPER

#include "rebalance/coordination/coordination_ops.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/list.h"
#include "src/base/lock.h"
#include "src/base/magic.h"

#include <zookeeper/zookeeper.h> /* without THREADED, so that no call can wait */

struct map;

enum note_kind {
    NOTE_STATE,
    NOTE_NODES,
    NOTE_NODE,
    NOTE_VALUE,
    NOTE_LOCK, /* something around our place in the queue of a lock */
    NOTE_GRANTED,
    NOTE_TAKEN,
};

/* Something that changed, until the deciding thread takes it; each kind and name once. */
struct note {
    struct link link;
    enum note_kind kind;
    struct buf name;
};

/* @thread the deciding one, but for what lock guards */
struct zookeeper {
    enum magic magic;
    struct coordination base;
    struct buf servers, root, auth, tls;
    unsigned timeout_ms;
    void (*wake)(void *ctx);
    void *wake_ctx;
    zhandle_t *client;    /* NULL: it could not be begun */
    bool is_lost_dropped; /* the session is over, and we have forgotten what it had */
    bool is_lost_told;    /* and the deciding thread knows it */
    bool is_logged_in;    /* this client was given the log-in over a connection */
    struct buf told_name; /* of the last event */
    struct buf answer;    /* of the last read */

    struct String_vector children; /* as they were listed last */
    struct str *ids;               /* those that are nodes */
    struct map *foreign;           /* by name: those that are none, though their name is one */

    struct map *checked; /* values by name: struct checked */
    struct map *locks;   /* by name: struct queued */

    struct lock lock;
    pthread_cond_t answered_cond; /* one of calls was answered */
    /* All guarded by lock */
    struct coordination_state state;
    int64_t next_try_ms; /* of clock_mono_ms(), to begin or to set up */
    int64_t asked_ms;    /* of clock_mono_ms(), for the last sign of life */
    bool is_asking;      /* and it has not come yet */
    bool is_caught_up;   /* this connection's server knows what all knew when it began */
    bool is_set_up;      /* this session found or made the root, and may use it */
    struct link calls;   /* of struct zookeeper_call */
    struct link notes;   /* of struct note */
    struct buf released; /* the path of the place that we gave back last: its end is no news */
};

/* Begins a session, after the end of the last one; if that cannot be now, the state says why,
 * and it is tried again. */
void zookeeper_handle_begin(struct zookeeper *z);
/* Ends the session, alive or not, and drops all notes. May wait for seconds. */
void zookeeper_handle_end(struct zookeeper *z);
/* Does what is due: begins a session, finds or makes the root in one that has begun, asks for a
 * sign of life. */
void zookeeper_handle_keep(struct zookeeper *z);

/* What the client calls; its context is the struct zookeeper. */
void zookeeper_session_on_event(zhandle_t *client, int type, int state, const char *path,
                                void *ctx);
void zookeeper_session_on_words(const char *message);
/* Asks our server to catch up with the others; that it answers is a sign of life, too. */
void zookeeper_session_ask(struct zookeeper *z, zhandle_t *client);

/* The next three return whether the status is another one now. */
bool zookeeper_session_set_status(struct zookeeper *z, enum coordination_status status)
    NEEDS(z->lock);
bool zookeeper_session_suspend(struct zookeeper *z) NEEDS(z->lock);
bool zookeeper_session_refuse(struct zookeeper *z, const struct err *why) NEEDS(z->lock);
/* Tries again some seconds later. */
void zookeeper_session_delay(struct zookeeper *z) NEEDS(z->lock);

void zookeeper_session_state(struct zookeeper *z, struct coordination_state *out);
/* What every call begins with. */
bool zookeeper_session_is_ready(struct zookeeper *z, struct err *err);
/* The path of a name below the root, or of a name below a folder of the root. */
struct buf zookeeper_session_path(const struct zookeeper *z, const char *folder,
                                  struct str name);
/* Turns an answer of the client into an error. After an answer that never came the session is
 * suspended until it is set up again. */
bool zookeeper_session_fail(struct zookeeper *z, int rc, const char *what, struct str path,
                            struct err *err);
/* For what is made: for whoever has our log-in only, if we have one. */
const struct ACL_vector *zookeeper_session_acl(const struct zookeeper *z);
/* The root was deleted by somebody: it is made again. */
bool zookeeper_session_root_is_gone(struct zookeeper *z, struct err *err);

/* Each queues a note, if no such note waits, and does not wake. */
void zookeeper_notes_add(struct zookeeper *z, enum note_kind kind, struct str name);
void zookeeper_notes_put_first(struct zookeeper *z, enum note_kind kind, struct str name)
    NEEDS(z->lock);
/* Watches of everything: the path says what changed. Its context is the struct zookeeper. */
void zookeeper_notes_on_change(zhandle_t *client, int type, int state, const char *path,
                               void *ctx);
/* Takes the first note that can be told now; its name is in told_name. */
bool zookeeper_notes_take(struct zookeeper *z, enum note_kind *kind);
/* Drops this note, if it waits. */
void zookeeper_notes_drop(struct zookeeper *z, enum note_kind kind, struct str name);
void zookeeper_notes_drop_all(struct zookeeper *z);

/* Finds or makes the root and its folders, which nobody else may write if we have a log-in. */
bool zookeeper_root_make(struct zookeeper *z, struct err *err);
/* With a log-in, ERR_REJECT if it is there and everybody may write it. */
bool zookeeper_root_check_rights(struct zookeeper *z, const char *path, struct err *err);

void zookeeper_nodes_forget(struct zookeeper *z);
/* This child of nodes changed. True: it was no node, and what it is now the next list tells. */
bool zookeeper_nodes_look_again(struct zookeeper *z, struct str id);
bool zookeeper_nodes_join(struct zookeeper *z, struct str id, struct str data, struct err *err);
bool zookeeper_nodes_list(struct zookeeper *z, const struct str **ids, size_t *n,
                          struct err *err);
bool zookeeper_nodes_read(struct zookeeper *z, struct str id, struct coordination_node *out,
                          bool *found, struct err *err);
void zookeeper_values_forget(struct zookeeper *z);
enum written zookeeper_values_write(struct zookeeper *z, const struct coordination_write *w,
                                    struct err *err);
bool zookeeper_values_read(struct zookeeper *z, struct str name, struct buf *data,
                           int32_t *version, struct err *err);

/* Takes or finds again our place in each queue that is unsettled. */
void zookeeper_locks_settle(struct zookeeper *z);
/* Something changed around our place in this queue. */
void zookeeper_locks_unsettle(struct zookeeper *z, struct str name);
/* The session is over: notes each as taken. */
void zookeeper_locks_lose(struct zookeeper *z);
void zookeeper_locks_free(struct zookeeper *z);
bool zookeeper_locks_queue(struct zookeeper *z, struct str name, struct err *err);
bool zookeeper_locks_hold(struct zookeeper *z, struct str name);
bool zookeeper_locks_leave(struct zookeeper *z, struct str name, struct err *err);

#endif
#endif
