#include "config.h"

#include "rebalance/history/history.h"

#include "rebalance/state/parts.h"
#include "rebalance/view/glance.h"
#include "rebalance/view/view.h"

#include "src/base/clock.h"
#include "src/base/histogram.h"
#include "src/base/mem.h"
#include "src/metric/timeline.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MS     (TIMELINE_STEP_S * 1000)
#define COLUMNS_MAX TIMELINE_COLUMNS

struct plot_column {
    const char *name; /* NULL: none */
    enum timeline_rule rule;
};

enum topic_column {
    TOPIC_LAG = 0,
    TOPIC_CHANGES,
    TOPIC_DOCUMENTS,
    TOPIC_MEDIAN,
    TOPIC_P99,
};

static const struct plot_column topic_columns[COLUMNS_MAX] = {
    [TOPIC_LAG] = {"lag_seconds", TIMELINE_MOST},
    [TOPIC_CHANGES] = {"changes_per_second", TIMELINE_MEAN},
    [TOPIC_DOCUMENTS] = {"documents_per_second", TIMELINE_MEAN},
    [TOPIC_MEDIAN] = {"commit_to_acknowledged_median_seconds", TIMELINE_MEAN},
    [TOPIC_P99] = {"commit_to_acknowledged_p99_seconds", TIMELINE_MOST},
};

enum node_column {
    NODE_DOCUMENTS = 0,
    NODE_REQUESTS,
    NODE_MEDIAN,
    NODE_P99,
};

static const struct plot_column node_columns[COLUMNS_MAX] = {
    [NODE_DOCUMENTS] = {"documents_per_second", TIMELINE_MEAN},
    [NODE_REQUESTS] = {"requests_per_second", TIMELINE_MEAN},
    [NODE_MEDIAN] = {"bulk_median_seconds", TIMELINE_MEAN},
    [NODE_P99] = {"bulk_p99_seconds", TIMELINE_MOST},
};

/* Counters at one look. */
struct plot_counters {
    bool is_known;
    uint64_t changes, documents;
    struct histogram times;
};

/* When it was measured. */
struct plot_moment {
    int64_t wall_ms, step;
    int64_t took_ms; /* since the last time */
};

struct plot_series {
    char *topic; /* NULL: the node itself */
    struct plot_counters before;
    struct timeline line;
};

struct history {
    pthread_t thread;
    bool running;

    /* All guarded by lock. */
    struct lock lock;
    struct plot_series *topics[HISTORY_TOPICS_MAX];
    size_t n_topics;
    size_t n_left_out;
    struct plot_series *node;
    int64_t measured_ms; /* monotonic; 0: never */
};

/* ---- series ---- */

static struct plot_series *series_new(struct str topic,
                                      const struct plot_column columns[COLUMNS_MAX])
{
    struct plot_series *s = mem_alloc(1, sizeof(*s));

    s->topic = topic.len > 0 ? strndup(topic.ptr, topic.len) : NULL;
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        s->line.rules[i] = columns[i].rule;
    return s;
}

static void series_free(struct plot_series *s)
{
    free(s->topic);
    free(s);
}

struct history *history_new(void)
{
    struct history *h = mem_alloc(1, sizeof(*h));

    lock_init(&h->lock, LOCK_private);
    h->node = series_new(STR(""), node_columns);
    return h;
}

void history_free(struct history *h)
{
    if (h == NULL)
        return;
    for (size_t i = 0; i < h->n_topics; i++)
        series_free(h->topics[i]);
    series_free(h->node);
    lock_fini(&h->lock);
    free(h);
}

static struct plot_series *find(const struct history *h, struct str topic) NEEDS(h->lock)
{
    for (size_t i = 0; i < h->n_topics; i++)
        if (str_equal(str_from(h->topics[i]->topic), topic))
            return h->topics[i];
    return NULL;
}

static struct plot_series *find_or_add(struct history *h, struct str topic) NEEDS(h->lock)
{
    struct plot_series *s = find(h, topic);

    if (s != NULL || h->n_topics == HISTORY_TOPICS_MAX)
        return s;
    return h->topics[h->n_topics++] = series_new(topic, topic_columns);
}

/* Forget the topics that nobody defines any more. */
static void forget_gone(struct history *h, const struct definitions *d) NEEDS(h->lock)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n_topics; i++) {
        if (definitions_topic(d, str_from(h->topics[i]->topic)) == NULL)
            series_free(h->topics[i]);
        else
            h->topics[n++] = h->topics[i];
    }
    h->n_topics = n;
}

