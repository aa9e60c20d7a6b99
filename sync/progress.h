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
#include "sync/binlog/gtid.h"
#include "sync/delivery/ticket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct arena;
struct gtid_set;
struct stored_tombstone;

/* The GTID event that opened a transaction, as bytes: its part of the log's fingerprint. */
#define MARK_GTID_BYTES 23

/* The end of a transaction. */
struct mark {
    uint32_t file_number;
    uint64_t offset;
    int64_t event_ms;
    uint64_t gtid_start;                 /* where its GTID event begins, 0: it has none */
    uint8_t gtid_event[MARK_GTID_BYTES]; /* header and checksum of that event */
    struct gtid gtid;                    /* family GTID_NONE without */
};
/* As a document version. */
uint64_t mark_version(const struct mark *m, uint64_t epoch);

struct progress;

struct progress *progress_new(const struct mark *start) RETURNS_NONNULL MUST_CHECK;
void progress_free(struct progress *p);

/* A ticket of the running transaction. */
struct ticket *progress_ticket(struct progress *p) RETURNS_NONNULL MUST_CHECK;

/* The running transaction ends here. */
void progress_commit(struct progress *p, const struct mark *end);

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

/* Nothing is waiting: every transaction that was committed is safe. */
bool progress_idle(struct progress *p);

#endif
