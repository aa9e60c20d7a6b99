/*
 * Delivery: documents in, acknowledged bulk requests out.
 *
 * One thread owns all state: the worker queues (worker = hash(index, routing, id) mod workers;
 * one queue per index and worker, one batch of each in flight), the table of documents that are
 * queued, loading or in flight, and curl's handles.  A document has at most one operation in
 * flight.  What arrives meanwhile waits and is coalesced: the newest version stands for all.
 * If the result of a write is unknown, the document is kept until the same write at the same
 * version is answered.
 *
 * Memory: delivery_submit() blocks while the bytes held exceed options.bytes_max or a worker
 * has more changes than options.high_water_mark.  That is the back-pressure on the source.  An
 * index that takes nothing does not block the others: its queued changes are purged, their keys
 * stored, and their rows read and written again later (sync/delivery/index/load_shedding.h).
 */
#ifndef SYNC_DELIVERY_DELIVERY_H
#define SYNC_DELIVERY_DELIVERY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/document/operation.h"
#include "sync/delivery/document/target.h"
#include "sync/delivery/index/drain.h"
#include "sync/delivery/index/metric.h"
#include "sync/delivery/index/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct delivery;
struct histogram;
struct json_writer;
struct stop;
struct dirty_set;
struct search; /* src/search/search.h: addresses, authentication, dialect */

struct delivery *delivery_new(struct search *search,
                              const struct delivery_options *opt) RETURNS_NONNULL MUST_CHECK;
void delivery_start(struct delivery *d);

/*
 * Submit n writes, in order.  Blocks while too many bytes are held; ERR_STOP, with nothing
 * taken over, when stopping.  Then blocks, with the writes on their way, until none of their
 * workers has more than options.high_water_mark.  A write that no engine can take (an id above
 * 512 bytes, a body above 1 GiB) becomes a dead letter, like one that is refused.  The n writes
 * are admitted together, so submit large amounts in slices of some hundred KiB.  @thread any
 */
bool delivery_submit(struct delivery *d, const struct doc_write *writes, size_t n,
                     struct err *err) MUST_CHECK;
/*
 * Like delivery_submit(), for callers that may have to give up: ERR_STOP also if stop is set
 * while it waits for room.
 */
bool delivery_submit_until(struct delivery *d, const struct stop *stop,
                           const struct doc_write *writes, size_t n,
                           struct err *err) MUST_CHECK;

/*
 * t notes everything submitted from now on.  Unwatch it before you free it.  Documents of its
 * index that it does not note do not change.  @thread any
 */
void delivery_watch(struct delivery *d, struct dirty_set *t);
void delivery_unwatch(struct delivery *d, struct dirty_set *t);

/* Return a re-read batch.  Never blocks.  @thread any */
void delivery_loaded(struct delivery *d, struct load_batch *batch);

/*
 * Report that the index has a dead letter of this document, of a write at version, stored
 * before the start or by somebody else.  @thread any
 */
void delivery_note_dead(struct delivery *d, struct str index, struct str routing, struct str id,
                        uint64_t version);

/* Report that this dead letter was discarded.  @thread any */
void delivery_discard_dead(struct delivery *d, struct str index, struct str routing,
                           struct str id, uint64_t version);

/*
 * Drop everything queued for target's index: also what waits behind a write in flight, but not
 * that write.  Tickets end as `how`.  Takes effect before later submissions.  @thread any
 */
void delivery_forget(struct delivery *d, const struct target *target, enum outcome how);

/*
 * The index is gone for good: end its hold and drop what is queued for it, what comes back
 * unwritten and what is submitted later.  Tickets end as OUTCOME_DEFERRED.  @thread any
 */
void delivery_drop(struct delivery *d, struct str index);

/*
 * Give up a document that failed to be read or written and waits for its next attempt, unless
 * its index is held or blown: then it is what the index is tried with.  The ticket ends as
 * OUTCOME_DEFERRED, so who submitted it as stored can request it again; or as OUTCOME_PURGED if
 * others wait for it, too, or a sent copy was not answered.  @thread any
 */
void delivery_put_back(struct delivery *d, struct str index, struct str routing, struct str id);

/*
 * Try held indexes again now (after a rebuild, a changed password, by hand), except those held
 * as CURE_ALIAS.  @thread any
 */
void delivery_probe(struct delivery *d);

/*
 * The index was held as CURE_ALIAS and its write alias points to it again: try it with one
 * document.  An engine or proxy that names a wrong index costs no more than that.  @thread any
 */
void delivery_end_astray(struct delivery *d, struct str index);

/*
 * Another daemon writes to the index now: whatever held it here is over, but for a pause.  What
 * is queued for it must have been forgotten.  @thread any
 */
void delivery_end_hold(struct delivery *d, struct str index);

/*
 * A person pauses the index, or lets it go on.  A paused index counts as held, under the origin
 * DELIVERY_PAUSED, and is not even tried.  It may be an index that nothing was written to yet.
 * @thread any
 */
void delivery_pause(struct delivery *d, struct str index, struct str why);
void delivery_unpause(struct delivery *d, struct str index);

