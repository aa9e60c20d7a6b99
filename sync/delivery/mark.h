/*
 * struct mark: how many writes each worker has, and the callers that wait for there to be fewer.
 *
 * A write counts from when it is handed over until it has ended, been abandoned, or joined
 * another, for the worker of its hash; when their number changes, whoever has it moves it.
 * Whoever hands over so many that a worker has more than the mark waits, after that, until it has
 * not, or what it handed over was moved: so while their number stays, a worker has at most the
 * mark and what each caller that waits handed over.  What cannot be read
 * before the stream has come further does not count, as only who waits here may bring that about
 * (write_stand_aside()).
 *
 * @thread any (atomic; those who wait lock inside)
 */
#ifndef SYNC_DELIVERY_MARK_H
#define SYNC_DELIVERY_MARK_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mark;
struct stop;
struct write;

#define MARK_WORKERS_MAX 1024

/* The workers that somebody handed something to. */
struct mark_turn {
    uint64_t workers[MARK_WORKERS_MAX / 64]; /* a bit for each */
};

/* 0 < workers <= MARK_WORKERS_MAX; a write is handed to worker `hash modulo workers`. */
struct mark *mark_new(unsigned workers, size_t high) RETURNS_NONNULL MUST_CHECK;
void mark_free(struct mark *m); /* nobody may be waiting; NULL is fine */

/* Count the writes, linked by next, and note their workers in them. */
void mark_enter(struct mark *m, struct write *first, struct mark_turn *turn);
/* A worker of turn is above the mark. */
bool mark_is_above(const struct mark *m, const struct mark_turn *turn);
/* Wait until none of them is, or it is closed, or stop (may be NULL) is set.  Blocks. */
void mark_wait(struct mark *m, const struct mark_turn *turn, const struct stop *stop);
/* It counts for the worker that it is of now, where it still counts. */
void mark_move(struct mark *m, struct write *w);
/* A write of the worker is no more. */
void mark_leave(struct mark *m, unsigned worker);

size_t mark_count(const struct mark *m, unsigned worker);
size_t mark_waiting(const struct mark *m); /* callers */

/* From now on. */
void mark_set(struct mark *m, unsigned workers, size_t high);
/* Nobody waits any more. */
void mark_close(struct mark *m);

#endif
