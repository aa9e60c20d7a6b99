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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct delivery_metric;
struct json_writer;
struct search;

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
    COUNT_INDEXED = 0, /* documents written, or deleted */
    COUNT_BATCHES,
    COUNT_FAILED_REQUESTS,
    COUNT_FAILED_DOCUMENTS, /* that became dead letters */
    COUNT_UNEXPLAINED,      /* of these, that failed again and again without a reason */
    COUNT_PURGED,
    COUNT_REPAIRED,
    COUNT_BLOCKED_CALLERS,
    COUNT_DRAINS,         /* all that began */
    COUNT_DRAIN_FAILURES, /* of these, all that did not end well */
    COUNT_DRAIN_TIMEOUTS,
    COUNT_DRAIN_CANCEL_TIMEOUTS,
    COUNT_MELTS,
    COUNT_BLOWN,
    COUNT_HEALED,
    N_DELIVERY_COUNTS,
};

/* How long it took. */
enum delivery_time {
    TIME_DOCUMENT = 0, /* a batch, shared by its documents */
    TIME_BATCH,
    TIME_DRAIN,
    N_DELIVERY_TIMES,
};

/* Of one index. */
struct index_metric {
    struct index_metric *next;
    struct histogram *latency; /* of its topic, ms from commit to acknowledgement */
    char *topic, *index;
    uint64_t n[N_METRIC_OPS][N_DOCUMENT_RESULTS]; /* atomics */
};

/* search: counts what delivery asks beside bulk requests; borrowed, or NULL. */
struct delivery_metric *delivery_metric_new(struct search *search) RETURNS_NONNULL MUST_CHECK;
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

/* A question beside bulk requests was answered, or was not. */
void delivery_metric_query(struct delivery_metric *m, bool failed, int64_t took_us);

/* Members of a JSON object: each count with its last minute, each time's distribution. */
void delivery_metric_put_json(const struct delivery_metric *m, struct json_writer *w);
/* Append the samples (src/metric.h). */
void delivery_metric_put(struct delivery_metric *m, struct buf *out);

#endif
