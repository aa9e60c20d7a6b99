/*
 * The rebalance barrier: who owns what after nodes came, went, hung, or a person asked.
 *
 * A pure state machine that each node runs: events in, actions out, the time is an input. The
 * driver performs the actions (barrier_event.h says which there are) and keeps this contract:
 * answers come in the order of the actions; no answer of before comes after BARRIER_CONNECTED;
 * STOP and HALT are answered by one BARRIER_STOPPED, START by one BARRIER_STARTED unless a stop
 * or BARRIER_REFUSED comes first.
 *
 * docs/adr/0050-the-barrier-keeps-what-stays.md has the phases and why they are so.
 */
#ifndef REBALANCE_CLUSTER_BARRIER_H
#define REBALANCE_CLUSTER_BARRIER_H

#include "rebalance/cluster/barrier_event.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct barrier;
struct cluster_state;

/* Texts are copied. */
struct barrier_options {
    struct str id;      /* of this node */
    struct str name;    /* of its machine */
    struct str version; /* of the program */
    int64_t started_ms; /* the program, of wall time, for people */
    /* Without a sign of the coordination for so long, local work stops without saving. Shorter
     * than its session's time-out by what clocks may differ. */
    int64_t suspend_ms;
    int64_t stop_limit_ms;  /* a node that has not said CLEAN_OK then is left out */
    int64_t start_limit_ms; /* a node that has not said FINISH then is left out */
    int64_t settle_ms;      /* a rebalance begins so long after the last change of the nodes */
    int64_t stagger_ms;     /* the next node looks for the lock so much later */
};

struct barrier *barrier_new(const struct barrier_options *options) RETURNS_NONNULL MUST_CHECK;
void barrier_free(struct barrier *b); /* NULL is fine */

/* Takes one event. Replaces *out, which is valid until the next call with it. */
void barrier_take(struct barrier *b, const struct barrier_event *event,
                  struct barrier_actions *out);

/* Returns when the machine wants BARRIER_TIME at the latest, at or after the last event. */
int64_t barrier_due(const struct barrier *b);

/* Appends for whom or what this node waits, for people, and how long at most. Returns false,
 * and appends nothing, if it waits for nothing. */
bool barrier_waits_for(const struct barrier *b, struct buf *out);

/* Tells whether the last rebalance has ended, includes this node, and nothing asks for another.
 */
bool barrier_is_normal(const struct barrier *b);

/* Returns the cluster's state as this node knows it. Valid until the next event. */
const struct cluster_state *barrier_state(const struct barrier *b);
int64_t barrier_state_version(const struct barrier *b); /* of that value, as it was read */
/* Returns the newest session that this node knows. */
uint64_t barrier_session(const struct barrier *b);
/* Returns the revision of the list of things that this node knows; 0: none yet. */
uint64_t barrier_revision(const struct barrier *b);

#endif
