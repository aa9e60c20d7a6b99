/*
 * The thread that reads tables by time (rebalance/poll/table_sync.h), and what status shows of
 * it.
 */
#ifndef REBALANCE_POLL_SYNC_H
#define REBALANCE_POLL_SYNC_H

#include "rebalance/state/parts.h"

/* Start the thread that reads tables by time.  It ends when co->stop is set. */
void coordinator_start_syncs(struct coordinator *co);
void coordinator_join_syncs(struct coordinator *co);
/* What the syncs of each index came to.  Locked inside. */
struct syncs *syncs_new(void) RETURNS_NONNULL MUST_CHECK;
void syncs_free(struct syncs *all); /* NULL is fine; after coordinator_join_syncs() */
/* Append why the index's last sync failed; nothing if it did not.  @thread any */
void coordinator_append_sync_reason(const struct coordinator *co, struct str index,
                                    struct buf *b);
/* The lag of a table that is read by time: changes since the last run are unread.  @thread any
 */
struct lag coordinator_sync_lag(const struct coordinator *co, struct str index);
/*
 * Append the member "sync" of a table's status: null if the version is not read by time.
 * @thread any
 */
void coordinator_append_sync(const struct coordinator *co, struct json_writer *w,
                             const struct table_definition *t, struct str index);

#endif
