/*
 * What the stream reader of a source has read: a position, and the GTIDs up to it.
 *
 * The stamp of every re-read comes from here (design part 7, rule 4).  The position never goes
 * back, also when the stream starts again from an earlier place.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_READ_POSITION_H
#define SYNC_READ_POSITION_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct gtid;
struct gtid_set;
struct read_position;

/* Event ends are at least 19 bytes apart: so many further bodies fit above a position. */
#define READ_POSITION_GAP 18

/* version: where the stream starts, as a document version (epoch, file number, offset). */
struct read_position *read_position_new(uint64_t version) RETURNS_NONNULL MUST_CHECK;
void read_position_free(struct read_position *p);

/* Everything up to version was read; event_ms is the event's wall time, 0 unknown. */
void read_position_set(struct read_position *p, uint64_t version, int64_t event_ms);
/* Everything executed before the stream's start; copied. */
void read_position_set_gtids(struct read_position *p, const struct gtid_set *all);
/* One more transaction begins to be read, with the event that ends at version: it is in the log,
 * so its commit only has to be seen. */
void read_position_add_gtid(struct read_position *p, const struct gtid *g, uint64_t version);
/* Append the GTID of the transaction that a place is in; nothing where it has none, or very many
 * were read since. */
void read_position_gtid_at(struct read_position *p, uint64_t version, struct buf *out);

/*
 * The statement that waits for the commit of the last transaction that matters (copied); empty:
 * there is none.  @see sync/witness.h
 */
void read_position_set_witness(struct read_position *p, struct str sql);

/* A commit was read that may be visible later than its GTID says (XA COMMIT). */
void read_position_note_late(struct read_position *p);
/* How many there were. */
uint64_t read_position_late(struct read_position *p);

uint64_t read_position_version(struct read_position *p);
int64_t read_position_event_ms(struct read_position *p);
/* Position and GTIDs (text, appended) of one moment.  Not complete: the last transaction has
 * none. */
uint64_t read_position_get(struct read_position *p, struct buf *gtids, bool *complete);
/* Position and witness (appended) of one moment. */
uint64_t read_position_get_witness(struct read_position *p, struct buf *sql);

#endif
