/*
 * struct delivery_metric: what delivery counts, for Prometheus.
 *
 * The delivery thread counts, whoever asks reads.  What there is of an index stays to the end,
 * so counters never fall.
 *
 * @thread any (atomics; the list is locked inside)
 */
#ifndef SYNC_DELIVERY_DELIVERY_METRIC_H
#define SYNC_DELIVERY_DELIVERY_METRIC_H

#include "src/base/base.h"
#include "src/base/histogram.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct delivery_metric;

/* How the engine answered for a document. */
enum document_result {
    RESULT_OK = 0,
    RESULT_STALE,   /* something newer was there */
    RESULT_RETRIED, /* to be sent again */
    RESULT_DEAD,
    RESULT_WHOLE, /* an area that cannot be written alone: the whole document is */
    N_DOCUMENT_RESULTS,
};

enum metric_op {
    METRIC_INDEX = 0,
    METRIC_DELETE,
    METRIC_UPDATE, /* of an area */
    N_METRIC_OPS,
};

/* What happens, counted over all indexes. */
enum delivery_count {
    COUNT_FAILED_REQUESTS = 0,
    COUNT_FAILED_DOCUMENTS,
    COUNT_BATCHES,
    COUNT_PURGED,
    COUNT_REPAIRED,
    COUNT_BLOCKED_CALLERS,
    COUNT_DRAINS,
    COUNT_DRAIN_FAILURES,
    COUNT_DRAIN_TIMEOUTS,
    COUNT_DRAIN_CANCEL_TIMEOUTS,
    COUNT_MELTS,
    COUNT_BLOWN,
    COUNT_HEALED,
    COUNT_QUERIES,
    COUNT_FAILED_QUERIES,
    N_DELIVERY_COUNTS,
};

/* How long it took. */
enum delivery_time {
    TIME_DOCUMENT = 0, /* a batch, shared by its documents */
    TIME_BATCH,
    TIME_DRAIN,
    TIME_QUERY,
    N_DELIVERY_TIMES,
};

/* Of one index. */
struct index_metric {
    struct index_metric *next;
    struct histogram *latency; /* of its topic, ms from commit to acknowledgement */
    char *topic, *index;
    uint64_t n[N_METRIC_OPS][N_DOCUMENT_RESULTS]; /* atomics */
};

struct delivery_metric *delivery_metric_new(void) RETURNS_NONNULL MUST_CHECK;
void delivery_metric_free(struct delivery_metric *m); /* NULL is fine */

/* The counters of an index, from the first call on; valid until the end. */
struct index_metric *delivery_metric_index(struct delivery_metric *m, struct str topic,
                                           struct str index) RETURNS_NONNULL;

static inline void index_metric_count(struct index_metric *x, enum metric_op op,
                                      enum document_result result)
{
    __atomic_fetch_add(&x->n[op][result], 1, __ATOMIC_RELAXED);
}

/* A bulk request has ended. */
void delivery_metric_request(struct delivery_metric *m, size_t bytes, size_t documents,
                             int64_t took_us);
/* It was refused, wholly or in part, with this status; 0: there was no answer. */
void delivery_metric_refusal(struct delivery_metric *m, int status);

void delivery_metric_count(struct delivery_metric *m, enum delivery_count what, uint64_t n);
void delivery_metric_time(struct delivery_metric *m, enum delivery_time what, int64_t took_us);

/* Append the samples (src/metric.h). */
void delivery_metric_put(struct delivery_metric *m, struct buf *out);

#endif
