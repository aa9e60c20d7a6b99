#include "config.h"

#include "rebalance/admin/status.h"
#include "rebalance/alarm/outbox.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/shared/others.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/builds.h"
#include "rebalance/view/topic.h"

#include "rebalance/admin/bucket_list.h"
#include "rebalance/admin/questions.h"
#include "rebalance/admin/table_metrics.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/view/known.h"
#include "rebalance/view/view.h"

#include "src/base/clock.h"
#include "src/metric/metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDOFF_BYTES  (4 << 20)
#define JOB_SERIES_MAX 64 /* more than there are kinds of jobs, times their states */

static const char *const outcome_labels[N_OUTCOMES] = {
    [OUTCOME_DELIVERED] = "delivered", [OUTCOME_SUPERSEDED] = "superseded",
    [OUTCOME_FILTERED] = "filtered",   [OUTCOME_DEFERRED] = "deferred",
    [OUTCOME_PURGED] = "purged",       [OUTCOME_DEAD] = "dead",
};

static void put_changes(struct buf *out, struct str topic, const struct pipeline_status *s)
{
    uint64_t done = 0;

    metric_put_u64(out, METRIC_CHANGES_READ, s->changes_read, topic);
    for (size_t i = 0; i < N_OUTCOMES; i++) {
        metric_put_u64(out, METRIC_CHANGES_DONE, s->changes_done[i], topic,
                       str_from(outcome_labels[i]));
        done += s->changes_done[i];
    }
    metric_put_u64(out, METRIC_CHANGES_IN_FLIGHT, s->changes_read - done, topic);
    metric_put_u64(out, METRIC_ROWS_UNROOTED, s->rows_unrooted, topic);
}

static void put_dead(struct buf *out, const struct topic *t)
{
    static const char *const reasons[N_DEAD_REASONS] = {
        [DEAD_ROW] = "row", [DEAD_TOO_LARGE] = "too_large", [DEAD_REFUSED] = "refused"};

    for (size_t i = 0; i < N_DEAD_REASONS; i++)
        metric_put_u64(out, METRIC_DEAD_LETTERS_TOTAL, t->dead[i], str_from(t->name),
                       str_from(reasons[i]));
}

static void put_reads(struct buf *out, struct str topic, const struct pipeline_status *s)
{
    metric_put_u64(out, METRIC_DOCUMENTS_READ, s->reread.documents, topic);
    metric_put_u64(out, METRIC_STATEMENTS, s->reread.load_statements, topic, STR("load"));
    metric_put_u64(out, METRIC_STATEMENTS, s->reread.resolve_statements, topic, STR("resolve"));
    metric_put_u64(out, METRIC_STATEMENTS, s->fan_out.statements, topic, STR("fan_out"));
    metric_put_u64(out, METRIC_FAN_OUT_JOBS, s->fan_out.waiting, topic);
    metric_put_u64(out, METRIC_FAN_OUT_RUNS, s->fan_out.runs, topic);
    metric_put_u64(out, METRIC_FAN_OUT_DOCUMENTS, s->fan_out.documents, topic);
    metric_put_u64(out, METRIC_CASCADE_DOCUMENTS, s->gone_stay, topic);
}

static void put_topic(struct buf *out, const struct topic *t)
{
    const struct str topic = str_from(t->name);
    struct pipeline_status s;

    pipeline_status(t->pipeline, &s);
    metric_put_u64(out, METRIC_SOURCE_CONNECTED, s.source.state == SOURCE_RUNNING, topic);
    if (s.bytes_known)
        metric_put_u64(out, METRIC_SOURCE_BACKLOG, s.lag_bytes, topic);
    metric_put_double(out, METRIC_SOURCE_LAST_EVENT, (double)s.event_ms / 1000, topic);
    metric_put_u64(out, METRIC_SOURCE_RETENTION, s.source.server.retention_s, topic);
    metric_put_u64(out, METRIC_SOURCE_LAG_THREATENS,
                   coordinator_lag_threatens(&s, clock_wall_ms()), topic);
    metric_put_u64(out, METRIC_SOURCE_RECONNECTS, s.source.reconnects, topic);
    metric_put_u64(out, METRIC_BINLOG_EVENTS, s.builder.inserts, topic, STR("insert"));
    metric_put_u64(out, METRIC_BINLOG_EVENTS, s.builder.updates, topic, STR("update"));
    metric_put_u64(out, METRIC_BINLOG_EVENTS, s.builder.deletes, topic, STR("delete"));
    metric_put_u64(out, METRIC_BINLOG_EVENTS, s.builder.statements, topic, STR("ddl"));
    metric_put_u64(out, METRIC_BINLOG_BYTES, s.source.bytes, topic);
    metric_put_u64(out, METRIC_QUEUE_DEPTH, s.queue_bytes, topic, STR("builder"));
    metric_put_u64(out, METRIC_QUEUE_CAPACITY, HANDOFF_BYTES, topic, STR("builder"));
    put_changes(out, topic, &s);
    put_reads(out, topic, &s);
    free(s.gtids);
}

