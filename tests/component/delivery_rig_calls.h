/*
 * How the delivery rig answers what delivery calls, and what it notes of the calls.
 *
 * Each kind of call has its part.
 */
#ifndef TESTS_COMPONENT_DELIVERY_RIG_CALLS_H
#define TESTS_COMPONENT_DELIVERY_RIG_CALLS_H

#include "sync/delivery/index/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ticket;

/*
 * Dead letters that were stored or cleared, and whether the next ones can be.
 *
 * @thread tests write fails, clear_fails and is_full; delivery's thread counts the fails down
 * and writes the rest; guarded by the rig's lock, is_burying apart
 */
struct rig_dead {
    unsigned fails, clear_fails; /* so many of the next calls to store, or to clear, fail */
    bool is_full;                /* dead letters are stored only in the place of others */
    bool is_burying; /* atomic: delivery's thread stores dead letters or waits for the lock */
    size_t n, n_cleared;
    char last_id[64], last_reason[512];
    int last_status;
    unsigned last_attempts;
    uint64_t done_when_stored; /* tickets that had ended when the last one was stored */
};

#define RIG_PURGED_MAX 20000

/*
 * Purged changes whose keys were stored and are not yet read again, and whether the next ones
 * can be stored.
 *
 * @thread tests write fails; delivery's thread counts it down and writes the rest, and
 * rig_repair() starts n anew; guarded by the rig's lock
 */
struct rig_purged {
    unsigned fails;                   /* so many of the next calls fail */
    int ids[RIG_PURGED_MAX];          /* in the order in which they were stored */
    char routings[RIG_PURGED_MAX][8]; /* of the ids */
    size_t n, n_unanswered;
    uint64_t n_told;           /* as events count them */
    uint64_t done_when_stored; /* tickets that had ended at the last call */
};

/*
 * Rows that are gone while their documents stay, and the tickets that wait for these documents.
 *
 * @thread delivery's thread writes; guarded by the rig's lock
 */
struct rig_gone {
    struct ticket *tickets[8]; /* owned by the test, which releases them */
    size_t n_tickets, n;
    uint64_t stamp; /* of the last row */
};

/*
 * What delivery has reported of its indexes: the last state, and all events.
 *
 * @thread delivery's thread writes; guarded by the rig's lock
 */
struct rig_reports {
    bool next_held, next_partly; /* as of the last call of held */
    bool is_held, is_partly;     /* the same, once the event that follows is counted */
    enum cure last_cure;         /* what ends the last hold */
    char last_why[512];          /* why an index was held last */
    size_t n_events[N_DELIVERY_EVENTS];
};

/*
 * What the rig answers when delivery asks which versions were given out.
 *
 * @thread tests write, delivery's thread reads; guarded by the rig's lock
 */
struct rig_versions {
    uint64_t stamp_max;  /* the highest; 0: no limit */
    uint64_t area_floor; /* below it, writes of earlier daemons may be under way */
};

#endif
