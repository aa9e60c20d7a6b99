/*
 * What becomes of a document: the ends of its writes, with what they count, repeat and store.
 *
 * request and read_batcher call these for the answers of the engine and the results of reads.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_OUTCOME_H
#define SYNC_DELIVERY_OUTCOME_H

#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/sender.h"

struct document;

/* End doc's `now`.  What waits behind it is next. */
void outcome_end(struct sender *s, struct document *doc, enum outcome how);
/* End it as delivered, but without a write. */
void outcome_leave(struct sender *s, struct document *doc);
/* End it and count it for its target: written, or superseded by a newer version. */
void outcome_deliver(struct sender *s, struct document *doc);
void outcome_supersede(struct sender *s, struct document *doc);
/* The engine's pipeline dropped doc: count that, and delete what the index has of it. */
void outcome_drop(struct sender *s, struct document *doc);
/*
 * doc's area cannot be read or written alone: read the whole document.  why: the engine cannot
 * run the script, so areas of this index are not tried for a while; NULL: it can.
 */
void outcome_widen(struct sender *s, struct document *doc, const struct err *why);
/*
 * doc can never be written: make it a dead letter or, if it is an area, try the whole document.
 */
void outcome_refuse(struct sender *s, struct document *doc, int status, struct str reason);
/* The answer for doc was lost: a copy of its write may come late. */
void outcome_lose(struct sender *s, struct document *doc);
/* Its dead letter is stored: end it. */
void outcome_bury(struct sender *s, struct document *doc);
/* Its key is stored: end it, for its row to be read again. */
void outcome_purge(struct sender *s, struct document *doc);
/* Count that doc will be sent again. */
void outcome_count_retry(const struct document *doc);

#endif
