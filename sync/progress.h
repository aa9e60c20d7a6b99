/*
 * struct progress: which transactions of a source are done, and what must be stored for it.
 *
 * Couples the checkpoint (what is safe) with the positions and tombstones that belong to it.  A
 * transaction that concerns no document takes no place in the line: it only moves the end of
 * the one before it; and so does every one once many wait, so that a held index does not make
 * memory grow while other tables go on.
 *
 * @thread builder: begin, commit, tombstone; saver: safe, take_tombstones; others: counters
 */
#ifndef SYNC_PROGRESS_H
#define SYNC_PROGRESS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/ticket.h"
#include "sync/safe_point.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct gtid_set;
struct stored_tombstone;

struct progress;

struct progress *progress_new(const struct mark *start) RETURNS_NONNULL MUST_CHECK;
void progress_free(struct progress *p);

/* A ticket of the running transaction. */
struct ticket *progress_ticket(struct progress *p) RETURNS_NONNULL MUST_CHECK;

/* The running transaction ends here. */
void progress_commit(struct progress *p, const struct mark *end);

/*
 * The transaction that is committed next takes effect only later, and must be read again after
 * a restart until progress_release() and the end of what was committed with it.  The hold's
 * number, never 0.
 */
uint64_t progress_hold(struct progress *p);
/* The running transaction makes it unnecessary. */
void progress_release(struct progress *p, uint64_t hold);

/* The stream starts anew at a transaction's beginning: what the running one opened stays
 * counted, and nothing is safe before it is done. */
void progress_abandon(struct progress *p);

/* A delete that must be durable before the checkpoint passes it; the strings are copied. */
void progress_tombstone(struct progress *p, struct str index, struct str id, struct str routing,
                        uint64_t version);

/*
 * The newest safe mark; true when it moved since the last call.  The GTIDs that became safe are
 * added to executed.
 */
bool progress_safe(struct progress *p, struct mark *out, struct gtid_set *executed);

/*
 * The tombstones that are not stored yet, removed from here; in the arena.  They may be stored
 * at any time before the checkpoint passes their deletes, so all of them are given out.
 */
size_t progress_take_tombstones(struct progress *p, struct arena *a,
                                struct stored_tombstone **out);
/* They could not be stored: back they go. */
void progress_return_tombstones(struct progress *p, const struct stored_tombstone *t, size_t n);
/* How many wait, for back-pressure. */
size_t progress_tombstones(struct progress *p);

struct ticket_counters *progress_counters(struct progress *p) RETURNS_NONNULL;

/* A row change left a row that has no document until its parent or root is known (join). */
void progress_count_unrooted(struct progress *p);
uint64_t progress_unrooted(struct progress *p); /* so far */

/* The end of what is done, whatever holds the safe mark back. */
struct mark progress_done(struct progress *p);

/* Nothing is waiting: every transaction that was committed is safe. */
bool progress_idle(struct progress *p);

#endif
