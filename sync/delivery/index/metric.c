#include "config.h"

#include "sync/delivery/index/metric.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/metric/metric.h"
#include "src/metric/statistic.h"
#include "src/search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_MAX 600

static const struct str cluster = {"search", 6}; /* the only one so far */

struct topic_metric {
    struct topic_metric *next;
    char *topic;
    struct histogram latency;
};

struct delivery_metric {
    struct histogram bytes, documents;
    struct histogram times[N_DELIVERY_TIMES]; /* microseconds */
    struct statistic counts[N_DELIVERY_COUNTS];
    struct search *search;           /* borrowed, or NULL */
    uint64_t rejections[STATUS_MAX]; /* atomics, indexed by status */

    struct lock lock;

    /* All guarded by lock; entries are never removed. */
    struct index_metric *indexes;
    size_t n_indexes;
    struct topic_metric *topics;
};

static const struct count_form {
    const char *name;
    enum metric metric;
} count_forms[N_DELIVERY_COUNTS] = {
    [COUNT_INDEXED] = {"indexed", METRIC_INDEXED},
    [COUNT_BATCHES] = {"batches", METRIC_BATCHES},
    [COUNT_FAILED_REQUESTS] = {"failed_requests", METRIC_REQUESTS_FAILED},
    [COUNT_FAILED_DOCUMENTS] = {"failed_documents", METRIC_DOCUMENTS_FAILED},
    [COUNT_UNEXPLAINED] = {"unexplained", METRIC_UNEXPLAINED},
    [COUNT_PURGED] = {"purged", METRIC_PURGED},
    [COUNT_REPAIRED] = {"repaired", METRIC_REPAIRED},
    [COUNT_BLOCKED_CALLERS] = {"blocked_callers", METRIC_BLOCKED_CALLERS},
    [COUNT_DRAINS] = {"drains", METRIC_DRAINS},
    [COUNT_DRAIN_FAILURES] = {"drain_failures", METRIC_DRAIN_FAILURES},
    [COUNT_DRAIN_TIMEOUTS] = {"drain_timeouts", METRIC_DRAIN_TIMEOUTS},
    [COUNT_DRAIN_CANCEL_TIMEOUTS] = {"drain_cancel_timeouts", METRIC_DRAIN_CANCEL_TIMEOUTS},
    [COUNT_MELTS] = {"melts", METRIC_MELTS},
    [COUNT_BLOWN] = {"blown", METRIC_BLOWN},
    [COUNT_HEALED] = {"healed", METRIC_HEALED},
};

static const struct time_form {
    const char *name;
    enum metric metric;
} time_forms[N_DELIVERY_TIMES] = {
    [TIME_DOCUMENT] = {"document_seconds", METRIC_DOCUMENT_SECONDS},
    [TIME_BATCH] = {"batch_seconds", METRIC_BULK_SECONDS},
    [TIME_DRAIN] = {"drain_seconds", METRIC_DRAIN_SECONDS},
};

struct delivery_metric *delivery_metric_new(struct search *search)
{
    struct delivery_metric *m = mem_alloc(1, sizeof(*m));

    m->search = search;

    lock_init(&m->lock, LOCK_private);
    return m;
}

void delivery_metric_free(struct delivery_metric *m)
{
    if (m == NULL)
        return;
    while (m->indexes != NULL) {
        struct index_metric *x = m->indexes;

        m->indexes = x->next;
        free(x->topic);
        free(x->index);
        free(x);
    }
    while (m->topics != NULL) {
        struct topic_metric *t = m->topics;

        m->topics = t->next;
        free(t->topic);
        free(t);
    }
    lock_fini(&m->lock);
    free(m);
}

static char *copy(struct str s)
{
    char *text = mem_alloc(s.len + 1, 1);

    if (s.len > 0)
        memcpy(text, s.ptr, s.len);
    return text;
}

static struct topic_metric *topic_of(struct delivery_metric *m, struct str topic) NEEDS(m->lock)
{
    struct topic_metric *t = m->topics;

    while (t != NULL && !str_equal(str_from(t->topic), topic))
        t = t->next;
    if (t != NULL)
        return t;
    t = mem_alloc(1, sizeof(*t));
    t->topic = copy(topic);
    t->next = m->topics;
    m->topics = t;
    return t;
}

struct index_metric *delivery_metric_index(struct delivery_metric *m, struct str topic,
                                           struct str index)
{
    struct index_metric *x;

