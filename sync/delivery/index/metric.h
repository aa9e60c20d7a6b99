/*
 * struct delivery_metric: delivery's counters, for Prometheus.
 *
 * The delivery thread counts; anybody may read.  The counters of an index are never removed, so
 * they never fall.  The first METRIC_INDEXES_MAX indexes have series of their own.
 *
 * @thread any (atomics; the list is locked inside)
 */
#ifndef SYNC_DELIVERY_INDEX_METRIC_H
#define SYNC_DELIVERY_INDEX_METRIC_H

#include "src/base/base.h"
#include "src/base/histogram.h"
#include "src/base/minute.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct delivery_metric;
struct json_writer;
struct search;

#define METRIC_INDEXES_MAX 1000

/* What the engine's answer means for a document. */
enum document_result {
    RESULT_OK = 0,
    RESULT_STALE,   /* a newer version was stored */
    RESULT_RETRIED, /* will be sent again */
    RESULT_DEAD,
    RESULT_DROPPED, /* by the engine's pipeline; what the index had of it is deleted */
    RESULT_WHOLE,   /* an area that cannot be written alone: the whole document is */
    N_DOCUMENT_RESULTS,
};

enum metric_op {
    METRIC_INDEX = 0,
    METRIC_DELETE,
    METRIC_UPDATE, /* of an area */
    N_METRIC_OPS,
};

/* Counted over all indexes. */
enum delivery_count {
    COUNT_INDEXED = 0, /* documents written or deleted */
    COUNT_BATCHES,
    COUNT_FAILED_REQUESTS,
    COUNT_FAILED_DOCUMENTS, /* documents that became dead letters */
    COUNT_UNEXPLAINED,      /* of these: failed again and again without a reason */
    COUNT_PURGED,
    COUNT_REPAIRED,
    COUNT_BLOCKED_CALLERS,
    COUNT_DRAINS,         /* drains that ended */
    COUNT_DRAIN_FAILURES, /* of these: ended as anything but DRAIN_DONE */
    COUNT_DRAIN_TIMEOUTS,
    COUNT_DRAIN_CANCEL_TIMEOUTS,
    COUNT_MELTS,
    COUNT_BLOWN,
    COUNT_HEALED,
    N_DELIVERY_COUNTS,
};

/* Durations. */
enum delivery_time {
    TIME_DOCUMENT = 0, /* a batch's time divided by its documents */
    TIME_BATCH,
    TIME_DRAIN,
    N_DELIVERY_TIMES,
};

/* Counters of one index. */
struct index_metric {
    struct index_metric *next;
    struct histogram *latency; /* the topic's: ms from commit to acknowledgement */
    char *topic, *index;
    bool is_beyond; /* its topic's series for index "other" shows it */
    uint64_t n[N_METRIC_OPS][N_DOCUMENT_RESULTS]; /* atomics */
    struct minute lately;                         /* documents written or deleted */
    int64_t last_ms; /* monotonic: when the last of them was; 0: none; atomic */
};

/* Its counters in short. */
struct index_counts {
    uint64_t written, deleted, failed, dropped;
    uint64_t lately; /* written, deleted or dropped within the last minute */
    int64_t last_ms; /* monotonic: when the last of these was; 0: none */
};

typedef void (*index_counts_fn)(void *ctx, const char *index, const struct index_counts *c);

/* search: counts delivery's requests other than bulk; borrowed, may be NULL. */
struct delivery_metric *delivery_metric_new(struct search *search) RETURNS_NONNULL MUST_CHECK;
void delivery_metric_free(struct delivery_metric *m); /* NULL is allowed */

/* Find or create the counters of an index.  Valid as long as m. */
struct index_metric *delivery_metric_index(struct delivery_metric *m, struct str topic,
                                           struct str index) RETURNS_NONNULL;

static inline void index_metric_count(struct index_metric *x, enum metric_op op,
                                      enum document_result result)
{
    __atomic_fetch_add(&x->n[op][result], 1, __ATOMIC_RELAXED);
}

/* The same for a document that was written, deleted or dropped; now_ms is monotonic. */
static inline void index_metric_done(struct index_metric *x, enum metric_op op,
                                     enum document_result result, int64_t now_ms)
{
    index_metric_count(x, op, result);
    minute_add(&x->lately, now_ms, 1);
    __atomic_store_n(&x->last_ms, now_ms, __ATOMIC_RELAXED);
}

/* Call fn for each index; it must not call m.  now_ms is monotonic. */
void delivery_metric_each(struct delivery_metric *m, int64_t now_ms, index_counts_fn fn,
                          void *ctx);

/* Count a bulk request that ended. */
void delivery_metric_request(struct delivery_metric *m, size_t bytes, size_t documents,
                             int64_t took_us);
/* Count a request that was refused, wholly or in part, with this status.  0: no answer. */
void delivery_metric_refusal(struct delivery_metric *m, int status);

void delivery_metric_count(struct delivery_metric *m, enum delivery_count what, uint64_t n);
void delivery_metric_time(struct delivery_metric *m, enum delivery_time what, int64_t took_us);

/* Count a request other than bulk that was answered, or was not. */
void delivery_metric_query(struct delivery_metric *m, bool failed, int64_t took_us);

/* Of all indexes of a topic since the start: the documents that ended, the ms from commit on.
 */
void delivery_metric_topic(struct delivery_metric *m, struct str topic, uint64_t *documents,
                           struct histogram *latency);
/* Of all: the documents, and the us that each bulk request took. */
void delivery_metric_bulk(const struct delivery_metric *m, uint64_t *documents,
                          struct histogram *took);

/*
 * Write members of a JSON object: each count with its last minute, each duration's
 * distribution.
 */
void delivery_metric_put_json(const struct delivery_metric *m, struct json_writer *w);
/* Append the samples (src/metric/metric.h). */
void delivery_metric_put(struct delivery_metric *m, struct buf *out);

#endif
