#include "config.h"

#include "rebalance/build/build.h"

#include "rebalance/build/reads.h"
#include "rebalance/fill/parameters.h"
#include "rebalance/fill/targets.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/store/waiting.h"
#include "sync/pipeline/pipeline.h"
#include "sync/routing/routing.h"

#define RETRY_MS 1000

void build_set_phase(struct index_build *b, const char *phase, const struct err *why)
{
    lock_acquire(&b->lock);
    b->phase = phase;
    b->step = NULL;
    b->why = why != NULL ? *why : (struct err){0};
    lock_release(&b->lock);
}

bool build_save(struct index_build *b, struct err *err)
{
    lock_acquire(&b->lock);

    struct stored_job job = b->job;
    struct job_parameters p = job_parameters_read(job.parameters);

    p.growth = (uint64_t)(job_growth_rate(&b->growth) + 0.5);
    p.slow = b->slow;
    lock_release(&b->lock);

    struct buf parameters = {0};

    job_parameters_append(&parameters, &p);
    job.parameters = buf_str(&parameters);
    job.state = b->complete ? STR(JOB_COMPLETE) : STR("running");
    job.updated_ms = clock_wall_ms();

    const bool ok = store_save_job(b->opt.store, b->opt.term, &job, err);

    buf_free(&parameters);
    return ok;
}

bool build_is_stopping(struct index_build *b, struct err *err)
{
    return stop_is_set(&b->stop) && !err_set(err, ERR_STOP, "stopping");
}

/* Nobody needs a version that was stopped. */
static bool is_given_up(struct index_build *b, struct err *err)
{
    struct err why = {0};
    struct target *t = version_target(b->opt.pipeline, b->index, STR(""), &why);
    const bool given_up = t == NULL && why.kind == ERR_REJECT;

    target_unref(t);
    if (given_up)
        *err = why;
    return given_up;
}

bool build_may_go_on(struct index_build *b, struct err *err)
{
    return !build_is_stopping(b, err) && !is_given_up(b, err);
}

bool build_wait(struct index_build *b, struct err *err)
{
    stop_wait(&b->stop, BUILD_POLL_MS);
    return build_may_go_on(b, err);
}

/* Waits for RETRY_MS, or until a topic that was not followed yet is followed. */
static void wait_to_retry(struct index_build *b)
{
    const int64_t until = clock_mono_ms() + RETRY_MS;
    const bool settled = pipeline_is_settled(b->opt.pipeline);

    while (!stop_is_set(&b->stop) && clock_mono_ms() < until &&
           (settled || !pipeline_is_settled(b->opt.pipeline)))
        stop_wait(&b->stop, BUILD_POLL_MS);
}

/* Drops the connections, waits out temporary trouble, and lets anything else end the build. */
bool build_survive(struct index_build *b, struct err *err)
{
    build_disconnect(b);
    if (err->kind != ERR_RETRY)
        return false;
    build_set_phase(b, "waiting", err);
    log_failure(LOG_WARN, err, "the index build waits", KV("index", (const char *)b->index));
    wait_to_retry(b);
    return !build_is_stopping(b, err);
}

/* Searches must not see the new version before it has every change of the log read so far. */
bool build_catch_up(struct index_build *b, uint64_t to, struct err *err)
{
    while (!pipeline_done_up_to(b->opt.pipeline, to))
        if (!build_wait(b, err))
            return false;
    return true;
}
