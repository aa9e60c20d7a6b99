/*
 * struct ticket: the account of one (row change, index version).
 *
 * A row change enters once per index version that it concerns and leaves once, under the worst
 * outcome of the documents that it opened (design part 7, rule 13).  Whoever still has work for
 * the change holds a reference; when the last one goes, the counters move and the change's
 * transaction in the checkpoint is told.
 *
 * @thread any (atomic)
 */
#ifndef SYNC_DELIVERY_TICKET_H
#define SYNC_DELIVERY_TICKET_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct checkpoint;
struct turnstile;

/*
 * From best to worst; a ticket keeps the worst it was given.  A write that a newer one of the
 * same document stood for has the outcome of that one.
 */
enum outcome {
    OUTCOME_DELIVERED = 0,
    OUTCOME_SUPERSEDED, /* a newer version was in the engine */
    OUTCOME_FILTERED,   /* concerns no document */
    OUTCOME_PURGED,     /* its key is in the store */
    OUTCOME_DEAD,       /* dead letter */
    /* Not done.  The log, a snapshot or whoever asked has it still, so nothing else may hide it. */
    OUTCOME_DEFERRED,
    N_OUTCOMES,
};

/* Counters shared by the tickets of one source. */
struct ticket_counters {
    uint64_t read;             /* atomic */
    uint64_t done[N_OUTCOMES]; /* atomic */
};

struct ticket;

/*
 * A ticket with one reference.  Transaction seq of cp, still open, expects one more done(), and
 * c->read is counted up.  cp may be NULL (fills and repairs have no transaction); c may be
 * NULL.
 */
struct ticket *ticket_new(struct checkpoint *cp, uint64_t seq,
                          struct ticket_counters *c) RETURNS_NONNULL MUST_CHECK;
/* on_done is called once, from the thread that gave the last reference back. */
struct ticket *ticket_new_cb(void (*on_done)(void *ctx, enum outcome worst),
                             void *ctx) RETURNS_NONNULL MUST_CHECK;

struct ticket *ticket_ref(struct ticket *t) RETURNS_NONNULL;
void ticket_done(struct ticket *t, enum outcome how); /* give one reference back */

/*
 * Give one reference back with its work undone, at shutdown: the ticket never finishes, no
 * counter moves, and the checkpoint stays before its transaction.
 */
void ticket_abandon(struct ticket *t);

/* on_abandon is called in place of on_done, when the last reference has gone after one of them
 * was abandoned. */
void ticket_on_abandon(struct ticket *t, void (*on_abandon)(void *ctx));

/*
 * The ticket is inside t (sync/delivery/turnstile.h), where its owner entered on that side, and
 * leaves it when nobody works for it any more.  Once at most, before others see the ticket.
 */
void ticket_pass(struct ticket *t, struct turnstile *x, unsigned side);

/*
 * A reference of somebody who will find more work for the change only when what is done for it
 * now is over: the ticket may leave its turnstile before it is given back.
 */
struct ticket *ticket_hold(struct ticket *t) RETURNS_NONNULL;
void ticket_release(struct ticket *t, enum outcome how);
void ticket_release_abandoned(struct ticket *t); /* as ticket_abandon() */

#endif
