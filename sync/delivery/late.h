/*
 * struct late: what is done about copies of writes that may still come.
 *
 * A write whose answer was lost is repeated until it is answered, but its first copy may be in a
 * queue of the engine for a while, and engines forget deletes: at a shard's restart, at once.  So
 * a delete of such a document is sent again, at its own version, when no copy can come any more.
 * More than some thousands of them are not for memory: their owner purges them.  What comes at
 * the version of such a copy, or is asked for there by another source, is written above it.
 *
 * Of the documents whose answers were lost only hash and version are kept, in a table of fixed
 * size: two that share a place there make a delete be repeated, or a version rise by one, that
 * need not.
 *
 * Pure: the time is handed in.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_LATE_H
#define SYNC_DELIVERY_LATE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct late;
struct write;
struct write_ends;

struct late *late_new(void) RETURNS_NONNULL MUST_CHECK;
void late_free(struct late *l); /* NULL is fine */

/* The answer to w was lost: a copy of it may come until then. */
void late_note(struct late *l, const struct write *w, int64_t now_ms, int64_t until_ms);
/* w is new: it goes above a copy of its document that may still come. */
void late_raise(const struct late *l, struct write *w, int64_t now_ms);
/* May a copy of something older than w still come? */
bool late_may_come(const struct late *l, const struct write *w, int64_t now_ms);
/* w, a delete, is done, and is to be repeated then; each not before the one before. */
void late_repeat(struct late *l, const struct write *w, int64_t due_ms, struct write_ends *ends);
/* Nothing is dropped where there are more, but they hold memory that others wait for. */
bool late_is_full(const struct late *l);
/* A delete that is due, the caller's now; NULL: there is none. */
struct write *late_next(struct late *l, int64_t now_ms);
int64_t late_wait_ms(const struct late *l, int64_t now_ms, int64_t max_ms);

#endif
