/*
 * The thread of the delayed runs: it brings on those of this node's topics, begins one where a
 * table is not delayed any more, and forgets what was done a week ago.
 */
#ifndef REBALANCE_DELAYED_RUNS_H
#define REBALANCE_DELAYED_RUNS_H

#include "rebalance/state/parts.h"

/* Start the thread.  It ends when co->stop is set. */
void coordinator_start_delayed(struct coordinator *co);
void coordinator_join_delayed(struct coordinator *co);

/*
 * Begin a run of the topic, with run->table or run->one; as store_begin_snapshot_run().  It
 * takes what waits at the call, and first stores a position behind it, if that takes no more
 * than seconds: what is read again after a restart is then not what a run has taken.  Refused
 * (TURN_TAKEN) while an index is built whose documents it would write.
 */
struct snapshot_run;
bool coordinator_begin_delayed(struct coordinator *co, struct arena *a, struct str topic,
                               struct snapshot_run *run, bool *busy,
                               struct err *err) MUST_CHECK;

/* What is known of them.  Locked inside. */
struct delayed_runs *delayed_runs_new(void) RETURNS_NONNULL MUST_CHECK;
void delayed_runs_free(struct delayed_runs *all); /* NULL is fine; after the join */

/* Append for what the run of this node's topic waits; nothing: it goes on.  @thread any */
void delayed_runs_append_why(struct delayed_runs *all, struct str topic, struct buf *out);
/* The same of any topic, as its owner has told it last.  @thread any */
#define DELAYED_TOLD "delayed_waits_for" /* in what it tells (rebalance/tell/tell.h) */
void coordinator_append_delayed_why(struct coordinator *co, struct str topic, struct buf *out);

#endif
