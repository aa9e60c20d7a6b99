/*
 * struct draining: runs delivery's drain (sync/delivery/index/drain.h).
 *
 * During the drain it keeps writes that arrive for the drained workers in the auxiliary queue
 * and counts what is left of those workers.  Afterwards it passes the queue on, in order.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_DRAINING_H
#define SYNC_DELIVERY_DRAINING_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/index/drain.h"

#include <stdbool.h>
#include <stdint.h>

#define INDEX_NAME_MAX 255 /* bytes; the engine's limit */

struct sender;
struct write;

struct draining {
    struct drain drain;
    struct write *first, **last; /* the auxiliary queue; last is NULL before its first use */
    size_t n;                    /* writes in the queue */
    int64_t looked_ms;
    char index[INDEX_NAME_MAX + 1]; /* DRAIN_INDEX: which */
};

/* Take w over if it must wait for the drain to end.  Returns true if so. */
bool draining_keeps(struct draining *d, const struct sender *s, struct write *w);
/* Tell whether a write of this document waits in the auxiliary queue. */
bool draining_has(const struct draining *d, struct str index, struct str id);
/* index: of DRAIN_INDEX, else ignored.  Returns false if a drain is on already. */
bool draining_begin(struct draining *d, struct sender *s, unsigned partition, const char *index,
                    int64_t timeout_ms) MUST_CHECK;
void draining_cancel(struct draining *d, struct sender *s);
/* The number of workers has changed: turn a drain of one partition into a drain of all. */
void draining_move(struct draining *d, const struct sender *s);
/*
 * Check the drain's progress, tell the sender, and pass the auxiliary queue on at the end.
 * Returns how the drain ended, once; DRAIN_GOING otherwise.
 */
enum drain_end draining_turn(struct draining *d, struct sender *s);
/* Return the milliseconds, at most max_ms, until draining_turn() must run. */
int64_t draining_wait_ms(const struct draining *d, const struct sender *s, int64_t max_ms);

/* End the queued writes to this index. */
void draining_forget(struct draining *d, struct sender *s, struct str index, enum outcome how);
/* Abandon all queued writes. */
void draining_give_up(struct draining *d, struct sender *s);

#endif
