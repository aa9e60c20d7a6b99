/*
 * struct progress: which transactions of a source are done, and what the store needs for that.
 *
 * Couples the checkpoint (what is safe) with positions and tombstones.  A transaction that
 * concerns no document takes no place in the queue: it only moves the end of the one before it.
 * Once many wait, so does every transaction: a held index must not grow memory while other
 * tables go on.
 *
 * @thread builder: commit, concern, tombstone; saver: safe, take_tombstones; others: counters
 */
#ifndef SYNC_CHECKPOINT_PROGRESS_H
#define SYNC_CHECKPOINT_PROGRESS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/checkpoint/safe_point.h"
#include "sync/checkpoint/ticket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct gtid_set;
struct stored_tombstone;

struct progress;

struct progress *progress_new(const struct commit_position *start) RETURNS_NONNULL MUST_CHECK;
void progress_free(struct progress *p);

/* Make a ticket of the current transaction. */
struct ticket *progress_ticket(struct progress *p) RETURNS_NONNULL MUST_CHECK;

/* End the current transaction. */
void progress_commit(struct progress *p, const struct commit_position *end);

/*
 * Hold the safe mark: the transaction committed next takes effect later, and a restart must
 * read it again until progress_release() and the end of the transaction committed with that.
 * Returns the hold's number, never 0.
 */
uint64_t progress_hold(struct progress *p);
/* End the hold once the current transaction is done. */
void progress_release(struct progress *p, uint64_t hold);
/*
 * Get the first place that is held: where the rows begin that have not taken effect before the
 * current transaction.  Returns false if none is.
 */
bool progress_held(struct progress *p, struct commit_position *out) MUST_CHECK;

/*
 * The stream restarts at a transaction's beginning: what the current one opened still counts,
 * and nothing is safe before it is done.
 */
void progress_abandon(struct progress *p);

/* Add a delete that must be durable before the checkpoint passes it.  Copies the strings. */
void progress_tombstone(struct progress *p, struct str index, struct str id, struct str routing,
                        uint64_t version);

/* The current transaction concerns a definition although it has no ticket: a DDL. */
void progress_concern(struct progress *p);

/* How the safe mark moved. */
enum progress_move {
    PROGRESS_STAYS,
    PROGRESS_ASIDE,   /* only past transactions that concern no definition */
    PROGRESS_CHANGES, /* past others, too */
};

/*
 * Get the newest safe mark, and how it moved since the last call.  Adds the GTIDs that became
 * safe to executed.
 */
enum progress_move progress_safe(struct progress *p, struct commit_position *out,
                                 struct gtid_set *executed);

/*
 * Take the tombstones not yet stored, in the arena.  All of them: they may be stored at any
 * time before the checkpoint passes their deletes.
 */
size_t progress_take_tombstones(struct progress *p, struct arena *a,
                                struct stored_tombstone **out);
/* Give tombstones back after a failed save. */
void progress_return_tombstones(struct progress *p, const struct stored_tombstone *t, size_t n);
/* Count the waiting tombstones, for back-pressure. */
size_t progress_tombstones(struct progress *p);

struct ticket_counters *progress_counters(struct progress *p) RETURNS_NONNULL;

/* Count a row left without a document until its parent or root is known (join). */
void progress_count_unrooted(struct progress *p);
uint64_t progress_unrooted(struct progress *p); /* total */

/* The end of what is done, regardless of holds. */
struct commit_position progress_done(struct progress *p);

/*
 * The commit time (wall time) of the oldest transaction not done; 0 if all are done or it is
 * unknown.
 */
int64_t progress_undone_ms(struct progress *p);

/* Tell whether every committed transaction is safe. */
bool progress_idle(struct progress *p);

#endif
