/*
 * struct fan_out, for its own files: the versions (sync/related/fan_out/versions.c), storing
 * jobs (sync/related/fan_out/put.c), looking for stored jobs (sync/related/fan_out/look.c) and
 * working them off (sync/related/fan_out/thread.c).
 *
 * @thread the fan-out's, for all that is not marked otherwise
 */
#ifndef SYNC_RELATED_FAN_OUT_PARTS_H
#define SYNC_RELATED_FAN_OUT_PARTS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/thread.h"
#include "src/store/later/fan_out.h"
#include "sync/read/links.h"
#include "sync/related/fan_out/bell.h"
#include "sync/related/fan_out/fan_out.h"
#include "sync/related/fan_out/run.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stall_watchdog;
struct target;
struct grace_period;

#define FAN_OUT_LOOK_MS 300000 /* how often to look for jobs that others stored */
#define FAN_OUT_WAIT_MS 1000   /* and for those that wait for another source */
#define FAN_OUT_POLL_MS 50     /* the wait for something that sends no wake-up */

/*
 * Holds the version's jobs inside the index's turnstile, from when they count until they are
 * done.
 */
struct token {
    struct grace_period *grace_period; /* NULL: not inside */
    unsigned side;
};

/* An index version.  Stays once the fan-out has seen it. */
struct version {
    struct version *next;
    struct fan_out *f;
    char *index;  /* "orders_v2" */
    char *member; /* the table of the index whose documents these are */
    char *alias;
    uint64_t number;

    /* The fan-out thread's. */
    struct fan_out_run run;
    struct target *target; /* of this turn; borrowed */
    int64_t look_ms;       /* when to ask the store next */
    int64_t retry_ms;
    int64_t foreign_ms; /* until then only its own changes: another source failed */

    /* All guarded by lock. */
    struct token waiting, running;
    uint64_t puts, seen; /* seen: puts at the last look at the store */
    bool looked;         /* oldest_ms is known */
    int64_t oldest_ms;
    size_t n_waiting;
    struct fan_out_progress progress;
};

struct fan_out {
    enum magic magic;
    struct fan_out_options opt;
    struct fan_out_owner owner;
    struct stop stop;
    struct stall_watchdog *watchdog; /* watches links */
    struct read_links links;
    struct fan_out_status status; /* atomics */
    pthread_t thread;
    bool started;
    bool resting;     /* atomic */
    unsigned share;   /* atomic; in percent */
    int64_t since_ms; /* monotonic: when the topic began to be followed here */
    bool settled;     /* the thread's: this turn's routing has the requested versions */
    bool fenced;      /* the thread's: another node owns the topic */

    struct bell *bell; /* something has come for the thread */
    struct lock lock;

    /* All guarded by lock. */
    struct version *versions;
    struct routing *routing; /* a reference; NULL before the first */
};

static inline void fan_out_count(uint64_t *counter, uint64_t n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/* Locked: */
void fan_out_enter(struct token *token, const struct target *t);
void fan_out_leave(struct token *token);
/* A new version may have jobs from before the start. */
struct version *fan_out_version(struct fan_out *f, const struct target *t)
    NEEDS(f->lock) RETURNS_NONNULL;
/* The version receives no more writes: leave the turnstile. */
void fan_out_leave_out(struct version *v);

/*
 * Begin a run of the version's stored jobs, if one can begin.  Sets *waits if it has jobs that
 * cannot begin yet.
 */
bool fan_out_look(struct version *v, bool *waits, struct err *err) MUST_CHECK;

#endif
