/*
 * struct drain: sends everything queued, of all workers or of one partition.
 *
 * A partition is what one worker has, or one index.  Writes that arrive for it during the drain
 * wait in delivery's auxiliary queue.  They follow in order when the drain has ended, however
 * it ended, so a drain ends under any load.  One drain at a time.
 *
 *     NONE -> GOING -> NONE                 done, or blocked: the rest waits for indexes that
 *                                           take nothing
 *             GOING -> CANCELLING -> NONE   timed out, or blocked: sends nothing new and waits
 *                                           a while for the requests in flight
 *
 * Pure: the caller passes the time.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_DRAIN_H
#define SYNC_DELIVERY_INDEX_DRAIN_H

#include "src/base/base.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAIN_ALL UINT_MAX
#define DRAIN_INDEX                                                          \
    (UINT_MAX - 1) /* an index, in place of a worker; the caller knows which \
                    */

/* How a drain ended. */
enum drain_end {
    DRAIN_GOING = 0,        /* not ended */
    DRAIN_DONE,             /* everything queued at its start is out */
    DRAIN_IN_PROGRESS,      /* not started: another drain is on */
    DRAIN_BLOCKED,          /* everything left belongs to indexes that are blown or held */
    DRAIN_TIMED_OUT,        /* timed out; requests in flight were answered */
    DRAIN_CANCEL_TIMED_OUT, /* timed out, and requests in flight were not answered */
    DRAIN_STOPPED,          /* cancelled, or delivery stopped */
    N_DRAIN_ENDS
};

enum drain_state { DRAIN_STATE_NONE = 0, DRAIN_STATE_GOING, DRAIN_STATE_CANCELLING };

struct drain {
    enum drain_state state;
    enum drain_end cancelled_as; /* CANCELLING: the end to report once nothing is in flight */
    unsigned partition;
    int64_t began_ms;
    int64_t until_ms; /* when it is cancelled (GOING), or given up (CANCELLING) */
    int64_t cancel_ms;
};

/* Documents of the partition, without the auxiliary queue. */
struct drain_left {
    size_t n;           /* all */
    size_t n_blown;     /* in indexes that take nothing, in flight or not */
    size_t n_in_flight; /* sent, not answered */
};

/*
 * Start a drain of all workers (DRAIN_ALL) or of one.  Returns false, without effect, if
 * another is on.
 */
bool drain_begin(struct drain *d, unsigned partition, int64_t now_ms, int64_t timeout_ms,
                 int64_t cancel_ms) MUST_CHECK;
/* Tell whether a drain is going or being cancelled. */
bool drain_is_on(const struct drain *d);
/* Tell whether writes that arrive for this worker go into the auxiliary queue. */
bool drain_covers(const struct drain *d, unsigned worker);
/*
 * Tell whether this worker may send nothing that is queued, because the drain is being
 * cancelled.
 */
bool drain_withholds(const struct drain *d, unsigned worker);
/* Return how the drain ended, or DRAIN_GOING if it has not or none is on. */
enum drain_end drain_look(struct drain *d, const struct drain_left *left, int64_t now_ms);
/* Send nothing new and wait for the requests in flight.  The drain ends as DRAIN_STOPPED. */
void drain_cancel(struct drain *d, int64_t now_ms);
/* Return when the passing of time next changes the state.  INT64_MAX: never. */
int64_t drain_due_ms(const struct drain *d);
/* For people: "blocked by an index that takes nothing".  For programs: "blocked". */
const char *drain_end_name(enum drain_end end);
const char *drain_end_word(enum drain_end end);

#endif
