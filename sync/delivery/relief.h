/*
 * struct relief: makes room where an index that takes nothing fills the queues.
 *
 * While a worker has more changes than the high-water mark, or more bytes are held than may be
 * submitted, changes of indexes that take nothing are purged, as the strategy says, so that
 * whoever writes to the others goes on, and of one that has not taken a part of its documents
 * for long (a red shard) those that it did not take; but not of one that is to be tried now, which they are for.  What is purged is stored by its key first and ends
 * then; its memory and its place count until that.  What is on its way there counts as gone
 * where it is asked whether more must go.
 *
 * Pure but for the store and the log.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_RELIEF_H
#define SYNC_DELIVERY_RELIEF_H

#include "src/base/base.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mark;
struct outlet;
struct relief;

/* Both are borrowed.  Without options.purged nothing is purged. */
struct relief *relief_new(const struct delivery_options *opt, const struct mark *mark,
                          uint64_t seed) RETURNS_NONNULL MUST_CHECK;
void relief_free(struct relief *r); /* NULL is fine */

/* The outlets that there are. */
struct relief_outlets {
    struct outlet *const *items;
    size_t n;
};
/* Where the worker has too many: call before a write that counts for it is placed. */
void relief_worker(struct relief *r, const struct relief_outlets *outlets, unsigned worker,
                   int64_t now_ms);
/* Of all workers, and of bytes: `held` are more than may be submitted by `over` (0: they are not).
 * Then some of what waits is stored. */
void relief_turn(struct relief *r, const struct relief_outlets *outlets, size_t bytes_over,
                 int64_t now_ms);
/* False: there is nowhere to purge to. */
bool relief_can_purge(const struct relief *r);
/* doc, which may be and is in no queue, is purged whatever the strategy. */
void relief_purge(struct relief *r, struct document *doc);
/* Purged and durable, or NULL; whoever gets it ends it as OUTCOME_PURGED. */
struct document *relief_next(struct relief *r);

/* The memory of what is on its way to the store. */
size_t relief_bytes(const struct relief *r);
int64_t relief_wait_ms(const struct relief *r, int64_t now_ms, int64_t max_ms);

#endif
