/*
 * struct ticket: the account of one (row change, index version).
 *
 * A row change enters once per index version that it concerns and leaves once, with the worst
 * outcome of its documents (docs/rules.md, rule 12).  Everybody with work left for the change
 * holds a reference.  The last one to go updates the counters and reports to the change's
 * transaction in the checkpoint.
 *
 * @thread any (atomic)
 */
#ifndef SYNC_CHECKPOINT_TICKET_H
#define SYNC_CHECKPOINT_TICKET_H

#include "src/base/base.h"
#include "sync/checkpoint/outcome.h"

#include <stdbool.h>
#include <stdint.h>

struct checkpoint;
struct grace_period;

struct ticket;

/*
 * Make a ticket with one reference.  The open transaction seq of cp expects one more done(),
 * and c->read is incremented. cp may be NULL (builds and repairs have no transaction); c may be
 * NULL.  The ticket has a reference to cp, and c lives as long as cp or the ticket.
 */
struct ticket *ticket_new(struct checkpoint *cp, uint64_t seq,
                          struct ticket_counters *c) RETURNS_NONNULL MUST_CHECK;
/* on_done is called once, by the thread that returns the last reference. */
struct ticket *ticket_new_cb(void (*on_done)(void *ctx, enum outcome worst),
                             void *ctx) RETURNS_NONNULL MUST_CHECK;

struct ticket *ticket_ref(struct ticket *t) RETURNS_NONNULL;
void ticket_done(struct ticket *t, enum outcome how); /* return one reference */

/*
 * Return one reference with its work undone, at shutdown: the ticket never finishes, no counter
 * changes, and the checkpoint stays before its transaction.
 */
void ticket_abandon(struct ticket *t);

/* Call on_abandon instead of on_done when the last reference goes, if one was abandoned. */
void ticket_on_abandon(struct ticket *t, void (*on_abandon)(void *ctx));

/*
 * Count the ticket inside t (sync/checkpoint/grace_period.h), which the owner entered on that
 * side.  It leaves when nobody works for it any more.  Takes a reference to x.  Call at most
 * once, before others see the ticket.
 */
void ticket_pass(struct ticket *t, struct grace_period *x, unsigned side);

/*
 * Take a reference for somebody who will find more work only after the present work is done:
 * the ticket may leave its turnstile before this reference is returned.
 */
struct ticket *ticket_hold(struct ticket *t) RETURNS_NONNULL;
void ticket_release(struct ticket *t, enum outcome how);
void ticket_release_abandoned(struct ticket *t); /* see ticket_abandon() */

#endif