/* ---- jobs ---- */

struct job_samples {
    struct coordinator *co;
    struct buf *out;
    const struct store_copy *stored; /* NULL: the store never answered */
};

static void put_bucket(struct buf *out, const struct stored_job *bucket,
                       const struct bucket_sum *sum, uint64_t rows)
{
    const struct bucket_progress p = bucket_progress(bucket, sum, rows);
    char number[16];

    snprintf(number, sizeof(number), "%u", (unsigned)bucket->bucket + 1);
    metric_put_u64(out, METRIC_BUCKET_ROWS_DONE, bucket->rows_done, bucket->index,
                   str_from(number));
    if (p.total > 0)
        metric_put_u64(out, METRIC_BUCKET_ROWS_ESTIMATED, p.total, bucket->index,
                       str_from(number));
    metric_put_u64(out, METRIC_BUCKET_RATE, p.rate, bucket->index, str_from(number));
}

static void put_buckets(const struct job_samples *js, const struct stored_job *build,
                        uint64_t rows)
{
    static const char *const states[] = {BUCKET_INIT, BUCKET_RUNNING, BUCKET_DONE,
                                         BUCKET_ERROR};
    const struct store_copy *c = js->stored;
    uint64_t counts[ARRAY_LEN(states)] = {0};
    struct bucket_sum sum;

    bucket_list_sum(c->jobs, c->n_jobs, build, &sum);
    metric_put_u64(js->out, METRIC_REINDEX_RATE, sum.rate, build->index);
    for (size_t i = 0; i < c->n_jobs; i++) {
        if (!bucket_list_is_of(&c->jobs[i], build))
            continue;
        for (size_t k = 0; k < ARRAY_LEN(states); k++)
            counts[k] += str_equal(c->jobs[i].state, str_from(states[k]));
        if (str_equal(c->jobs[i].state, STR(BUCKET_RUNNING)))
            put_bucket(js->out, &c->jobs[i], &sum, rows);
    }
    for (size_t k = 0; k < ARRAY_LEN(states); k++)
        metric_put_u64(js->out, METRIC_REINDEX_BUCKETS, counts[k], build->index,
                       str_from(states[k]));
}

static void put_build(void *ctx, struct index_build *b)
{
    const struct job_samples *js = ctx;
    const struct index_build_status s = index_build_status(b);
    const struct str index = str_from(index_build_alias(b));

    metric_put_u64(js->out, METRIC_REINDEX_ROWS_DONE, s.rows_done, index);
    metric_put_u64(js->out, METRIC_REINDEX_ROWS_ESTIMATED, s.rows_total, index);
    for (size_t i = 0; js->stored != NULL && i < js->stored->n_jobs; i++)
        if (js->stored->jobs[i].id == s.job_id)
            put_buckets(js, &js->stored->jobs[i], s.rows_total);
}

/* Jobs of one kind and state. */
struct job_series {
    struct str kind, state; /* borrowed */
    uint64_t n;
};

static void count_job(struct job_series *list, size_t max, const struct stored_job *j)
{
    for (size_t i = 0; i < max; i++) {
        if (list[i].n > 0 &&
            !(str_equal(list[i].kind, j->kind) && str_equal(list[i].state, j->state)))
            continue;
        list[i].kind = j->kind;
        list[i].state = j->state;
        list[i].n++;
        return;
    }
}

static void put_jobs(const struct job_samples *js)
{
    struct job_series list[JOB_SERIES_MAX] = {{.n = 0}};
    const struct store_copy *c = js->stored;

    for (size_t i = 0; c != NULL && i < c->n_jobs; i++)
        if (!coordinator_is_others_version(js->co, c->jobs[i].index, c->jobs[i].version))
            count_job(list, ARRAY_LEN(list), &c->jobs[i]);
    for (size_t i = 0; i < ARRAY_LEN(list) && list[i].n > 0; i++)
        metric_put_u64(js->out, METRIC_JOBS, list[i].n, list[i].kind, list[i].state);
}

static void put_version(struct buf *out, const struct stored_version *v)
{
    char number[24];

    snprintf(number, sizeof(number), "%" PRIu64, v->number);
    metric_put_u64(out, METRIC_INDEX_VERSION_STATE, 1, v->index, str_from(number), v->state);
}

