#include "config.h"

#include "sync/related/fan_out/jobs.h"

#include "src/base/mem.h"
#include "src/store/later/fan_out.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/resolver.h"

#include <stdlib.h>
#include <string.h>

bool fan_out_job_is_foreign(const struct fan_out_reach *r, const struct stored_fan_out *job)
{
    return !str_equal(job->source, r->topic);
}

bool fan_out_jobs_are_read(const struct fan_out_reach *r, const struct stored_fan_out *jobs,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i].at_least > r->read_of(r->ctx, jobs[i].source) + READ_POSITION_GAP)
            return false;
    return true;
}

static bool is_run_read(const struct fan_out_reach *r, const struct stored_fan_out *jobs,
                        size_t n, size_t at)
{
    if (jobs[at].run == 0)
        return fan_out_jobs_are_read(r, &jobs[at], 1);
    for (size_t i = 0; i < n; i++)
        if (jobs[i].run == jobs[at].run && !fan_out_jobs_are_read(r, &jobs[i], 1))
            return false;
    return true;
}

size_t fan_out_jobs_leave_away(const struct fan_out_reach *r, struct stored_fan_out *jobs,
                               size_t n)
{
    struct stored_fan_out *kept = mem_alloc(n + 1, sizeof(*kept));
    size_t n_kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!fan_out_job_is_foreign(r, &jobs[i]) || (r->others && is_run_read(r, jobs, n, i)))
            kept[n_kept++] = jobs[i];
    memcpy(jobs, kept, n_kept * sizeof(*jobs));
    free(kept);
    return n_kept;
}

size_t fan_out_jobs_due(const struct stored_fan_out *jobs, size_t n, int64_t now_ms)
{
    while (n > 0 && jobs[n - 1].is_repeat && jobs[n - 1].created_ms > now_ms)
        n--;
    return n;
}

int64_t fan_out_jobs_once_more_ms(bool foreign, int64_t settled_ms, int64_t now_ms)
{
    return foreign && settled_ms > 0 ? now_ms + settled_ms : 0;
}

static bool goes_with(const struct stored_fan_out *job, const struct stored_fan_out *first)
{
    return job->run == first->run && job->place == first->place && job->by == first->by &&
           str_equal(job->source, first->source);
}

size_t fan_out_jobs_gather(const struct stored_fan_out *jobs, size_t n,
                           struct stored_fan_out *out)
{
    struct str *keys = mem_alloc(n, sizeof(*keys));
    size_t n_out = 0;

    for (size_t i = 0; i < n; i++)
        if (goes_with(&jobs[i], &jobs[0])) {
            out[n_out] = jobs[i];
            keys[n_out++] = jobs[i].key;
        }
    n_out = resolver_keys_max(keys, n_out);
    free(keys);
    return n_out;
}

uint64_t fan_out_jobs_highest(const struct stored_fan_out *jobs, size_t n)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < n; i++)
        if (jobs[i].at_least > highest)
            highest = jobs[i].at_least;
    return highest;
}

int64_t fan_out_jobs_oldest_ms(const struct stored_fan_out *jobs, size_t n)
{
    int64_t oldest_ms = INT64_MAX;

    for (size_t i = 0; i < n; i++)
        if (jobs[i].created_ms < oldest_ms)
            oldest_ms = jobs[i].created_ms;
    return oldest_ms;
}
