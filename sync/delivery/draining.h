/*
 * struct draining: delivery's drain (sync/delivery/drain.h) at work.
 *
 * Keeps what arrives for the drained workers while the drain goes, the auxiliary queue, counts
 * what is left of them, and hands the auxiliary queue over in order when the drain has ended.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_DRAINING_H
#define SYNC_DELIVERY_DRAINING_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/drain.h"
#include "sync/delivery/ticket.h"

#include <stdbool.h>
#include <stdint.h>

struct sender;
struct write;

struct draining {
    struct drain drain;
    struct write *first, **last; /* the auxiliary queue; last NULL: it was never used */
    size_t n;                    /* in it */
    int64_t looked_ms;
};

/* Take w over if it has to wait apart. */
bool draining_keeps(struct draining *d, const struct sender *s, struct write *w);
/* False: one goes already. */
bool draining_begin(struct draining *d, struct sender *s, unsigned partition,
                    int64_t timeout_ms) MUST_CHECK;
void draining_cancel(struct draining *d, struct sender *s);
/* The number of workers has changed: a drain of one partition becomes one of all. */
void draining_move(struct draining *d, const struct sender *s);
/*
 * Look how far it is, say so to the sender, and at the end hand over what waited apart.  Other
 * than DRAIN_GOING once, when it has ended.
 */
enum drain_end draining_turn(struct draining *d, struct sender *s);
/* Until draining_turn() has something to do of itself. */
int64_t draining_wait_ms(const struct draining *d, const struct sender *s, int64_t max_ms);

/* End what waits apart for this index. */
void draining_forget(struct draining *d, struct sender *s, struct str index, enum outcome how);
/* Abandon all that waits apart. */
void draining_give_up(struct draining *d, struct sender *s);

#endif