/* ---- measuring ---- */

static double rate(uint64_t before, uint64_t now, int64_t took_ms)
{
    return now < before || took_ms <= 0 ? (double)NAN
                                        : (double)(now - before) * 1000 / (double)took_ms;
}

/* What was added since: quantiles of it alone. */
static void subtract(struct histogram *now, const struct histogram *before)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        now->counts[i] -=
            before->counts[i] < now->counts[i] ? before->counts[i] : now->counts[i];
}

static double quantile(const struct histogram *h, double q, double per_second)
{
    return histogram_count(h) == 0 ? (double)NAN
                                   : (double)histogram_quantile(h, q) / per_second;
}

static uint64_t sum_done(const struct pipeline_status *s)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < N_OUTCOMES; i++)
        sum += s->changes_done[i];
    return sum;
}

static void put_topic(struct plot_series *s, const struct topic_view *t,
                      const struct plot_counters *now, const struct plot_moment *m)
{
    const struct plot_counters *before = &s->before;
    const double lag = lag_seconds(t->lag, m->wall_ms);
    double v[COLUMNS_MAX] = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};

    /* At first nobody knows where the log ends: what came last may have come long ago. */
    v[TOPIC_LAG] = lag < 0 || (t->lag.at_most && !before->is_known) ? (double)NAN : lag;
    if (before->is_known) {
        struct histogram added = now->times;

        subtract(&added, &before->times);
        v[TOPIC_CHANGES] = rate(before->changes, now->changes, m->took_ms);
        v[TOPIC_DOCUMENTS] = rate(before->documents, now->documents, m->took_ms);
        v[TOPIC_MEDIAN] = quantile(&added, 0.5, 1e3);
        v[TOPIC_P99] = quantile(&added, 0.99, 1e3);
    }
    timeline_put(&s->line, m->step, v);
}

static void measure_topic(struct coordinator *co, struct history *h, const struct topic_view *t,
                          const struct plot_moment *m) NEEDS(h->lock)
{
    struct plot_counters now = {.is_known = t->runs};
    struct plot_series *s = find_or_add(h, t->d->name);

    if (s == NULL) {
        h->n_left_out++;
        return;
    }
    if (t->runs) {
        now.changes = sum_done(&t->status);
        delivery_topic_figures(co->delivery, t->d->name, &now.documents, &now.times);
        put_topic(s, t, &now, m);
    }
    s->before = now;
}

static void measure_node(struct coordinator *co, struct history *h, const struct plot_moment *m)
    NEEDS(h->lock)
{
    struct plot_series *s = h->node;
    struct plot_counters now = {.is_known = true};
    double v[COLUMNS_MAX] = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};

    delivery_bulk_figures(co->delivery, &now.documents, &now.times);
    if (s->before.is_known) {
        struct histogram added = now.times;

        subtract(&added, &s->before.times);
        v[NODE_DOCUMENTS] = rate(s->before.documents, now.documents, m->took_ms);
        v[NODE_REQUESTS] = rate(0, histogram_count(&added), m->took_ms);
        v[NODE_MEDIAN] = quantile(&added, 0.5, 1e6);
        v[NODE_P99] = quantile(&added, 0.99, 1e6);
        timeline_put(&s->line, m->step, v);
    }
    s->before = now;
}

/* Once, at a monotonic time. */
static void measure(struct coordinator *co, int64_t now_ms)
{
    struct history *h = co->history;
    struct coordinator_view *v = coordinator_view_glance(co);

    lock_acquire(&h->lock);

    const struct plot_moment m = {
        .wall_ms = v->now_ms, .step = now_ms / STEP_MS, .took_ms = now_ms - h->measured_ms};

    h->measured_ms = now_ms;
    h->n_left_out = 0;
    forget_gone(h, v->definitions);
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        measure_topic(co, h, &v->topics[i], &m);
    if (co->delivery != NULL)
        measure_node(co, h, &m);
    lock_release(&h->lock);
    coordinator_view_free(v);
}

/* ---- the thread ---- */

static void *history_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    int64_t due_ms = clock_mono_ms();

    while (!stop_wait(&co->stop, due_ms - clock_mono_ms())) {
        const int64_t now_ms = clock_mono_ms();

        measure(co, now_ms);
        due_ms = (now_ms / STEP_MS + 1) * STEP_MS; /* one look in each step */
    }
    return NULL;
}

