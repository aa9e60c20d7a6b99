/*
 * Inside the member: only files of rebalance/member include this.
 *
 *     member.c      its life, and what other threads ask and tell
 *     member_run.c  its thread: events into the barrier, actions out of it
 *     survey.c      reads the cluster for people, on that thread
 */
#ifndef REBALANCE_MEMBER_MEMBER_PARTS_H
#define REBALANCE_MEMBER_MEMBER_PARTS_H

#include "rebalance/cluster/cluster_survey.h"
#include "rebalance/member/member.h"
#include "rebalance/member/notes.h"
#include "rebalance/member/orders.h"
#include "src/base/buf.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/thread.h"

struct member {
    enum magic magic;
    cluster_changed_fn changed;
    void *ctx;
    struct stop stop;
    pthread_t thread;
    int64_t suspend_ms;
    struct orders *orders;
    struct notes *inbox;  /* of other threads */
    struct lock ask_lock; /* one wish of a person at a time */
    uint64_t asked;       /* its token; guarded by ask_lock */

    /* The member's thread's. */
    struct coordination *c;
    struct barrier *barrier;
    struct barrier_actions actions;
    struct notes *answers; /* to actions, in their order */
    struct notes *later;   /* failed reads, to be made again, and failed writes' answers */
    struct buf id, store;
    struct buf registering;     /* text that is to be registered; empty: none */
    uint64_t session;           /* of the coordination; 0: not connected yet */
    int64_t silent_ms;          /* monotonic: when to log that it never answered; 0: logged */
    bool wants_lock, asks_lock; /* asks: the call has to be made, or made again */
    bool wants_list;            /* the nodes are to be listed */
    struct err trouble;         /* of the last call that was refused */

    struct lock lock;
    pthread_cond_t answered_cond;
    /* All guarded by lock. */
    uint64_t answered; /* the token of the last wish that was */
    bool is_done;
    struct buf answer;
    struct cluster_view view;
    uint64_t survey_asked, surveyed; /* counts requests, and those that were answered */
    struct cluster_survey survey;    /* the last one */
    struct err no_survey;            /* why it failed */
};

#define MEMBER_STATE STR("state") /* the value that has the cluster's state */

void *member_run(void *member);
void member_take_survey(struct member *m); /* on its thread, outside of the barrier */

#endif
