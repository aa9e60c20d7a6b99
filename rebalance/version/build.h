/*
 * Which builds run: each version that is being built has one, until it ends, or its topic
 * does.
 */
#ifndef REBALANCE_VERSION_BUILD_H
#define REBALANCE_VERSION_BUILD_H

#include "rebalance/state/parts.h"

/*
 * Start a build for each changing version that has none.  Fail stopped versions, also those
 * that wait.
 */
void coordinator_resume_builds(struct coordinator *co) NEEDS(co->admin_lock);
void coordinator_finish_builds(struct coordinator *co) NEEDS(co->admin_lock);
void coordinator_stop_builds(struct coordinator *co) NEEDS(co->admin_lock);
/* Ask all builds to stop, without waiting. */
void coordinator_ask_builds_to_stop(struct coordinator *co) NEEDS(co->admin_lock);
/*
 * Pause the builds of a pipeline that ends.  coordinator_resume_builds() continues them with
 * the next pipeline.
 */
void coordinator_pause_builds(struct coordinator *co, const struct pipeline *p)
    NEEDS(co->admin_lock);
/*
 * Stop the version's build, if it runs, and drop the version.  *dropped is false if the build
 * had ended before: searches use the version, or it is gone.
 */
bool coordinator_drop_build(struct coordinator *co, const struct stored_version *v,
                            bool *dropped, struct err *err) NEEDS(co->admin_lock) MUST_CHECK;
/*
 * Stop the build, if it runs.  Unless it had ended, coordinator_resume_builds() continues it.
 */
void coordinator_end_build(struct coordinator *co, struct str alias, uint64_t number)
    NEEDS(co->admin_lock);
/*
 * Delete old tombstones, unless a version is being built or waits to be: it repeats these
 * deletes.
 */
void coordinator_drop_tombstones(struct coordinator *co) NEEDS(co->admin_lock);

#endif
