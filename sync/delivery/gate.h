/*
 * struct gate: whether requests to one index may begin now.
 *
 * An index that can take nothing (rights, blocks, a missing alias ...) is held: nothing goes
 * but, now and then, a probe.  After a failed request it is paused, longer each time, and then
 * a single request is tried.  After several its fuse blows, and nothing goes for long.  Else as
 * many go at a time as the limiter allows.
 *
 * Pure: the time is handed in, random numbers come from a seed.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_GATE_H
#define SYNC_DELIVERY_GATE_H

#include "src/base/backoff.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/random.h"
#include "sync/delivery/fuse.h"
#include "sync/delivery/guard.h"
#include "sync/delivery/limiter.h"

#include <stdbool.h>
#include <stdint.h>

/* Why an index is held, and how it comes back. */
enum hold {
    HOLD_NONE = 0,
    HOLD_BLOCK, /* the engine says no: one document is tried now and then */
    HOLD_GUARD, /* documents are refused and not to blame: a handful is tried now and then */
    HOLD_STOP,  /* going on could lose data: only gate_probe() resumes */
    HOLD_ASTRAY, /* it would go to another index: only gate_end_astray() resumes */
};

struct gate {
    struct limiter limiter;
    struct fuse fuse;
    struct guard guard;
    struct random random;
    struct backoff pause;
    int64_t paused_until_ms;
    bool failing; /* since the last good answer */
    int64_t failed_ms;        /* the last failure was answered */
    int64_t failing_since_ms; /* when the first of those requests was sent */
    int64_t good_ms; /* when a document was last written; 0: never */
    enum hold hold;
    struct err why; /* it is held, or requests fail */
    struct backoff probe;
    int64_t probe_ms; /* the next */
};

#define GATE_NEVER_MS FUSE_NEVER_MS

void gate_init(struct gate *g, const struct limiter *limiter, const struct fuse_options *fuse,
               uint64_t seed);

/*
 * When may the next request begin, while n_requests are in flight?  GATE_NEVER_MS: not before
 * one of them ends.
 */
int64_t gate_opens_at(const struct gate *g, unsigned n_requests);

/* Nothing goes but now and then a probe: it is held, or its fuse is not closed. */
bool gate_is_blown(const struct gate *g);

/* The answer to a request of then was good: requests go on as before, unless one was known to
 * have failed only after that. */
void gate_good(struct gate *g, int64_t sent_ms);
/* A request failed: nothing goes for a while, nor before retry_after_ms (-1: not said). */
void gate_failed(struct gate *g, int64_t sent_ms, int64_t now_ms, int64_t retry_after_ms);
/* How long a document that failed after `attempts` failures should wait. */
int64_t gate_retry_ms(struct gate *g, unsigned attempts);

/*
 * Hold, or hold on after a probe; what is held from HOLD_STOP on stays so for lesser reasons.
 * True: it was not held, or for another kind of reason.  The fuse must be closed: what holds it
 * says when it is tried.
 */
bool gate_hold(struct gate *g, enum hold how, const struct err *why, int64_t now_ms);
/* A probe went through.  True: it was held, and is no more. */
bool gate_release(struct gate *g);
/* What is sent goes to the index again.  True: it was HOLD_ASTRAY, and is held no more. */
bool gate_end_astray(struct gate *g);
/* Nothing holds or pauses it any more, whatever the reason was. */
void gate_drop(struct gate *g, int64_t now_ms);
/* Try now, unless that would go astray. */
void gate_probe(struct gate *g, int64_t now_ms);

#endif