/*
 * Send what is queued, of all workers (DRAIN_ALL) or of one, without waiting for batch_min.
 * What is submitted for them meanwhile waits and follows later.  Returns how it ended
 * (sync/delivery/index/drain.h): at once if another drain is on, or if everything left waits
 * for indexes that take nothing; at the latest after timeout_ms plus drain_cancel_timeout.  A
 * drain of one index is cancelled first, which takes up to drain_cancel_timeout more.
 * Blocks.  Call after delivery_start().  @thread any
 */
enum drain_end delivery_drain_partition(struct delivery *d, unsigned partition,
                                        int64_t timeout_ms);
/* The same of one index; others go on meanwhile.  DRAIN_STOPPED, or DRAIN_CANCEL_TIMED_OUT:
 * also because another drain came.  Not counted among the drains. */
enum drain_end delivery_drain_index(struct delivery *d, struct str index, int64_t timeout_ms);
/* Drain all workers.  Returns true if everything queued is out. */
bool delivery_drain(struct delivery *d, int64_t timeout_ms);
/*
 * Cancel the drain: its caller returns once the requests in flight are answered.  @thread any
 */
void delivery_drain_cancel(struct delivery *d);

/*
 * Change the settings, which must be valid.  They apply to what is sent from then on; requests
 * in flight end as they began.  @thread any
 */
void delivery_set(struct delivery *d, const struct delivery_settings *settings);
struct delivery_settings delivery_get(struct delivery *d);

/*
 * Stop the thread.  Then wait until the loaders have returned every batch with
 * delivery_loaded(), then free.  delivery_free() abandons the tickets of everything not
 * acknowledged.
 */
void delivery_stop(struct delivery *d);
void delivery_free(struct delivery *d); /* NULL is allowed */

/* Count purged changes that were written again.  @thread any */
void delivery_repaired(struct delivery *d, uint64_t n_changes);
/*
 * Return how many written deletes must still be repeated, because an older copy may come.  A
 * delete counts before its own ticket ends.  @thread any
 */
size_t delivery_repeats(const struct delivery *d);

/* Where delivery has a document; the further on its way, the higher. */
enum delivery_stage {
    STAGE_NONE = 0, /* it has none of this `_id` */
    STAGE_APART,    /* came during a drain, and follows after it */
    STAGE_QUEUED,
    STAGE_READING,
    STAGE_UNSTORED, /* refused or purged; the store does not have that yet */
    STAGE_SENT,     /* the engine has not answered yet */
    N_DELIVERY_STAGES,
};

struct delivery_place {
    enum delivery_stage stage;
    uint64_t version; /* of the write; of a read, what it must include */
    unsigned attempts;
    bool is_followed;  /* a newer change waits behind it */
    int64_t commit_ms; /* wall time of the oldest change that waits; 0: not known */
    int64_t sent_ms;   /* STAGE_SENT: so long ago; else 0 */
};

/*
 * Ask where the document with this `_id` is, under any routing, and get the place that is
 * furthest on its way.  Includes everything submitted before.  Blocks until the thread has
 * looked; ERR_RETRY if it does not within some seconds, or stops.  @thread any
 */
bool delivery_find(struct delivery *d, struct str index, struct str id,
                   struct delivery_place *out, struct err *err) MUST_CHECK;

struct delivery_status {
    /*
     * Documents, each counted once, whatever waits for it.  queued: neither read nor sent now,
     * which includes the auxiliary queue of a drain (counted in writes) and what waits for the
     * store.
     */
    uint64_t queued, loading, in_flight;
    uint64_t bytes_held;
    uint64_t backlog; /* changes of the worker that has most: options.high_water_mark's */
    bool stuck; /* everything left belongs to indexes that take nothing; or nothing is left */
    int64_t good_ms; /* last document taken by an index without a reported problem;
                        monotonic; 0: never */
    size_t blocked;  /* callers waiting for room */
    uint64_t requests, requests_failed, retries, rejections_429, bad_responses, splits;
};
struct delivery_status delivery_status(struct delivery *d);
/*
 * Append samples (src/metric/metric.h): histograms of bulk requests and of the time from commit
 * to acknowledgement, refused requests, documents by index and result.  @thread any
 */
void delivery_metrics(struct delivery *d, struct buf *out);
/* Call fn with the counts of each index since the start; fn must not call d.  @thread any */
void delivery_each_index(struct delivery *d, index_counts_fn fn, void *ctx);
/*
 * Since the start, of a topic: the documents that were written, deleted or dropped, and the
 * milliseconds from a change's commit to its acknowledgement.  @thread any
 */
void delivery_topic_figures(struct delivery *d, struct str topic, uint64_t *documents,
                            struct histogram *latency);
/* Of all: the documents, and the microseconds that each bulk request took.  @thread any */
void delivery_bulk_figures(struct delivery *d, uint64_t *documents, struct histogram *took);
/* Write members of a JSON object: all counts and durations.  @thread any */
void delivery_put_statistics(struct delivery *d, struct json_writer *w);

#endif