static bool is_held(const struct coordinator *co, const char *index)
{
    struct hold hold;

    return holds_find(co->holds, str_from(index), &hold);
}

static void put_topics(struct coordinator *co, struct buf *out)
{
    lock_acquire(&co->topics->lock);
    for (const struct topic *t = co->topics->first; t != NULL; t = t->next) {
        put_dead(out, t);
        if (t->pipeline != NULL)
            put_topic(out, t);
    }
    lock_release(&co->topics->lock);
}

static void put_versions(struct coordinator *co, struct buf *out)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct buf name = {0};

        put_version(out, v);
        coordinator_index_name(&name, v->index, v->number);
        if (catalogue_is_live(v))
            metric_put_u64(out, METRIC_INDEX_HELD, is_held(co, name.ptr), v->topic,
                           buf_str(&name));
        buf_free(&name);
    }
    catalogue_unref(c);
}

static void put_dead_letters(struct buf *out, const struct coordinator_view *v)
{
    const struct definitions *d = v->definitions;

    for (size_t i = 0; v->stored != NULL && i < d->n_topics; i++) {
        uint64_t sum = 0;

        if (v->topics[i].told.is_others)
            continue;
        for (size_t k = 0; k < v->stored->n_dead; k++)
            sum += definitions_topic_of(d, v->stored->dead[k].table) == &d->topics[i]
                       ? v->stored->dead[k].count
                       : 0;
        metric_put_u64(out, METRIC_DEAD_LETTERS, sum, d->topics[i].name);
    }
}

/* Leaves out unknown lags. */
static void put_lags(struct buf *out, const struct coordinator_view *v)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++) {
        const double s = lag_seconds(v->topics[i].lag, v->now_ms);

        if (s >= 0)
            metric_put_double(out, METRIC_SOURCE_LAG, s, v->topics[i].d->name);
    }
}

static void put_owners(struct coordinator *co, struct buf *out,
                       const struct coordinator_view *v)
{
    for (size_t i = 0; coordinator_is_shared(co) && i < v->definitions->n_topics; i++) {
        const struct told_topic *told = &v->topics[i].told;

        if (!told->is_others)
            metric_put_double(out, METRIC_TOPIC_TOLD, 0, v->topics[i].d->name,
                              str_from(co->identity.name));
        else if (told->at_ms != 0 && told->moved_ms == 0)
            metric_put_double(out, METRIC_TOPIC_TOLD,
                              (double)told_age_ms(told, v->now_ms) / 1000, v->topics[i].d->name,
                              told->owner);
    }
}

/* Whether an earlier check of the list is of the same series. */
static bool is_counted(const struct doctor_list *l, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (l->checks[k].status == l->checks[i].status &&
            str_equal(l->checks[k].id, l->checks[i].id))
            return true;
    return false;
}

static uint64_t count_like(const struct doctor_list *l, size_t i)
{
    uint64_t n = 0;

    for (size_t k = i; k < l->n; k++)
        n += l->checks[k].status == l->checks[i].status &&
             str_equal(l->checks[k].id, l->checks[i].id);
    return n;
}

static void put_judgement(struct coordinator *co, struct buf *out,
                          const struct coordinator_view *v)
{
    struct doctor_list l;

    doctor_init(&l, v->arena);

    const bool is_known = coordinator_judge(co, v, &l);
    const bool failed = doctor_worst(&l) == DOCTOR_FAIL;

    if (failed || is_known)
        metric_put_u64(out, METRIC_WELL, !failed);
    for (size_t i = 0; i < l.n; i++)
        if (l.checks[i].status != DOCTOR_OK && !is_counted(&l, i))
            metric_put_u64(out, METRIC_CHECKS, count_like(&l, i), l.checks[i].id,
                           str_from(doctor_status_name(l.checks[i].status)));
}

void coordinator_metrics(struct coordinator *co, struct buf *samples)
{
    struct coordinator_view *v = coordinator_view_new(co);

    coordinator_want(co);
    put_judgement(co, samples, v);
    if (co->outbox != NULL)
        alarm_outbox_metrics(co->outbox, samples);
    put_owners(co, samples, v);
    put_lags(samples, v);
    coordinator_put_tables(samples, v, METRIC_TABLES_MAX);
    put_dead_letters(samples, v);

    struct job_samples js = {.co = co, .out = samples, .stored = v->stored};

    builds_each(co->builds, put_build, &js);
    put_jobs(&js);
    coordinator_view_free(v);
    put_topics(co, samples);
    put_versions(co, samples);
    if (co->delivery != NULL)
        delivery_metrics(co->delivery, samples);
    search_metrics(co->opt.search, samples);
}
