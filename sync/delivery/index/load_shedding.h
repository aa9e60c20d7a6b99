/*
 * struct load_shedding: makes room when an index that takes nothing fills the queues.
 *
 * Purges changes while a worker has more than the high-water mark, or more bytes are held than
 * may be submitted, so that writers to other indexes go on.  The strategy chooses among the
 * changes of indexes that take nothing.  From an index that has refused a part of its documents
 * for long (a red shard), only the lost documents go.  An index that is due to be tried now
 * keeps its changes, as they are what it is tried with.
 *
 * The key of a purged change is stored first, and then the change ends.  Until then it counts
 * for memory and for its worker, but as gone when deciding whether to purge more.
 *
 * Pure, but for the store and the log.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_INDEX_LOAD_SHEDDING_H
#define SYNC_DELIVERY_INDEX_LOAD_SHEDDING_H

#include "src/base/base.h"
#include "sync/delivery/document/document.h"
#include "sync/delivery/index/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_queue;
struct index_queues;
struct load_shedding;
struct worker_backlog;

/* Borrows both.  Purges nothing if opt->purged is NULL. */
struct load_shedding *load_shedding_new(const struct delivery_options *opt,
                                        const struct worker_backlog *backlog,
                                        uint64_t seed) RETURNS_NONNULL MUST_CHECK;
void load_shedding_free(struct load_shedding *r); /* NULL is allowed */

/*
 * Make room for the worker if it has too many.  Call before placing a write that counts for it.
 */
void load_shedding_worker(struct load_shedding *r, const struct index_queues *index_queues,
                          unsigned worker, int64_t now_ms);
/* What else needs room. */
struct load_shedding_need {
    size_t bytes_over; /* bytes held above the limit */
    bool large; /* a large document waits for another (sync/delivery/document/budget.h) */
};
/*
 * Purge what waits for paused indexes, make room for all workers and for `need`, then store
 * some of what was purged.
 */
void load_shedding_turn(struct load_shedding *r, const struct index_queues *index_queues,
                        const struct load_shedding_need *need, int64_t now_ms);
/* Return false if there is nowhere to purge to. */
bool load_shedding_can_purge(const struct load_shedding *r);
/* Purge doc regardless of the strategy.  It must be purgeable and in no queue. */
void load_shedding_purge(struct load_shedding *r, struct document *doc);
/*
 * Take a purged document whose key is durable, or NULL.  The caller ends it as OUTCOME_PURGED.
 */
struct document *load_shedding_next(struct load_shedding *r);

/* The bytes held by what is on its way to the store. */
size_t load_shedding_bytes(const struct load_shedding *r);
int64_t load_shedding_wait_ms(const struct load_shedding *r, int64_t now_ms, int64_t max_ms);

#endif
