/*
 * The builds that a delayed run asks for, before it puts anything else: of the indexes that
 * show a whole table as it was (src/store/later/whole_table.h).
 *
 * They are asked for as after any statement (rebalance/version/rebuild.h), so the owner of each
 * index begins its own.  While the run waits, it is in no build's way
 * (rebalance/state/turns.h). One that fails, or that nobody begins, is not repeated: the run
 * goes on without it, and the snapshot waits for the next run and says why.
 *
 * @thread the delayed runs'
 */
#ifndef REBALANCE_DELAYED_BUILDS_H
#define REBALANCE_DELAYED_BUILDS_H

#include "rebalance/delayed/page.h"

#define BUILD_BEGIN_MS 360000 /* for a build to begin: rebuilds pause for up to 5 minutes */

/* Sets r->waits_for while builds go on; else it is NULL.  Blocks on the store. */
bool delayed_builds_step(struct delayed_run *r, struct err *err) MUST_CHECK;
/* Before the end of the run: sets r->n_unbuilt.  Blocks on the store. */
bool delayed_builds_count(struct delayed_run *r, struct err *err) MUST_CHECK;

#endif
