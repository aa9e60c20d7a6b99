/*
 * Decide which stored jobs of an index version may be worked off now, and which of them
 * together.
 *
 * A job may begin when its source's stream has reached the position that the job asks for.  A
 * run that has begun continues as a whole or not at all: its progress, cursor and end count for
 * all its jobs, even for one whose change the stream has yet to read again after a restart.
 *
 * An earlier daemon may have left writes in flight when it was killed, and the engine may apply
 * them late.  If the root's log stands still, they have the versions of what is written now for
 * a change of another topic, or higher ones.  So such jobs run once more when no copy can
 * arrive any more.
 *
 * Pure, except for the caller's read_of().
 *
 * @thread any
 */
#ifndef SYNC_RELATED_FAN_OUT_JOBS_H
#define SYNC_RELATED_FAN_OUT_JOBS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stored_fan_out;

struct fan_out_reach {
    struct str topic; /* the topic that works off the jobs */
    bool others;      /* jobs for changes of other topics may begin */
    /* The position that a topic's stream has read, as a version; 0: it does not run here. */
    uint64_t (*read_of)(void *ctx, struct str topic);
    void *ctx;
};

bool fan_out_job_is_foreign(const struct fan_out_reach *r, const struct stored_fan_out *job);

/* Tell whether the streams have read what n jobs ask for. */
bool fan_out_jobs_are_read(const struct fan_out_reach *r, const struct stored_fan_out *jobs,
                           size_t n);

/*
 * Returns how many of n jobs, in the order of the store, may run at now_ms: the others wait to
 * run once more.
 */
size_t fan_out_jobs_due(const struct stored_fan_out *jobs, size_t n, int64_t now_ms);

/*
 * Returns when, in wall time, a run that ends now is to run once more; 0: not at all.
 * settled_ms: how long it still takes until no copy arrives any more; 0 or less: it is over.
 */
int64_t fan_out_jobs_once_more_ms(bool foreign, int64_t settled_ms, int64_t now_ms);

/*
 * Remove the jobs that wait for another source, one that is away or behind, so that the topic's
 * own jobs need not wait for them.  Keeps the order; returns the number left.
 */
size_t fan_out_jobs_leave_away(const struct fan_out_reach *r, struct stored_fan_out *jobs,
                               size_t n);

/*
 * Copy to out the jobs that can run with the first one (same run, place, key kind and source),
 * as many as one statement takes.  Returns their number.
 */
size_t fan_out_jobs_gather(const struct stored_fan_out *jobs, size_t n,
                           struct stored_fan_out *out);

/*
 * Returns the position that covers all jobs, and when the oldest job was stored, INT64_MAX
 * without jobs.
 */
uint64_t fan_out_jobs_highest(const struct stored_fan_out *jobs, size_t n);
int64_t fan_out_jobs_oldest_ms(const struct stored_fan_out *jobs, size_t n);

#endif
