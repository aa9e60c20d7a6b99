/*
 * struct fan_out, for the files that it is made of: its versions (fan_out_versions.c), what is put
 * (fan_out_put.c), looked for in the store (fan_out_look.c) and worked off (fan_out_thread.c).
 *
 * @thread what is not said to be guarded is the fan-out thread's
 */
#ifndef SYNC_FAN_OUT_PARTS_H
#define SYNC_FAN_OUT_PARTS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/thread.h"
#include "src/store_fan_out.h"
#include "sync/fan_out.h"
#include "sync/fan_out_run.h"
#include "sync/read_links.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct patience;
struct target;
struct turnstile;

#define FAN_OUT_LOOK_MS 1000 /* for jobs that others have put */
#define FAN_OUT_POLL_MS 50   /* something is waited for that tells nobody */

/* Its jobs are in the index's turnstile, from when they count until they are done. */
struct token {
    struct turnstile *turnstile; /* NULL: not inside */
    unsigned side;
};

/* An index version; there for good once it was seen. */
struct version {
    struct version *next;
    struct fan_out *f;
    char *index;  /* "orders_v2" */
    char *member; /* the table of it whose documents they are */
    char *alias;
    uint64_t number;

    /* The thread's. */
    struct fan_out_run run;
    struct target *target; /* of this turn; borrowed */
    int64_t look_ms;       /* when the store is asked next */
    int64_t retry_ms;
    int64_t foreign_ms; /* until then only the topic's own changes: another source failed */

    /* All guarded by lock. */
    struct token waiting, running;
    uint64_t puts, seen; /* seen: when the store was asked last */
    bool looked;         /* oldest_ms is known */
    int64_t oldest_ms;
    size_t n_waiting;
    struct fan_out_progress progress;
};

struct fan_out {
    struct fan_out_options opt;
    struct fan_out_owner owner;
    struct stop stop;
    struct patience *patience; /* of links */
    struct read_links links;
    struct fan_out_status status; /* atomics */
    pthread_t thread;
    bool started;
    bool resting; /* atomic */
    bool settled; /* the thread's: the routing of this turn is the one that is wanted */
    bool fenced;  /* the thread's: another node owns the topic */

    pthread_mutex_t lock;
    pthread_cond_t woken; /* monotonic clock */

    /* All guarded by lock. */
    struct version *versions;
    struct routing *routing; /* a reference; NULL: not yet */
    bool wake;
};

static inline void fan_out_count(uint64_t *counter, uint64_t n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/* Its thread has something to do.  @thread any */
void fan_out_wake_up(struct fan_out *f);

/* Locked: */
void fan_out_enter(struct token *token, const struct target *t);
void fan_out_leave(struct token *token);
/* One that comes may have jobs from before the start. */
struct version *fan_out_version(struct fan_out *f, const struct target *t) RETURNS_NONNULL;
/* Nothing is written to it any more. */
void fan_out_leave_out(struct version *v);

/* Begin a run of what the store has for the version, if it can.  *waits: there are jobs, which
 * cannot begin yet. */
bool fan_out_look(struct version *v, bool *waits, struct err *err) MUST_CHECK;

#endif
