/*
 * struct delete_repeater: guards against copies of writes that may still arrive at the engine.
 *
 * A write whose answer was lost is repeated until it is answered, but its first copy may stay
 * in a queue of the engine for a while.  Engines forget deletes, at a shard's restart at once.
 * So the delete of such a document is sent again, at its own version, once no copy can come any
 * more.  Memory holds some thousands of these (delete_repeater_is_full()); the owner purges the
 * others. After a kill they are found in the store: a position is not final while a delete
 * before it must be repeated (rebalance/dead_letter/repeats.c).  A new write at the version of
 * such a copy, or a read that another source requests there, is raised above that version.
 *
 * For documents whose answers were lost we keep only hash and version, in a table of fixed
 * size.  If two share a slot, a delete is repeated or a version raised by one without need.
 *
 * Pure: the caller passes the time.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_DOCUMENT_DELETE_REPEATER_H
#define SYNC_DELIVERY_DOCUMENT_DELETE_REPEATER_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delete_repeater;
struct write;
struct write_ends;

struct delete_repeater *delete_repeater_new(void) RETURNS_NONNULL MUST_CHECK;
void delete_repeater_free(struct delete_repeater *l); /* NULL is allowed */

/* The answer to w was lost: a copy of it may come until until_ms. */
void delete_repeater_note(struct delete_repeater *l, const struct write *w, int64_t now_ms,
                          int64_t until_ms);
/* w is new: raise it above a copy of its document that may still come. */
void delete_repeater_raise(const struct delete_repeater *l, struct write *w, int64_t now_ms);
/* Tell whether a late copy of an index or update of w's document may still come. */
bool delete_repeater_may_come(const struct delete_repeater *l, const struct write *w,
                              int64_t now_ms);
/* w, a delete, is done: repeat it at due_ms. */
void delete_repeater_repeat(struct delete_repeater *l, const struct write *w, int64_t due_ms,
                            struct write_ends *ends);
/* Deletes that are still to be repeated or whose repeat has not ended.  @thread any */
size_t delete_repeater_repeats(const struct delete_repeater *l);
/*
 * Tell whether many are waiting.  delete_repeater_repeat() never drops any, but they hold
 * memory that others wait for.
 */
bool delete_repeater_is_full(const struct delete_repeater *l);
/* Take a delete that is due, or NULL. */
struct write *delete_repeater_next(struct delete_repeater *l, int64_t now_ms);
int64_t delete_repeater_wait_ms(const struct delete_repeater *l, int64_t now_ms,
                                int64_t max_ms);

#endif
