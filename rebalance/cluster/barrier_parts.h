/*
 * Inside the barrier: only files of rebalance/cluster include this.
 *
 *     barrier.c         takes events, and keeps what they say
 *     barrier_action.c  writes actions
 *     barrier_ask.c     what people ask for goes into the cluster's state
 *     barrier_known.c   reads and writes what nodes share
 *     barrier_leader.c  the lock's holder: from the plan to the end of a rebalance
 *     barrier_need.c    whether a rebalance is needed, and who begins it
 *     barrier_plan.c    who shall own what
 *     barrier_self.c    this node: obeys, starts, stops, answers
 *     barrier_text.c    for whom it waits
 *     barrier_work.c    things that start, run and stop here
 */
#ifndef REBALANCE_CLUSTER_BARRIER_PARTS_H
#define REBALANCE_CLUSTER_BARRIER_PARTS_H

#include "rebalance/cluster/barrier.h"
#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/name_set.h"
#include "rebalance/cluster/node_data.h"

enum barrier_link { LINK_NONE, LINK_SUSPENDED, LINK_CONNECTED };
enum barrier_lock { LOCK_NONE, LOCK_QUEUED, LOCK_HELD };

/* Why a rebalance is needed. */
enum barrier_need {
    NEED_NOTHING,
    NEED_ASKED,
    NEED_THINGS,
    NEED_SELF,
    NEED_REFUSED,
    NEED_GONE,
    NEED_JOINED,
    NEED_CUT,
    NEED_STUCK,
};

/* What the holder of the lock does. */
enum barrier_phase {
    PHASE_NONE,
    PHASE_GATHER, /* reads all nodes, and plans */
    PHASE_BEGIN,  /* writes the new session into the state */
    PHASE_CLEAN,  /* writes CLEAN, waits for CLEAN_OK */
    PHASE_INIT,   /* writes INIT, waits for FINISH */
    PHASE_END,    /* writes the end into the state */
};

/* One node as it was read last. */
struct barrier_node {
    struct buf id;
    bool is_known, is_reading, is_writing;
    bool is_gone;   /* it was read and is not there; the next list says whether it came back */
    uint64_t token; /* of the newest read */
    int64_t version;
    struct node_data data;
    struct node_data written; /* while is_writing */
};

struct barrier_owned_thing {
    struct buf name, group;
    bool is_interrupted;
};

struct barrier_works {
    struct name_set starting, running, stopping, halting;
};

struct barrier_wish {
    bool is_open;
    bool is_written; /* the answer to its write has not said otherwise */
    enum barrier_ask ask;
    struct buf node, thing;
    uint64_t token;
    int64_t until_ms;
};

struct barrier {
    struct buf id, name, version;
    struct barrier_options options;
    struct barrier_actions *out; /* during barrier_take() */
    int64_t now_ms;
    uint64_t token;

    enum barrier_link link;
    int64_t heard_ms; /* while it is suspended */
    enum barrier_lock lock;
    int64_t lock_ms; /* since when */

    struct barrier_node mine;
    bool is_registered, is_registering;
    uint64_t answered;      /* the session of our last CLEAN_OK */
    int64_t retry_ms;       /* we are not ready before that, while others have our things */
    int64_t retry_delay_ms; /* doubles each time that we cannot start what we were given */
    struct barrier_works works;
    struct name_set refused; /* things of ours that somebody else took */

    bool has_nodes;
    struct barrier_node *nodes; /* by id; our own is mine */
    size_t n_nodes;
    int64_t nodes_ms; /* when the list changed */

    bool has_state, is_state_reading, is_state_writing;
    uint64_t state_token;
    struct cluster_state state, state_written;
    int64_t state_version;
    int64_t state_ms; /* when its session or its end was seen first */

    bool has_things;
    struct barrier_owned_thing *things;
    size_t n_things;
    uint64_t revision;
    int64_t current_ms; /* when it was no older than the state's last */

    enum barrier_need need;
    int64_t need_ms; /* since when */

    enum barrier_phase phase;
    int64_t phase_ms;         /* since when */
    uint64_t session;         /* the rebalance that we run */
    struct name_set *plan;    /* things by node, in the order of plan_ids */
    struct name_set plan_ids; /* the nodes of the plan */
    struct name_set silent;   /* nodes that did not answer us */

    struct barrier_wish wish;
};

/* barrier_known.c */
bool barrier_lists(const struct barrier *b, struct str id, size_t *at);
struct barrier_node *barrier_find(struct barrier *b, struct str id); /* NULL: not in the list */
const struct barrier_node *barrier_seen(const struct barrier *b, size_t i);
struct barrier_node *barrier_at(struct barrier *b, size_t i); /* mine for our own */
void barrier_write_state(struct barrier *b, const struct cluster_state *next);
void barrier_read(struct barrier *b, struct barrier_node *node);
void barrier_read_state(struct barrier *b);
/* Writes the data of a node; false: a write is under way, or it is not known. */
bool barrier_write(struct barrier *b, struct barrier_node *node, const struct node_data *data);
bool barrier_is_member(const struct barrier *b, struct str id);

/* barrier_action.c */
struct barrier_action *barrier_add(struct barrier *b, enum barrier_action_kind kind);
struct str barrier_text(struct barrier *b, struct str text);

/* barrier_ask.c */
void barrier_ask(struct barrier *b, const struct barrier_event *e);
void barrier_ask_advance(struct barrier *b);

/* barrier_leader.c */
void barrier_lead(struct barrier *b);
void barrier_lead_from(struct barrier *b, enum barrier_phase phase);
bool barrier_has_answered(const struct barrier *b, const struct barrier_node *node);

/* barrier_need.c */
enum barrier_need barrier_needs(const struct barrier *b);
void barrier_need_advance(struct barrier *b);
bool barrier_is_behind(const struct barrier *b); /* an older list of things than the state's */
int64_t barrier_behind_end(const struct barrier *b); /* then the state is wrong, not we */
int64_t barrier_need_at(const struct barrier *b);    /* when we enter the lock's queue */

/* barrier_plan.c */
struct barrier_thing *barrier_things(const struct barrier *b); /* the caller frees the list */
void barrier_plan(struct barrier *b, const struct name_set *members);
const struct name_set *barrier_planned(const struct barrier *b, struct str id);
bool barrier_plan_is_kept(struct barrier *b);
/* Sets keep to what the node may go on with. */
void barrier_plan_keep(const struct barrier *b, const struct barrier_node *node,
                       struct name_set *keep);
void barrier_plan_free(struct barrier *b);

/* barrier_self.c */
void barrier_self(struct barrier *b);
bool barrier_is_resting(const struct barrier *b); /* until retry_ms */

/* barrier_work.c */
void barrier_work_start(struct barrier *b, struct str thing);
void barrier_work_stop(struct barrier *b, const struct name_set *but);
void barrier_work_halt(struct barrier *b);
bool barrier_works_only(const struct barrier *b, const struct name_set *those);
bool barrier_works_all(const struct barrier *b, const struct name_set *those);
bool barrier_work_is_any(const struct barrier *b);
void barrier_work_started(struct barrier *b, struct str thing);
void barrier_work_stopped(struct barrier *b, struct str thing);
bool barrier_work_refused(struct barrier *b, struct str thing);

#endif
