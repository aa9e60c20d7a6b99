/*
 * struct coordinator: the state of this node. No file outside rebalance/ and the tests includes
 * this.
 *
 * src/base/lock_order.def says what each lock protects and in which order to take them.
 */
#ifndef REBALANCE_STATE_MEMBERS_H
#define REBALANCE_STATE_MEMBERS_H

#include "rebalance/build/question.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/state/identity.h"
#include "rebalance/state/queue_watch.h"
#include "rebalance/state/topics.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Each part that is a pointer has its lock, and its thread if it has one, in its own file. */
struct coordinator {
    enum magic magic;
    struct coordinator_options opt;
    struct cluster *cluster;
    bool has_orders;           /* atomic: the cluster wants another work of this node */
    struct delivery *delivery; /* NULL: not started */
    struct stop stop;
    struct stop drained; /* after stop: what was read is delivered, or time is up */
    pthread_t thread, aliases_thread;
    bool started; /* atomic */
    int64_t started_ms;
    struct identity identity; /* state/identity.h */

    /* What people see, and what they ask. */
    struct engine_watch *engine_watch; /* the engine as last seen */
    struct store_watch *store_watch;   /* the store as last seen */
    struct findings *findings;         /* where engine and store differ */
    struct asking *asking;
    struct errands *errands; /* people's requests */
    struct tasks *tasks;     /* what they ordered and do not wait for: task/task.h */

    struct topics *topics;               /* those that run here: state/topics.h */
    struct holds *holds;                 /* indexes that delivery holds */
    struct builds *builds;               /* version/builds.h */
    struct fills *fills;                 /* fill/fills.h */
    struct rebuilds *rebuilds;           /* attempts to rebuild tables: version/rebuild.h */
    struct kept_indexes *kept;           /* retired ones that stay: version/retired.h */
    struct drops *drops;                 /* indexes to delete: version/version_drop.h */
    struct route_retry *route_retry;     /* version/routes.h */
    struct settings_sync *settings_sync; /* version/settings.h */
    struct syncs *syncs;                 /* tables read by time: poll/sync.h */
    struct delayed_runs *delayed;        /* delayed/runs.h */
    struct purged_indexes *purged;       /* purged keys: dead_letter/purged.h */
    struct repeats *repeats;             /* the replay thread's: dead_letter/repeats.h */
    struct replays *replays;             /* dead_letter/replay.h */
    struct verify_jobs *verifies;        /* verify/jobs.h */
    bool verifies_run;                   /* atomic: all that the store has of our topics */
    struct day_replays *day_replays;     /* replay/replay.h */
    bool days_due;                       /* atomic: the store may have jobs for them */
    struct trees *trees;                 /* trees/trees.h; NULL: none are kept, */
    struct err no_trees;                 /* as their folder cannot be used */
    build_compare_fn *compare_version;   /* of builds; set by whoever is above them */
    struct live_settings *settings;      /* of delivery, at run time: admin/delivery_set.h */
    struct first_admin *first_admin;     /* access/first_admin.h */
    struct words *words;                 /* of the analyzer: words/content.h */
    struct alarm_outbox *outbox;         /* alarm/outbox.h; NULL: no receiver, */
    struct alarms *alarms;               /* and so none are sent: tell/alarms.h */
    struct telling *telling;             /* the telling thread's: tell/tell.h */
    struct history *history;             /* of the last day: history/history.h */
    struct stored_state *stored;         /* definitions and catalogue: state/state.h */
    struct queue_watch queue;            /* the coordinator's thread's */
    uint64_t changes;                    /* of the store; its too: admin/follow.h */
    bool follows;                        /* they are to be told to delivery; its too */
    uint64_t things;                     /* revision that the cluster knows; its too */

    struct lock apply_lock, admin_lock, shape_lock, marks_lock;
};

#endif
