/*
 * Delivery: documents in, acknowledged bulk requests out.
 *
 * One thread owns all state: worker queues (worker = hash(index, routing, id) mod workers, one
 * queue per index and worker, one batch of each in flight), the table of documents that are
 * queued, loading or in flight, and curl's handles.  At most one operation per document is in
 * flight; what arrives meanwhile waits and is coalesced, the newest version standing for all.
 * An unknown result keeps the document until the same write at the same version is answered.
 *
 * Memory: delivery_submit() waits while the bytes held exceed options.bytes_max, or a worker has
 * more changes than options.high_water_mark, which is the back-pressure on the source.  What an
 * index that takes nothing has queued does not stop the others: it is purged, its keys are
 * stored, and its rows are to be read and written again (sync/delivery/relief.h).
 */
#ifndef SYNC_DELIVERY_DELIVERY_H
#define SYNC_DELIVERY_DELIVERY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/delivery_settings.h"
#include "sync/delivery/drain.h"
#include "sync/delivery/operation.h"
#include "sync/delivery/target.h"
#include "sync/delivery/ticket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct delivery;
struct json_writer;
struct stop;
struct touched;
struct search; /* src/search.h: addresses, authentication, dialect */

struct delivery *delivery_new(struct search *search,
                              const struct delivery_options *opt) RETURNS_NONNULL MUST_CHECK;
void delivery_start(struct delivery *d);

/*
 * Hand over n writes, in order.  Waits while too much is held; ERR_STOP (nothing taken over)
 * once stopping.  Then waits, while they are on their way, until none of their workers has more
 * than options.high_water_mark.  What no engine can take (an id above 512 bytes, a body above 1 GiB) becomes a
 * dead letter like what is refused.  The n writes are let in as one, so hand over slices (some hundred KiB) of
 * what is large.  @thread any
 */
bool delivery_submit(struct delivery *d, const struct doc_write *writes, size_t n,
                     struct err *err) MUST_CHECK;
/* The same for who may have to give up: ERR_STOP too when stop is set while it waits. */
bool delivery_submit_until(struct delivery *d, const struct stop *stop,
                           const struct doc_write *writes, size_t n,
                           struct err *err) MUST_CHECK;

/*
 * From now on t notes what is submitted; unwatch before it is freed.  Other documents of its
 * index are not touched by what comes.  @thread any
 */
void delivery_watch(struct delivery *d, struct touched *t);
void delivery_unwatch(struct delivery *d, struct touched *t);

/* Give a re-read batch back.  Never blocks.  @thread any */
void delivery_loaded(struct delivery *d, struct load_batch *batch);

/*
 * The index has a dead letter of this document, of a write at version, from before the start or
 * stored by somebody else.  @thread any
 */
void delivery_note_dead(struct delivery *d, struct str index, struct str routing, struct str id,
                        uint64_t version);

/* That one was discarded: there is none any more.  @thread any */
void delivery_discard_dead(struct delivery *d, struct str index, struct str routing,
                           struct str id, uint64_t version);

/*
 * Throw away everything queued for target's index (not what is in flight, but what waits behind
 * it); tickets end as `how`.  Takes effect before whatever is submitted later.  @thread any
 */
void delivery_forget(struct delivery *d, const struct target *target, enum outcome how);

/*
 * The index is gone for good: forget what is queued for it, and what comes back unwritten or is
 * submitted later; it is held no more.  Tickets end as OUTCOME_DEFERRED.  @thread any
 */
void delivery_drop(struct delivery *d, struct str index);

/*
 * Where this document could not be read or written, waits, and its index is tried with others, it
 * is given up.  Who submitted it as stored asks for it again: its ticket ends as
 * OUTCOME_DEFERRED, or as OUTCOME_PURGED where others wait for it as well, or what was sent of
 * it has no answer.  @thread any
 */
void delivery_put_back(struct delivery *d, struct str index, struct str routing, struct str id);

/* Try held indexes again now (after a rebuild, a changed password, by hand), but what would go
 * astray.  @thread any */
void delivery_probe(struct delivery *d);

/* The index was held as DELIVERY_ASTRAY, and its write alias leads to it again.  @thread any */
void delivery_end_astray(struct delivery *d, struct str index);

/*
 * Send what is queued, of all workers (DRAIN_ALL) or of one, without waiting for batch_min.
 * What is submitted for them meanwhile waits apart and follows.  Returns how it ended
 * (sync/delivery/drain.h): at once where another drain goes, or where all that is left waits
 * for indexes that take nothing; after timeout_ms and drain_cancel_timeout at the latest.
 * Blocks.  Not before delivery_start().  @thread any
 */
enum drain_end delivery_drain_partition(struct delivery *d, unsigned partition,
                                        int64_t timeout_ms);
/* Of all; true: everything that was queued is out. */
bool delivery_drain(struct delivery *d, int64_t timeout_ms);
/* Whoever waits for a drain is let go as soon as what is in flight is answered.  @thread any */
void delivery_drain_cancel(struct delivery *d);

/*
 * Other settings from now on, all or none; *before is what was in force.  ERR_REJECT: they make
 * no sense.  They act on what is sent from then on; what is in flight ends as it began.
 * @thread any
 */
bool delivery_set(struct delivery *d, const struct delivery_settings *settings,
                  struct delivery_settings *before, struct err *err) MUST_CHECK;
struct delivery_settings delivery_get(struct delivery *d);

/*
 * Stop the thread and give up what is not acknowledged: its tickets are abandoned.  Then wait
 * for the loaders to be done with delivery_loaded(), and free.
 */
void delivery_stop(struct delivery *d);
void delivery_free(struct delivery *d); /* NULL is fine */

/* Purged changes were written again.  @thread any */
void delivery_repaired(struct delivery *d, uint64_t n_changes);

struct delivery_status {
    /* Documents, each once, whatever waits for it.  Queued: neither read nor sent now, so also
     * what waits for a drain to end (writes), or for the store. */
    uint64_t queued, loading, in_flight;
    uint64_t bytes_held;
    bool stuck; /* all that is left belongs to indexes that take nothing, or nothing is left */
    int64_t good_ms; /* when an index that is not held took a document last; monotonic, 0: never */
    size_t blocked; /* callers that wait for room */
    uint64_t requests, requests_failed, retries, rejections_429, bad_responses, splits;
};
struct delivery_status delivery_status(struct delivery *d);
/*
 * Append samples (src/metric.h): histograms of bulk requests and of the time from commit to
 * acknowledgement, requests refused, documents by index and result.  @thread any
 */
void delivery_metrics(struct delivery *d, struct buf *out);
/* Members of a JSON object: all counts and times.  @thread any */
void delivery_put_statistics(struct delivery *d, struct json_writer *w);

#endif
