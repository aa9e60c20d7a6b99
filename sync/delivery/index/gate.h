/*
 * struct gate: decides when requests to one index may start.
 *
 * An index that cannot take anything (permissions, blocks, a missing alias ...) is held: only a
 * probe goes now and then.  A failed request pauses the index, longer each time; then a single
 * request tries it.  Several failures blow its fuse, which stops requests for a long time.
 * Otherwise the limiter decides how many requests go at a time.
 *
 * Pure: the caller passes the time; random numbers come from a seed.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_GATE_H
#define SYNC_DELIVERY_INDEX_GATE_H

#include "src/base/backoff.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/random.h"
#include "sync/delivery/bulk/cure.h"
#include "sync/delivery/index/fuse.h"
#include "sync/delivery/index/limiter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * struct guard: if an index refuses many documents, are the documents or the index to blame?
 *
 * A document refused among others that are taken is to blame itself.  If most are refused, over
 * enough answers, the mapping or the definition is wrong: hold the index and blame no document.
 * Deletes do not count: nothing in them can be refused.
 */

#define GUARD_DOCUMENTS 20 /* this many refused, and more than half: blame the index */

/* Zero-initialise.  Counts since the refused were last no more than half. */
struct guard {
    size_t n_refused, n_judged;
};

/*
 * Count an answer that refused and took this many documents.  is_held: the answer is to a
 * sample of an index held by the guard, and decides alone.  Returns true if the index is to
 * blame.
 */
bool guard_judge(struct guard *g, size_t n_refused, size_t n_taken, bool is_held) MUST_CHECK;

/* Why an index is held, and what ends it. */
enum hold {
    HOLD_NONE = 0,
    HOLD_BLOCK,  /* the engine refuses: one document is tried now and then */
    HOLD_GUARD,  /* documents are refused but not to blame: a handful is tried now and then */
    HOLD_BACK,   /* was astray, and the alias is right: one document is tried now and then */
    HOLD_STOP,   /* to go on could lose data: only gate_probe() resumes */
    HOLD_ASTRAY, /* writes would go to another index: tried after gate_end_astray() only */
};

struct gate {
    struct limiter limiter;
    struct fuse fuse;
    struct guard guard;
    struct random random;
    struct backoff pause;
    int64_t paused_until_ms;
    bool failing;             /* since the last good answer */
    int64_t failed_ms;        /* when the last failure was answered */
    int64_t failing_since_ms; /* when the first request that failed was sent */
    int64_t good_ms;          /* when a document was last written; 0: never */
    enum hold hold;
    unsigned n_holds; /* how often it was held */
    enum cure cure;   /* what ends the hold */
    struct err why;   /* why it is held, or why requests fail */
    bool is_paused;   /* by a person, beside whatever else holds it */
    struct err pause_why;
    struct backoff probe;
    int64_t probe_ms; /* the next probe */
};

#define GATE_NEVER_MS FUSE_NEVER_MS

void gate_init(struct gate *g, const struct limiter *limiter, const struct fuse_options *fuse,
               uint64_t seed);

/*
 * Return when the next request may start while n_requests are in flight.  GATE_NEVER_MS: not
 * before one of them ends.
 */
int64_t gate_opens_at(const struct gate *g, unsigned n_requests);

/* Tell whether at most probes go: the index is paused or held, or its fuse is not closed. */
bool gate_is_blown(const struct gate *g);

/*
 * A request sent at sent_ms was answered well: end the pause, unless a failure became known
 * after sent_ms.
 */
void gate_good(struct gate *g, int64_t sent_ms);
/* A request failed: pause, at least for retry_after_ms (-1: none given). */
void gate_failed(struct gate *g, int64_t sent_ms, int64_t now_ms, int64_t retry_after_ms);
/* Return how long a document waits after this many failed attempts. */
int64_t gate_retry_ms(struct gate *g, unsigned attempts);

/*
 * Hold the index, or keep holding it after a probe.  HOLD_STOP and HOLD_ASTRAY outlast lesser
 * reasons.  Returns true if it was not held, or for another kind of reason; an index that was
 * astray, and is again after a probe, is held for the same.  The fuse must be closed: a hold
 * has its own times to try.
 */
bool gate_hold(struct gate *g, enum hold how, const struct err *why, int64_t now_ms);
/*
 * A probe was taken: release the index.  Returns true if it was held.  If it is soon held again
 * (what it takes is not what it refuses), the wait for the next probe goes on growing.
 */
bool gate_release(struct gate *g);
/* The write alias is right again: HOLD_ASTRAY becomes HOLD_BACK, so a probe has to show it. */
void gate_end_astray(struct gate *g);
/* A person pauses the index: nothing goes, not even a probe, until gate_unpause(). */
void gate_pause(struct gate *g, const struct err *why);
void gate_unpause(struct gate *g);
/* Drop every hold and failure. */
void gate_end_hold(struct gate *g, int64_t now_ms);
/* Drop the pause as well. */
void gate_drop(struct gate *g, int64_t now_ms);
/* Try now, unless writes would go to another index. */
void gate_probe(struct gate *g, int64_t now_ms);

#endif
