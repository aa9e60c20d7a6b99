/* How row changes end, and how many did. */
#ifndef SYNC_CHECKPOINT_OUTCOME_H
#define SYNC_CHECKPOINT_OUTCOME_H

#include "src/base/base.h"

#include <stdint.h>

/*
 * From best to worst; a ticket keeps the worst it got.  A write replaced by a newer one of the
 * same document gets the outcome of that one.
 */
enum outcome {
    OUTCOME_DELIVERED = 0,
    OUTCOME_SUPERSEDED, /* the engine has a newer version */
    OUTCOME_FILTERED,   /* concerns no document */
    OUTCOME_PURGED,     /* its key is in the store */
    OUTCOME_DEAD,       /* dead letter */
    /*
     * Not done.  The log, a snapshot or the requester still has it, so no other outcome may
     * hide this one.
     */
    OUTCOME_DEFERRED,
    N_OUTCOMES,
};

/* Counters shared by the tickets of one source. */
struct ticket_counters {
    uint64_t read;             /* atomic */
    uint64_t done[N_OUTCOMES]; /* atomic */
};

#endif
