/* Purged changes: their keys are stored, and the replay thread reads their rows again. */
#ifndef REBALANCE_DEAD_LETTER_PURGED_H
#define REBALANCE_DEAD_LETTER_PURGED_H

#include "rebalance/state/parts.h"

struct purged_note;
/* The options.purged callback of delivery.  Stores all notes or none.  @thread delivery */
bool coordinator_put_purged(void *ctx, const struct purged_note *notes, size_t n,
                            struct err *err) MUST_CHECK;
/* What is stored, at the start and when a topic comes to this node; topic: empty: of all. */
bool coordinator_load_purged(struct coordinator *co, struct str topic,
                             struct err *err) MUST_CHECK;
/*
 * The replay thread: purged keys, wanted replays of dead letters (replay.h), deletes to repeat
 * (repeats.h).
 */
void coordinator_start_replays(struct coordinator *co);
void coordinator_join_replays(struct coordinator *co);
/* What is purged, by index.  Locked inside. */
struct purged_indexes *purged_indexes_new(void) RETURNS_NONNULL MUST_CHECK;
/* After coordinator_join_replays().  NULL is fine. */
void purged_indexes_free(struct purged_indexes *all);
/*
 * When the oldest of the index's purged changes was stored, in wall time; LAG_NONE if it has
 * none.  @thread any
 */
int64_t coordinator_purged_since(const struct coordinator *co, struct str index);
/* Append "purged": the number of changes still to be rewritten, by index. */
void coordinator_append_purged(struct coordinator *co, struct json_writer *w);

#endif
