/*
 * Which of an index version's stored jobs may be worked off now, and which of them together.
 *
 * A job may begin when the stream of its source has come to what it asks for.  A run that began
 * goes on as a whole, or not at all: what is done of it, its cursor and its end count for all of
 * its jobs, so also for one whose change is yet to be read again after a restart.
 *
 * Pure, but for what it asks of the caller.
 *
 * @thread any
 */
#ifndef SYNC_FAN_OUT_JOBS_H
#define SYNC_FAN_OUT_JOBS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stored_fan_out;

struct fan_out_reach {
    struct str topic; /* whose jobs they are */
    bool others;      /* changes of other topics may be worked off */
    /* How far the stream of a topic has come, as a version; 0: it does not run here. */
    uint64_t (*read_of)(void *ctx, struct str topic);
    void *ctx;
};

bool fan_out_job_is_foreign(const struct fan_out_reach *r, const struct stored_fan_out *job);

/* The streams have come to what n jobs ask for. */
bool fan_out_jobs_are_read(const struct fan_out_reach *r, const struct stored_fan_out *jobs,
                           size_t n);

/*
 * Takes those out that another source, which is away or behind, keeps waiting: they do not keep
 * the topic's own waiting.  The others stay in their order; the number of them.
 */
size_t fan_out_jobs_leave_away(const struct fan_out_reach *r, struct stored_fan_out *jobs,
                               size_t n);

/* Those of the first's run, place and source, as many as one statement takes, to out. */
size_t fan_out_jobs_gather(const struct stored_fan_out *jobs, size_t n,
                           struct stored_fan_out *out);

/* The position that all ask for; when the oldest was put, INT64_MAX: there is none. */
uint64_t fan_out_jobs_highest(const struct stored_fan_out *jobs, size_t n);
int64_t fan_out_jobs_oldest_ms(const struct stored_fan_out *jobs, size_t n);

#endif