    lock_acquire(&m->lock);
    for (x = m->indexes; x != NULL; x = x->next)
        if (str_equal(str_from(x->index), index) && str_equal(str_from(x->topic), topic))
            break;
    if (x == NULL) {
        x = mem_alloc(1, sizeof(*x));
        x->topic = copy(topic);
        x->index = copy(index);
        x->latency = &topic_of(m, topic)->latency;
        x->is_beyond = m->n_indexes++ >= METRIC_INDEXES_MAX;
        x->next = m->indexes;
        m->indexes = x;
    }
    lock_release(&m->lock);
    return x;
}

void delivery_metric_request(struct delivery_metric *m, size_t bytes, size_t documents,
                             int64_t took_us)
{
    delivery_metric_count(m, COUNT_BATCHES, 1);
    delivery_metric_time(m, TIME_BATCH, took_us);
    if (documents > 0)
        delivery_metric_time(m, TIME_DOCUMENT, took_us / (int64_t)documents);
    histogram_add(&m->bytes, bytes);
    histogram_add(&m->documents, documents);
}

void delivery_metric_refusal(struct delivery_metric *m, int status)
{
    if (status < 0 || status >= STATUS_MAX)
        status = 0;
    __atomic_fetch_add(&m->rejections[status], 1, __ATOMIC_RELAXED);
}

void delivery_metric_count(struct delivery_metric *m, enum delivery_count what, uint64_t n)
{
    statistic_add(&m->counts[what], clock_mono_ms(), n);
}

void delivery_metric_time(struct delivery_metric *m, enum delivery_time what, int64_t took_us)
{
    histogram_add(&m->times[what], took_us < 0 ? 0 : (uint64_t)took_us);
}

void delivery_metric_query(struct delivery_metric *m, bool failed, int64_t took_us)
{
    if (m->search != NULL)
        search_count_query(m->search, failed, took_us);
}

void delivery_metric_put_json(const struct delivery_metric *m, struct json_writer *w)
{
    const int64_t now_ms = clock_mono_ms();

    for (size_t i = 0; i < N_DELIVERY_COUNTS; i++)
        statistic_put(w, str_from(count_forms[i].name), &m->counts[i], now_ms);
    for (size_t i = 0; i < N_DELIVERY_TIMES; i++)
        statistic_put_times(w, str_from(time_forms[i].name), &m->times[i], 1e6);
    statistic_put_times(w, STR("batch_documents"), &m->documents, 1);
}

static void put_histogram(struct buf *out, enum metric metric, const struct histogram *h,
                          struct str label)
{
    struct histogram now;

    histogram_snapshot(h, &now);
    metric_put_histogram(out, metric, &now, label);
}

#define WRITTEN (1u << RESULT_OK | 1u << RESULT_RETRIED)

/* An update of an area is never stale or dead: the whole document is written instead. */
static const struct op_form {
    const char *name;
    unsigned results; /* one bit for each possible result */
} op_forms[N_METRIC_OPS] = {
    [METRIC_INDEX] = {"index",
                      WRITTEN | 1u << RESULT_STALE | 1u << RESULT_DEAD | 1u << RESULT_DROPPED},
    [METRIC_DELETE] = {"delete", WRITTEN | 1u << RESULT_STALE | 1u << RESULT_DEAD},
    [METRIC_UPDATE] = {"update", WRITTEN | 1u << RESULT_WHOLE},
};

static uint64_t count_of(const struct index_metric *x, enum metric_op op,
                         enum document_result result)
{
    return __atomic_load_n(&x->n[op][result], __ATOMIC_RELAXED);
}

static void put_index(struct buf *out, const struct index_metric *x, struct str index)
{
    static const char *const results[N_DOCUMENT_RESULTS] = {
        [RESULT_OK] = "ok",     [RESULT_STALE] = "stale",     [RESULT_RETRIED] = "retried",
        [RESULT_DEAD] = "dead", [RESULT_DROPPED] = "dropped", [RESULT_WHOLE] = "whole",
    };

    for (size_t op = 0; op < N_METRIC_OPS; op++)
        for (size_t r = 0; r < N_DOCUMENT_RESULTS; r++)
            if ((op_forms[op].results & 1u << r) != 0)
                metric_put_u64(out, METRIC_DOCUMENTS,
                               count_of(x, (enum metric_op)op, (enum document_result)r),
                               str_from(x->topic), index, str_from(op_forms[op].name),
                               str_from(results[r]));
}

