#ifndef REBALANCE_VERSION_BUILD_H
#define REBALANCE_VERSION_BUILD_H

#include "rebalance/state/node.h"

/*
 * Start a build for each changing version that has none.  Fail stopped versions, also those
 * that wait.
 */
void node_resume_builds(struct coordinator *co);
void node_finish_builds(struct coordinator *co);
void node_stop_builds(struct coordinator *co);
/* Ask all builds to stop, without waiting. */
void node_hush_builds(struct coordinator *co);
/*
 * Pause the builds of a pipeline that ends.  node_resume_builds() continues them with the next
 * pipeline.
 */
void node_pause_builds(struct coordinator *co, const struct pipeline *p);
/*
 * Stop the version's build, if it runs, and drop the version.  *dropped is false if the build
 * had ended before: searches use the version, or it is gone.
 */
bool node_drop_build(struct coordinator *co, const struct stored_version *v, bool *dropped,
                     struct err *err) MUST_CHECK;
/*
 * Stop the build, if it runs.  Unless it had ended, node_resume_builds() continues it.  Under
 * admin_lock.
 */
void node_end_build(struct coordinator *co, struct str alias, uint64_t number);

#endif
