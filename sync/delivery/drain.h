/*
 * struct drain: everything queued goes out, of all workers or of one partition of them.
 *
 * A partition is what one worker has.  What arrives for it while the drain goes waits apart
 * (delivery's auxiliary queue) and follows in order when the drain has ended, however it ended,
 * so that a drain has an end under any load.  One drain at a time.
 *
 *     NONE -> GOING -> NONE                 done, or blocked: what is left waits for indexes
 *                                           that take nothing
 *             GOING -> CANCELLING -> NONE   out of time, or blocked: nothing new goes, and what
 *                                           is in flight is waited for, for a while
 *
 * Pure: the time is handed in.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_DRAIN_H
#define SYNC_DELIVERY_DRAIN_H

#include "src/base/base.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAIN_ALL UINT_MAX

/* How a drain ended. */
enum drain_end {
    DRAIN_GOING = 0,        /* it has not */
    DRAIN_DONE,             /* nothing is left of what was queued when it began */
    DRAIN_IN_PROGRESS,      /* it did not begin: another one goes */
    DRAIN_BLOCKED,          /* all that is left is of indexes that are blown or held */
    DRAIN_TIMED_OUT,        /* out of time; what was in flight has been answered */
    DRAIN_CANCEL_TIMED_OUT, /* out of time, and not even that has */
    DRAIN_STOPPED,          /* cancelled, or delivery stops */
    N_DRAIN_ENDS
};

enum drain_state { DRAIN_STATE_NONE = 0, DRAIN_STATE_GOING, DRAIN_STATE_CANCELLING };

struct drain {
    enum drain_state state;
    enum drain_end cancelled_as; /* CANCELLING: what it ends as once nothing is in flight */
    unsigned partition;
    int64_t began_ms;
    int64_t until_ms; /* GOING: then it is cancelled; CANCELLING: then it is given up */
    int64_t cancel_ms;
};

/* Documents of the partition, without what waits apart. */
struct drain_left {
    size_t n;           /* in all */
    size_t n_blown;     /* of them: of indexes that take nothing, in flight or not */
    size_t n_in_flight; /* of them: sent, not answered */
};

/* Of all workers (DRAIN_ALL), or of one.  False: one goes already, to which nothing happens. */
bool drain_begin(struct drain *d, unsigned partition, int64_t now_ms, int64_t timeout_ms,
                 int64_t cancel_ms) MUST_CHECK;
/* A drain goes, or is being cancelled. */
bool drain_is_on(const struct drain *d);
/* What arrives for this worker waits apart. */
bool drain_covers(const struct drain *d, unsigned worker);
/* Nothing that this worker has queued goes: the drain is being cancelled. */
bool drain_withholds(const struct drain *d, unsigned worker);
/* Whether it has ended, and how; DRAIN_GOING too while there is none. */
enum drain_end drain_look(struct drain *d, const struct drain_left *left, int64_t now_ms);
/* Nothing new goes, what is in flight is waited for; it ends as DRAIN_STOPPED. */
void drain_cancel(struct drain *d, int64_t now_ms);
/* When time alone changes something; INT64_MAX: never. */
int64_t drain_due_ms(const struct drain *d);
/* For people, such as "blocked by an index that takes nothing", and for programs: "blocked". */
const char *drain_end_name(enum drain_end end);
const char *drain_end_word(enum drain_end end);

#endif
