#include "config.h"

#include "rebalance/build/build.h"

#include "rebalance/build/reads.h"
#include "rebalance/fill/job.h"
#include "rebalance/fill/parameters.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/search/search.h"
#include "src/store/later/purged.h"
#include "src/store/waiting.h"
#include "sync/checkpoint/read_position.h"
#include "sync/pipeline/pipeline.h"

#include <inttypes.h>
#include <stdlib.h>

struct index_build *index_build_new(const struct index_build_options *opt,
                                    const struct stored_job *job)
{
    struct index_build *b = mem_alloc(1, sizeof(*b));

    b->magic = MAGIC_index_build;
    b->opt = *opt;
    pipeline_ref(opt->pipeline);
    b->alias = mem_copy(opt->alias);
    b->index = mem_copy(opt->index);
    b->final_settings = mem_copy(opt->final_settings);
    b->opt.bucket_column = b->bucket_column = mem_copy(opt->bucket_column);
    b->opt.node = b->node = mem_copy(opt->node);
    stop_init(&b->stop);
    lock_init(&b->lock, LOCK_build_lock);
    b->arena = arena_new();
    b->job = *job;
    b->job.kind = arena_copy(b->arena, job->kind);
    b->job.index = arena_copy(b->arena, job->index);
    b->job.table = arena_copy(b->arena, job->table);
    b->job.parameters = arena_copy(b->arena, job->parameters);
    b->job.cursor = arena_copy(b->arena, job->cursor); /* an earlier release filled so far */
    b->job.error = STR("");
    b->complete = str_equal(job->state, STR(JOB_COMPLETE));
    b->job.state = STR("running");
    b->resumed = job->cursor.len > 0;
    b->rows = job->rows_total;
    b->phase = "waiting";
    return b;
}

void index_build_free(struct index_build *b)
{
    if (b == NULL)
        return;
    mysql_conn_close(b->conn);
    pipeline_unref(b->opt.pipeline);
    arena_free(b->arena);
    buf_free(&b->differs);
    lock_fini(&b->lock);
    stop_fini(&b->stop);
    free(b->alias);
    free(b->index);
    free(b->final_settings);
    free(b->bucket_column);
    free(b->node);
    MAGIC_END(index_build, b);
    free(b);
}

/*
 * Wait until changes made so far that lead to very many documents
 * (sync/related/fan_out/fan_out.h) are in them.
 */
static bool wait_for_fan_outs(struct index_build *b, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();

    while (pipeline_fan_out_oldest_ms(b->opt.pipeline, str_from(b->index)) <= now_ms)
        if (!build_wait(b, err))
            return false;
    return true;
}

/*
 * Wait until the cascades have followed every row found gone so far. They need the documents of
 * such rows to find what foreign keys changed along with them, also documents of older
 * versions, and nobody looks at those once searches use this version.
 */
static bool wait_for_gone(struct index_build *b, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();

    while (pipeline_gone_oldest_ms(b->opt.pipeline, str_from(b->alias)) <= now_ms)
        if (!build_wait(b, err))
            return false;
    return true;
}

static bool has_purged(struct index_build *b, bool *has, struct err *err)
{
    struct arena *a = arena_new();
    struct purged_count *counts;
    size_t n = 0;
    const bool ok = store_count_purged(b->opt.store, a, STR(""), &counts, &n, err);

    *has = false;
    for (size_t i = 0; ok && i < n; i++)
        *has = *has || str_equal(counts[i].index, str_from(b->index));
    arena_free(a);
    return ok;
}

/* Also wait for keys purged while this version was unavailable. */
static bool wait_for_purged(struct index_build *b, struct err *err)
{
    bool has = true;

    while (has) {
        if (!has_purged(b, &has, err)) {
            if (!build_survive(b, err))
                return false;
        } else if (has && !build_wait(b, err)) {
            return false;
        }
    }
    return true;
}

/* The rows are written: set the step that the build waits for now. */
static void await(struct index_build *b, const char *step)
{
    build_set_phase(b, "finishing", NULL);
    lock_acquire(&b->lock);
    b->step = step;
    lock_release(&b->lock);
}

/*
 * A version that waited is not counted again: it is published with every change committed by
 * now.
 */
static bool catch_up_with_log(struct index_build *b, struct err *err)
{
    uint64_t end;

    while ((b->conn == NULL && !build_connect(b, err)) || !build_log_end(b, &end, err))
        if (!build_survive(b, err))
            return false;
    return build_catch_up(b, end, err);
}

static bool wait_for_stream(struct index_build *b, struct err *err)
{
    await(b, "waiting for changes made while rows were read");
    if (!(b->complete
              ? catch_up_with_log(b, err)
              : build_catch_up(
                    b, read_position_version(pipeline_read_position(b->opt.pipeline)), err)))
        return false;
    await(b, "waiting for changes of rows that very many documents show: millrace job list");
    if (!wait_for_fan_outs(b, err))
        return false;
    await(b, "waiting for rows that foreign keys deleted or changed: millrace status");
    if (!wait_for_gone(b, err))
        return false;
    await(b, "waiting for purged changes: millrace status");
    return wait_for_purged(b, err);
}

