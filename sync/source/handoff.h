/*
 * struct handoff: pass raw events from the reader to the builder, collecting them while the
 * builder is busy.
 *
 * The reader appends to the open chunk; the builder takes the whole chunk when it is ready.  So
 * a single transaction passes at once and a flood passes in large pieces, without a timer.  The
 * bytes held are bounded: a full handoff blocks the reader, and thereby slows the server.
 *
 * @thread one reader and one builder (locked inside); commands may come from any thread
 */
#ifndef SYNC_SOURCE_HANDOFF_H
#define SYNC_SOURCE_HANDOFF_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct handoff_item {
    struct handoff_item *next;
    struct str event;       /* a raw event; ptr NULL for a command */
    char *block;            /* the event's memory, owned; NULL if the event is in the chunk */
    void (*run)(void *ctx); /* called on the builder thread, in stream order */
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

/* Append a copy of the event; blocks while full.  Returns false once closed. */
bool handoff_put_event(struct handoff *h, struct str event) MUST_CHECK;

/*
 * Append an event inside block, which the handoff takes over, and wait until the builder
 * releases it: a large event exists only once, and only one at a time.
 */
bool handoff_put_block(struct handoff *h, struct str event, char *block) MUST_CHECK;
/* Called by the builder when it is done with the item's event, whatever its kind. */
void handoff_let_go(struct handoff *h, struct handoff_item *item);

/* Append a command; never blocks.  Returns false once closed. */
bool handoff_put_command(struct handoff *h, void (*run)(void *ctx), void *ctx) MUST_CHECK;

/*
 * Take everything collected, waiting up to ms.  Returns NULL if nothing came, or if closed and
 * empty.
 */
struct chunk *handoff_take(struct handoff *h, int64_t ms, bool *closed) MUST_CHECK;
void chunk_free(struct chunk *c);

/* Refuse further puts; the builder may still take what is inside. */
void handoff_close(struct handoff *h);

/* Bytes waiting, for metrics. */
size_t handoff_level(struct handoff *h);

#endif