void coordinator_start_history(struct coordinator *co)
{
    co->history->thread = thread_start("history", history_main, co);
    co->history->running = true;
}

void coordinator_join_history(struct coordinator *co)
{
    if (co->history->running)
        pthread_join(co->history->thread, NULL);
    co->history->running = false;
}

/* ---- what was measured ---- */

/* The steps that are asked for. */
struct plot_span {
    bool is_fine;
    int64_t first, n; /* steps, or wide ones */
    int64_t from_ms;  /* wall time at which the first begins */
};

static struct plot_span span_of(uint64_t hours)
{
    const int64_t now_ms = clock_mono_ms();
    const bool is_fine = hours == 1;
    const int64_t each_ms = is_fine ? STEP_MS : (int64_t)STEP_MS * TIMELINE_WIDE;
    const int64_t n = (int64_t)hours * 3600000 / each_ms, last = now_ms / each_ms;

    return (struct plot_span){.is_fine = is_fine,
                              .first = last - n + 1,
                              .n = n,
                              .from_ms = clock_wall_ms() - now_ms + (last - n + 1) * each_ms};
}

static void put_column(struct json_writer *w, const struct plot_series *s, size_t column,
                       const char *name, const struct plot_span *span)
{
    json_write_key(w, str_from(name));
    json_open_array(w);
    for (int64_t i = 0; i < span->n; i++) {
        const double v = span->is_fine ? timeline_fine(&s->line, span->first + i, column)
                                       : timeline_coarse(&s->line, span->first + i, column);

        json_write_double(w, round(v * 1000) / 1000);
    }
    json_close_array(w);
}

static void put_series(struct json_writer *w, const struct plot_series *s,
                       const struct plot_column columns[COLUMNS_MAX],
                       const struct plot_span *span)
{
    for (size_t i = 0; i < COLUMNS_MAX && columns[i].name != NULL; i++)
        put_column(w, s, i, columns[i].name, span);
}

static void put_topics(struct json_writer *w, const struct history *h, struct str topic,
                       const struct plot_span *span) NEEDS(h->lock)
{
    json_write_key(w, STR("topics"));
    json_open_array(w);
    for (size_t i = 0; i < h->n_topics; i++) {
        const struct plot_series *s = h->topics[i];

        if (topic.len > 0 && !str_equal(str_from(s->topic), topic))
            continue;
        json_open_object(w);
        json_put_cstr(w, STR("topic"), s->topic);
        put_series(w, s, topic_columns, span);
        json_close_object(w);
    }
    json_close_array(w);
}

static bool is_known(struct coordinator *co, struct str topic)
{
    struct definitions *d = coordinator_definitions(co);
    const bool is = definitions_topic(d, topic) != NULL;

    definitions_unref(d);
    return is;
}

bool coordinator_history(struct coordinator *co, struct str topic, uint64_t hours,
                         struct buf *json, struct err *err)
{
    struct plot_span span;
    struct history *h = co->history;
    struct json_writer w = {.out = json};

    if (hours < 1 || hours > HISTORY_HOURS_MAX)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "hours: %" PRIu64 " is not from 1 to %d", hours, HISTORY_HOURS_MAX);
    if (topic.len > 0 && !is_known(co, topic))
        return err_set_code(err, ERR_REJECT, "http", 404, "there is no topic %" STR_FMT,
                            STR_ARG(topic));
    span = span_of(hours);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/history/1");
    json_put_cstr(&w, STR("node"), co->identity.uuid);
    coordinator_put_time(&w, STR("from"), span.from_ms);
    json_put_u64(&w, STR("step_seconds"),
                 (uint64_t)TIMELINE_STEP_S * (span.is_fine ? 1 : TIMELINE_WIDE));
    json_put_u64(&w, STR("steps"), (uint64_t)span.n);
    lock_acquire(&h->lock);
    json_write_key(&w, STR("delivery"));
    json_open_object(&w);
    put_series(&w, h->node, node_columns, &span);
    json_close_object(&w);
    put_topics(&w, h, topic, &span);
    json_put_u64(&w, STR("topics_left_out"), h->n_left_out);
    lock_release(&h->lock);
    json_close_object(&w);
    return true;
}