/*
 * Whether documents can be compared with rows: not if rows change unseen, or a pipeline of the
 * engine changes documents, unless a person wants to know.
 */
static bool compares(const struct index_build *b)
{
    return b->opt.compare != NULL && !b->complete && b->opt.check != BUILD_CHECK_NONE &&
           (b->opt.check == BUILD_CHECK_FULL || (!b->opt.synced && !b->opt.piped));
}

/* Afterwards, the version has every change that was read meanwhile. */
static bool compare(struct index_build *b, struct err *err)
{
    const struct build_question q = {.job = b->job.id,
                                     .table = b->job.table,
                                     .index = str_from(b->alias),
                                     .number = b->opt.number,
                                     .all = b->opt.check == BUILD_CHECK_FULL,
                                     .stop = &b->stop};

    if (!compares(b))
        return true;
    await(b, "comparing documents with their rows");
    buf_clear(&b->differs);
    if (!b->opt.compare(b->opt.ctx, &q, &b->differs, err))
        return false;
    FAILPOINT(build_compared);
    return build_catch_up(b, read_position_version(pipeline_read_position(b->opt.pipeline)),
                          err);
}

static bool finish(struct index_build *b, struct err *err)
{
    build_set_phase(b, "finishing", NULL);
    FAILPOINT(build_filled);
    if (!b->complete) {
        await(b, "asking again for what foreign keys changed while rows were read");
        while (!build_repeat_searches(b, err))
            if (!build_survive(b, err))
                return false;
    }
    if (!wait_for_stream(b, err))
        return false;
    await(b, "counting rows and documents");
    /* Refresh here, too: the stream does not stand still yet. */
    while (!build_repeat_deletes(b, err) ||
           !search_refresh(b->opt.search, str_from(b->index), err))
        if (!build_survive(b, err))
            return false;
    if (!b->complete && !b->opt.synced && !build_count_rows(b, err))
        return false;
    FAILPOINT(build_counted);
    if (!compare(b, err))
        return false;
    await(b, "publishing the version");
    return build_publish(b, err);
}

static void *build_main(void *arg)
{
    struct index_build *b = MAGIC_CAST(index_build, arg);
    struct err err = {0}, saved = {0};

    log_info("index build runs", KV("index", (const char *)b->index),
             KV("start", b->opt.start));

    const bool ok = (b->complete || build_fill(b, &err)) && finish(b, &err);

    if (!ok && err.kind == ERR_STOP && stop_is_set(&b->stop)) {
        if (!build_save(b, &saved))
            log_failure(LOG_INFO, &saved, "could not store the state of the index build",
                        KV("index", (const char *)b->index));
        return NULL;
    }
    b->opt.done(b->opt.ctx, b, ok ? NULL : &err);
    return NULL;
}

void index_build_start(struct index_build *b)
{
    b->started = true;
    b->thread = thread_start("build", build_main, b);
}

void index_build_ask_to_stop(struct index_build *b)
{
    lock_acquire(&b->lock);
    stop_set(&b->stop);
    if (b->conn != NULL)
        mysql_conn_interrupt(b->conn);
    lock_release(&b->lock);
}

void index_build_nudge(struct index_build *b)
{
    stop_nudge(&b->stop);
}

void index_build_stop(struct index_build *b)
{
    index_build_ask_to_stop(b);
    if (b->started)
        pthread_join(b->thread, NULL);
    b->started = false;
}

struct pipeline *index_build_pipeline(const struct index_build *b)
{
    return b->opt.pipeline;
}

/* It is stored with the job, so that it survives a restart and other nodes see it. */
void index_build_set(struct index_build *b, const struct job_change *c)
{
    struct buf parameters = {0};

    lock_acquire(&b->lock);

    struct job_parameters p = job_parameters_read(b->job.parameters);

    if (c->sets_rate)
        p.rate = c->rate;
    if (c->sets_nodes)
        p.nodes = c->nodes;
    job_parameters_append(&parameters, &p);
    b->job.parameters = arena_copy(b->arena, buf_str(&parameters));
    lock_release(&b->lock);
    buf_free(&parameters);
    __atomic_store_n(&b->rate_limit, p.rate, __ATOMIC_RELAXED);
}

const char *index_build_alias(const struct index_build *b)
{
    return b->alias;
}

uint64_t index_build_number(const struct index_build *b)
{
    return b->opt.number;
}

struct index_build_status index_build_status(struct index_build *b)
{
    lock_acquire(&b->lock);

    const struct index_build_status s = {
        .job_id = b->job.id,
        .number = b->opt.number,
        .rows_done = job_shown_done(b->job.rows_done, b->job.rows_total),
        .rows_total = b->job.rows_total,
        .dead = b->dead,
        .rate = b->pace.rate,
        .remaining_s = job_remaining_s(
            &(struct job_pace){.rate = b->pace.rate - job_growth_rate(&b->growth)},
            b->job.rows_done, b->job.rows_total),
        .growth = (uint64_t)(job_growth_rate(&b->growth) + 0.5),
        .slow = b->slow,
        .rate_limit = __atomic_load_n(&b->rate_limit, __ATOMIC_RELAXED),
        .phase = b->phase,
        .step = b->step,
        .why = b->why,
    };

    lock_release(&b->lock);
    return s;
}
