#include "config.h"

#include "rebalance/version/buckets.h"

#include "rebalance/dead_letter/letters.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/fill/fills.h"
#include "rebalance/fill/index_fill.h"
#include "rebalance/fill/job.h"
#include "rebalance/version/builds.h"

#include "src/base/log.h"
#include "src/base/magic.h"

#include <inttypes.h>

#define AT_ONCE 4 /* fills of one version on this node */

/* ---- the fills' calls, on their threads ---- */

static void on_fill_done(void *ctx, struct index_fill *f)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    builds_nudge(co->builds, str_from(index_fill_alias(f)), index_fill_number(f));
    fills_note_end(co->fills, f);
    stop_nudge(&co->stop);
}

static bool on_fill_dead(void *ctx, const struct dead_letter_note *note)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct err err = {0};

    while (!coordinator_keep_dead_letters(co, note, 1, &err)) {
        if (err.kind == ERR_STOP) /* another node has the topic */
            return false;
        log_failure(LOG_ERROR, &err, "could not store a dead letter, trying again");
        if (stop_wait(&co->stop, 500))
            return false;
    }
    delivery_note_dead(co->delivery, str_from(note->target->index), note->routing, note->id,
                       note->version);
    return true;
}

void coordinator_on_divided(void *ctx)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    fills_look_again(co->fills);
    stop_nudge(&co->stop);
}

/* ---- start ---- */

struct jobs {
    struct stored_job *list;
    size_t n;
};

/* The job of the build that a bucket belongs to; NULL: it is being deleted. */
static const struct stored_job *build_of(const struct jobs *jobs, const struct stored_job *b)
{
    for (size_t i = 0; i < jobs->n; i++)
        if (str_equal(jobs->list[i].kind, STR(JOB_INDEX)) &&
            jobs->list[i].version == b->version && str_equal(jobs->list[i].index, b->index))
            return &jobs->list[i];
    return NULL;
}

/* Each of the fills of a build, on all nodes, gets an equal share of its limit. */
static uint64_t share_of(uint64_t rate, size_t n)
{
    return rate == 0 || n == 0 ? rate : rate < n ? 1 : rate / n;
}

static bool start_fill(struct coordinator *co, const struct stored_version *v,
                       const struct stored_job *build, const struct stored_job *bucket,
                       struct pipeline *p, struct err *err)
{
    const struct job_parameters parameters = job_parameters_read(build->parameters);
    struct buf thing = {0}, index = {0}, alias = {0};
    uint64_t term;

    buf_printf(&thing, "job/%" PRIu64, bucket->id);
    coordinator_index_name(&index, v->index, v->number);
    buf_append(&alias, v->index);

    const bool ok = store_take_term(co->opt.store, buf_str(&thing), &term, err);

    if (ok) {
        struct index_fill *f = index_fill_new(
            &(struct index_fill_options){.store = co->opt.store,
                                         .delivery = co->delivery,
                                         .pipeline = p,
                                         .node = str_from(co->identity.uuid),
                                         .alias = alias.ptr,
                                         .index = index.ptr,
                                         .start = v->start,
                                         .term = term,
                                         .chunk = parameters.chunk,
                                         .rate = share_of(parameters.rate, build->buckets),
                                         .ctx = co,
                                         .dead = on_fill_dead,
                                         .done = on_fill_done},
            bucket);

        fills_add(co->fills, f);
        index_fill_start(f);
    }
    buf_free(&thing);
    buf_free(&index);
    buf_free(&alias);
    return ok;
}

static bool is_open(const struct stored_job *job)
{
    return str_equal(job->kind, STR(JOB_BUCKET)) &&
           (str_equal(job->state, STR(BUCKET_INIT)) ||
            str_equal(job->state, STR(BUCKET_RUNNING)));
}

static void fill_bucket(struct coordinator *co, const struct catalogue *c,
                        const struct jobs *jobs, const struct stored_job *bucket)
    NEEDS(co->admin_lock)
{
    const struct stored_version *v = catalogue_number(c, bucket->index, bucket->version);
    const struct stored_job *build = build_of(jobs, bucket);
    struct index_build *b = builds_find(co->builds, bucket->index, bucket->version);
    struct err err = {0};

    if (v == NULL || build == NULL || b == NULL || builds_is_over(co->builds, b) ||
        fills_has(co->fills, bucket->id) || fills_n(co->fills, v->index, v->number) >= AT_ONCE)
        return;
    if (!start_fill(co, v, build, bucket, index_build_pipeline(b), &err))
        log_failure(LOG_WARN, &err, "a bucket cannot be filled yet", KV("index", v->index),
                    KV("bucket", (uint64_t)bucket->bucket));
}

static void share_rate(void *ctx, struct index_fill *f)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    const struct str alias = str_from(index_fill_alias(f));
    struct index_build_status s;

    if (builds_status(co->builds, alias, index_fill_number(f), &s))
        index_fill_set_rate(f, share_of(s.rate_limit, s.n_filling));
}

void coordinator_fill_buckets(struct coordinator *co)
{
    struct arena *a;
    struct catalogue *c;
    struct jobs jobs = {0};
    struct err err = {0};

    fills_reap(co->fills);
    fills_each(co->fills, share_rate, co);
    if (builds_n(co->builds) == 0 || !fills_is_due(co->fills))
        return;
    a = arena_new();
    c = coordinator_catalogue(co);
    if (!store_load_jobs(co->opt.store, a, &jobs.list, &jobs.n, &err))
        log_failure(LOG_WARN, &err, "could not load the buckets of the builds");
    for (size_t i = 0; i < jobs.n; i++)
        if (is_open(&jobs.list[i]))
            fill_bucket(co, c, &jobs, &jobs.list[i]);
    catalogue_unref(c);
    arena_free(a);
}

/* ---- stop ---- */

struct version_of {
    struct str alias;
    uint64_t number;
};

static bool is_of_version(void *ctx, const struct index_fill *f)
{
    const struct version_of *v = ctx;

    return str_equal(str_from(index_fill_alias(f)), v->alias) &&
           index_fill_number(f) == v->number;
}

void coordinator_stop_fills(struct coordinator *co, struct str alias, uint64_t number)
{
    struct version_of v = {alias, number};

    fills_remove(co->fills, is_of_version, &v);
}

static bool uses(void *ctx, const struct index_fill *f)
{
    return ctx == NULL || index_fill_pipeline(f) == ctx;
}

void coordinator_pause_fills(struct coordinator *co, const struct pipeline *p)
{
    fills_remove(co->fills, uses, (void *)(uintptr_t)p);
}

static void ask_to_stop(void *ctx, struct index_fill *f)
{
    (void)ctx;
    index_fill_ask_to_stop(f);
}

void coordinator_ask_fills_to_stop(struct coordinator *co)
{
    fills_each(co->fills, ask_to_stop, NULL);
}