/* One series for the indexes of a topic that have none of their own. */
static void put_others(struct buf *out, const struct delivery_metric *m,
                       const struct topic_metric *t)
{
    struct index_metric sum = {.topic = t->topic};

    for (const struct index_metric *x = m->indexes; x != NULL; x = x->next) {
        if (!x->is_beyond || strcmp(x->topic, t->topic) != 0)
            continue;
        sum.is_beyond = true;
        for (size_t op = 0; op < N_METRIC_OPS; op++)
            for (size_t r = 0; r < N_DOCUMENT_RESULTS; r++)
                sum.n[op][r] += count_of(x, (enum metric_op)op, (enum document_result)r);
    }
    if (sum.is_beyond)
        put_index(out, &sum, STR("other"));
}

void delivery_metric_each(struct delivery_metric *m, int64_t now_ms, index_counts_fn fn,
                          void *ctx)
{
    lock_acquire(&m->lock);
    for (const struct index_metric *x = m->indexes; x != NULL; x = x->next) {
        const struct index_counts c = {
            .written =
                count_of(x, METRIC_INDEX, RESULT_OK) + count_of(x, METRIC_UPDATE, RESULT_OK),
            .deleted = count_of(x, METRIC_DELETE, RESULT_OK),
            .failed = count_of(x, METRIC_INDEX, RESULT_DEAD) +
                      count_of(x, METRIC_DELETE, RESULT_DEAD),
            .dropped = count_of(x, METRIC_INDEX, RESULT_DROPPED),
            .lately = minute_sum(&x->lately, now_ms),
            .last_ms = __atomic_load_n(&x->last_ms, __ATOMIC_RELAXED),
        };

        fn(ctx, x->index, &c);
    }
    lock_release(&m->lock);
}

void delivery_metric_topic(struct delivery_metric *m, struct str topic, uint64_t *documents,
                           struct histogram *latency)
{
    *documents = 0;
    *latency = (struct histogram){.sum = 0};
    lock_acquire(&m->lock);
    for (const struct topic_metric *t = m->topics; t != NULL; t = t->next)
        if (str_equal(str_from(t->topic), topic))
            histogram_snapshot(&t->latency, latency);
    for (const struct index_metric *x = m->indexes; x != NULL; x = x->next) {
        if (!str_equal(str_from(x->topic), topic))
            continue;
        for (size_t op = 0; op < N_METRIC_OPS; op++)
            *documents += count_of(x, (enum metric_op)op, RESULT_OK);
        *documents += count_of(x, METRIC_INDEX, RESULT_DROPPED);
    }
    lock_release(&m->lock);
}

void delivery_metric_bulk(const struct delivery_metric *m, uint64_t *documents,
                          struct histogram *took)
{
    *documents = statistic_total(&m->counts[COUNT_INDEXED]);
    histogram_snapshot(&m->times[TIME_BATCH], took);
}

static void put_rejections(struct buf *out, const struct delivery_metric *m)
{
    for (int status = 0; status < STATUS_MAX; status++) {
        const uint64_t n = __atomic_load_n(&m->rejections[status], __ATOMIC_RELAXED);
        char name[16];

        if (n == 0 && status != 429 && status != 503)
            continue;
        snprintf(name, sizeof(name), "%d", status);
        metric_put_u64(out, METRIC_BULK_REJECTIONS, n, cluster, str_from(name));
    }
}

void delivery_metric_put(struct delivery_metric *m, struct buf *out)
{
    for (size_t i = 0; i < N_DELIVERY_COUNTS; i++)
        metric_put_u64(out, count_forms[i].metric, statistic_total(&m->counts[i]), cluster);
    for (size_t i = 0; i < N_DELIVERY_TIMES; i++)
        put_histogram(out, time_forms[i].metric, &m->times[i], cluster);
    put_histogram(out, METRIC_BULK_BYTES, &m->bytes, cluster);
    put_histogram(out, METRIC_BULK_DOCUMENTS, &m->documents, cluster);
    put_rejections(out, m);
    lock_acquire(&m->lock);
    for (const struct topic_metric *t = m->topics; t != NULL; t = t->next)
        put_histogram(out, METRIC_END_TO_END, &t->latency, str_from(t->topic));
    for (const struct index_metric *x = m->indexes; x != NULL; x = x->next)
        if (!x->is_beyond)
            put_index(out, x, str_from(x->index));
    for (const struct topic_metric *t = m->topics; t != NULL; t = t->next)
        put_others(out, m, t);
    lock_release(&m->lock);
}
