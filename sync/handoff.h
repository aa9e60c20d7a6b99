/*
 * struct handoff: raw events from the reader to the builder, gathered while the builder is
 * busy.
 *
 * The reader appends to the open chunk; the builder takes the whole chunk when it has time.  So
 * a lone transaction goes at once and a flood goes in large pieces, without a timer.  The bytes
 * held are bounded: a full handoff makes the reader wait, which is the back-pressure on the
 * server.
 *
 * @thread one reader and one builder (locked inside); commands may come from any thread
 */
#ifndef SYNC_HANDOFF_H
#define SYNC_HANDOFF_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct handoff_item {
    struct handoff_item *next;
    struct str event;       /* a raw event; ptr NULL: a command */
    void (*run)(void *ctx); /* runs on the builder thread, in its place in the stream */
    void *ctx;
};

struct chunk {
    struct arena *arena;
    struct handoff_item *first, **last;
    size_t bytes;
};

struct handoff;

struct handoff *handoff_new(size_t bytes_max) RETURNS_NONNULL MUST_CHECK;
void handoff_free(struct handoff *h);

/* Append a copy of the event, waiting while full.  False once closed. */
bool handoff_put_event(struct handoff *h, struct str event) MUST_CHECK;

/* Append a command; never waits.  False once closed. */
bool handoff_put_command(struct handoff *h, void (*run)(void *ctx), void *ctx) MUST_CHECK;

/* Everything that has gathered, waiting up to ms; NULL when nothing came or closed and empty.
 */
struct chunk *handoff_take(struct handoff *h, int64_t ms, bool *closed) MUST_CHECK;
void chunk_free(struct chunk *c);

/* No more puts; what is inside can still be taken. */
void handoff_close(struct handoff *h);

/* Bytes waiting, for metrics. */
size_t handoff_level(struct handoff *h);

#endif
