#include "config.h"

#include "sync/delivery/delivery_metric.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/metric.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_MAX 600

static const struct str cluster = {"search", 6}; /* one, so far */

struct topic_metric {
    struct topic_metric *next;
    char *topic;
    struct histogram latency;
};

struct delivery_metric {
    struct histogram seconds, bytes, documents;
    struct histogram times[N_DELIVERY_TIMES]; /* microseconds */
    uint64_t counts[N_DELIVERY_COUNTS];       /* atomics */
    uint64_t rejections[STATUS_MAX]; /* atomics, by status */

    pthread_mutex_t lock;

    /* All guarded by lock; what is listed is never taken out. */
    struct index_metric *indexes;
    struct topic_metric *topics;
};

struct delivery_metric *delivery_metric_new(void)
{
    struct delivery_metric *m = mem_alloc(1, sizeof(*m));

    pthread_mutex_init(&m->lock, NULL);
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
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static char *copy(struct str s)
{
    char *text = mem_alloc(s.len + 1, 1);

    if (s.len > 0)
        memcpy(text, s.ptr, s.len);
    return text;
}

static struct topic_metric *topic_of(struct delivery_metric *m, struct str topic)
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

    pthread_mutex_lock(&m->lock);
    for (x = m->indexes; x != NULL; x = x->next)
        if (str_equal(str_from(x->index), index) && str_equal(str_from(x->topic), topic))
            break;
    if (x == NULL) {
        x = mem_alloc(1, sizeof(*x));
        x->topic = copy(topic);
        x->index = copy(index);
        x->latency = &topic_of(m, topic)->latency;
        x->next = m->indexes;
        m->indexes = x;
    }
    pthread_mutex_unlock(&m->lock);
    return x;
}

void delivery_metric_request(struct delivery_metric *m, size_t bytes, size_t documents,
                             int64_t took_us)
{
    histogram_add(&m->seconds, took_us < 0 ? 0 : (uint64_t)took_us);
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
    __atomic_fetch_add(&m->counts[what], n, __ATOMIC_RELAXED);
}

void delivery_metric_time(struct delivery_metric *m, enum delivery_time what, int64_t took_us)
{
    histogram_add(&m->times[what], took_us < 0 ? 0 : (uint64_t)took_us);
}

static void put_histogram(struct buf *out, enum metric metric, const struct histogram *h,
                          struct str label)
{
    struct histogram now;

    histogram_snapshot(h, &now);
    metric_put_histogram(out, metric, &now, label);
}

static void put_index(struct buf *out, const struct index_metric *x)
{
    static const char *const ops[N_METRIC_OPS] = {"index", "delete", "update"};
    static const char *const results[N_DOCUMENT_RESULTS] = {
        [RESULT_OK] = "ok",     [RESULT_STALE] = "stale", [RESULT_RETRIED] = "retried",
        [RESULT_DEAD] = "dead", [RESULT_WHOLE] = "whole",
    };

    for (size_t op = 0; op < ARRAY_LEN(ops); op++)
        for (size_t r = 0; r < N_DOCUMENT_RESULTS && (op == METRIC_UPDATE || r < RESULT_WHOLE);
             r++)
            metric_put_u64(out, METRIC_DOCUMENTS,
                           __atomic_load_n(&x->n[op][r], __ATOMIC_RELAXED), str_from(x->topic),
                           str_from(x->index), str_from(ops[op]), str_from(results[r]));
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
    put_histogram(out, METRIC_BULK_SECONDS, &m->seconds, cluster);
    put_histogram(out, METRIC_BULK_BYTES, &m->bytes, cluster);
    put_histogram(out, METRIC_BULK_DOCUMENTS, &m->documents, cluster);
    put_rejections(out, m);
    pthread_mutex_lock(&m->lock);
    for (const struct topic_metric *t = m->topics; t != NULL; t = t->next)
        put_histogram(out, METRIC_END_TO_END, &t->latency, str_from(t->topic));
    for (const struct index_metric *x = m->indexes; x != NULL; x = x->next)
        put_index(out, x);
    pthread_mutex_unlock(&m->lock);
}
