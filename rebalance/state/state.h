/*
 * What the coordinator knows: definitions and catalogue as the store has them, and the sync
 * log.
 *
 * @thread any (locked inside; load, refresh and log block on the store)
 */
#ifndef REBALANCE_STATE_STATE_H
#define REBALANCE_STATE_STATE_H

#include "rebalance/state/members.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalogue;
struct definitions;
struct json_writer;

/* What was last read from the store. Other files ask for a reference:
 * coordinator_definitions(). */
struct stored_state {
    struct lock reading; /* LOCK_refresh_lock: one reading at a time */
    bool due;            /* atomic: the store could not be read */
    uint64_t revision;   /* of the definitions; guarded by admin_lock, like doubts */
    uint64_t doubts;     /* store_doubts() before the last load */

    struct lock lock;                /* LOCK_state_lock; guards those below */
    struct definitions *definitions; /* replacing them needs admin_lock, too */
    struct catalogue *catalogue;
};

struct stored_state *stored_state_new(void) RETURNS_NONNULL MUST_CHECK;
void stored_state_free(struct stored_state *s); /* NULL is fine */

/*
 * Take admin_lock for a change. Refused once the daemon is stopping. The caller releases
 * admin_lock.
 */
bool coordinator_begin(struct coordinator *co, struct err *err)
    TAKES_IF(true, co->admin_lock) MUST_CHECK;

/* Set the error of a request and return false. status is the HTTP status. */
bool refuse(struct err *err, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);
/*
 * Refuse (503) what a command without a daemon cannot do.  what: "a drain", for the message.
 * Returns true if this is the daemon.
 */
bool coordinator_is_daemon(const struct coordinator *co, const char *what,
                           struct err *err) MUST_CHECK;

/*
 * Load definitions and catalogue from the store. On failure both stay as they were, and the
 * load is due. It also becomes due after any transaction whose outcome is unknown, so that its
 * caller need not care.
 */
bool coordinator_load(struct coordinator *co, struct err *err) NEEDS(co->admin_lock) MUST_CHECK;
bool coordinator_is_load_due(const struct coordinator *co) MUST_CHECK;
/* Others may have changed what is stored. */
void coordinator_load_soon(struct coordinator *co);
/*
 * Load versions, stops, rebuilds and waits again after a change to the store. On failure the
 * load is due.
 */
bool coordinator_refresh(struct coordinator *co, struct err *err) MUST_CHECK;
struct definitions *coordinator_definitions(struct coordinator *co)
    RETURNS_NONNULL MUST_CHECK; /* a new reference */
struct catalogue *
coordinator_catalogue(struct coordinator *co) RETURNS_NONNULL MUST_CHECK; /* a new reference */
void coordinator_log(struct coordinator *co, struct str table, struct str index,
                     uint64_t version, const char *event, const char *detail);
void coordinator_log_text(struct coordinator *co, struct str table, struct str index,
                          const char *event, struct str detail); /* concerns no version */
/* A time as RFC 3339 in UTC, in the arena; empty for 0. */
struct str coordinator_time(struct arena *a, int64_t ms);
/* Write it, or null for 0. */
void coordinator_put_time(struct json_writer *w, struct str key, int64_t ms);

#endif
