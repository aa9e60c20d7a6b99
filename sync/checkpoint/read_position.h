/*
 * What a source's stream reader has read: a position, and the GTIDs up to it.
 *
 * Every re-read takes its stamp from here (docs/rules.md, rule 4).  The position never goes
 * back, even if the stream restarts at an earlier place.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_CHECKPOINT_READ_POSITION_H
#define SYNC_CHECKPOINT_READ_POSITION_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct gtid;
struct gtid_set;
struct read_position;

/* Event ends are at least 19 bytes apart: this many further versions fit above a position. */
#define READ_POSITION_GAP 18

/* version is the stream's start as a document version (epoch, file number, offset). */
struct read_position *read_position_new(uint64_t version) RETURNS_NONNULL MUST_CHECK;
void read_position_free(struct read_position *p);

/* Everything up to version was read. event_ms is the event's wall time, 0 if unknown. */
void read_position_set(struct read_position *p, uint64_t version, int64_t event_ms);
/* Set everything executed before the stream's start; copied. */
void read_position_set_gtids(struct read_position *p, const struct gtid_set *all);
/*
 * Add a transaction that begins with the event ending at version.  It is logged, so re-reads
 * only need to wait until its commit is visible.
 */
void read_position_add_gtid(struct read_position *p, const struct gtid *g, uint64_t version);
/*
 * Append the GTID of the transaction at this place; nothing if it has none or is too long ago.
 */
void read_position_gtid_at(struct read_position *p, uint64_t version, struct buf *out);

/*
 * Set the statement that waits for the commit of the last relevant transaction; copied; empty
 * for none.  See sync/read/commit_wait.h.
 */
void read_position_set_commit_wait(struct read_position *p, struct str sql);

/* Count a commit that may become visible later than its GTID suggests (XA COMMIT). */
void read_position_note_late(struct read_position *p);
/* The count of these. */
uint64_t read_position_late(struct read_position *p);

uint64_t read_position_version(struct read_position *p);
int64_t read_position_event_ms(struct read_position *p);
/*
 * Get position and GTIDs (appended as text) of one moment.  Not complete: the last transaction
 * has no GTID.
 */
uint64_t read_position_get(struct read_position *p, struct buf *gtids, bool *complete);
/* Get position and statement (appended) of one moment. */
uint64_t read_position_get_commit_wait(struct read_position *p, struct buf *sql);

#endif
