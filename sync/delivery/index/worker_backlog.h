/*
 * struct worker_backlog: counts the writes of each worker and makes callers wait while there
 * are too many.
 *
 * A write counts for the worker of its hash from its submission until it ends, is abandoned or
 * joins another.  If the number of workers changes, the owner moves its writes with
 * worker_backlog_move().  A caller whose writes put a worker above the mark waits, after it has
 * submitted, until the worker is no longer above it or the writes were moved.  So with a
 * constant number of workers, a worker has at most the mark plus the writes of each waiting
 * caller.  A read that waits for the stream to advance does not count, because a caller that
 * waits here may be the one that advances the stream (write_stand_aside()).
 *
 * @thread any (atomic; waiting locks inside)
 */
#ifndef SYNC_DELIVERY_INDEX_WORKER_BACKLOG_H
#define SYNC_DELIVERY_INDEX_WORKER_BACKLOG_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker_backlog;
struct stop;
struct write;

#define BACKLOG_WORKERS_MAX 1024

/* The workers that a caller submitted to. */
struct worker_backlog_turn {
    uint64_t workers[BACKLOG_WORKERS_MAX / 64]; /* one bit for each */
};

/*
 * 0 < workers <= BACKLOG_WORKERS_MAX.  A write goes to worker `hash % workers`.  high: the
 * mark, in writes.
 */
struct worker_backlog *worker_backlog_new(unsigned workers,
                                          size_t high) RETURNS_NONNULL MUST_CHECK;
void worker_backlog_free(struct worker_backlog *m); /* nobody may be waiting; NULL is allowed */

/* Count the writes, linked by next, and set their workers. */
void worker_backlog_enter(struct worker_backlog *m, struct write *first,
                          struct worker_backlog_turn *turn);
/* Tell whether a worker of turn is above the mark. */
bool worker_backlog_is_above(const struct worker_backlog *m,
                             const struct worker_backlog_turn *turn);
/*
 * Wait until no worker of turn is above the mark, or m is closed, or stop (may be NULL) is set.
 * Blocks.
 */
void worker_backlog_wait(struct worker_backlog *m, const struct worker_backlog_turn *turn,
                         const struct stop *stop);
/* Count w for its present worker, if it still counts. */
void worker_backlog_move(struct worker_backlog *m, struct write *w);
/* A write of the worker no longer counts. */
void worker_backlog_leave(struct worker_backlog *m, unsigned worker);

size_t worker_backlog_high(const struct worker_backlog *m); /* the mark, in writes */
size_t worker_backlog_count(const struct worker_backlog *m, unsigned worker);
/* Of the worker that has most. */
size_t worker_backlog_most(const struct worker_backlog *m);
size_t worker_backlog_waiting(const struct worker_backlog *m); /* callers */

/* Change both. */
void worker_backlog_set(struct worker_backlog *m, unsigned workers, size_t high);
/* Release everybody who waits, for good. */
void worker_backlog_close(struct worker_backlog *m);

#endif
