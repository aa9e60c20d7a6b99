/*
 * struct write: one operation that delivery holds, and those who wait for it.
 *
 * All its bytes are in one allocation, made by the thread that submits.  When two writes of a
 * document are coalesced, one stands for both: the other's waiters join it and the rest of it
 * is freed.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_WRITE_H
#define SYNC_DELIVERY_WRITE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiter {
    struct waiter *next;
    struct ticket *ticket; /* NULL: none */
    int64_t commit_ms;     /* wall time of the change, 0: none */
};

struct write {
    struct write *next;    /* for whoever queues it */
    struct target *target; /* a reference */
    struct waiter waiter;  /* its own; behind it those it stands for */
    struct waiter *last_waiter;
    uint64_t hash; /* of index, routing and id */
    uint64_t version;
    size_t cost; /* bytes of memory, with its waiters and its place in the document table */
    uint32_t id_len;
    uint32_t routing_len;
    uint32_t key_len;
    uint32_t body_len;
    uint8_t op;     /* enum doc_op */
    uint8_t area;   /* of a DOC_REFRESH or DOC_UPDATE: only this one, from 1; 0: all */
    uint8_t depth;  /* of a DOC_REFRESH */
    bool strict;    /* version_type external */
    bool gathered;  /* of a DOC_REFRESH */
    bool reread;    /* the result of a DOC_REFRESH, can be read again */
    bool fresh;     /* of a DOC_REFRESH, or its result: another source asks for it */
    bool ambiguous; /* was sent and may have been applied: only the same write may follow */
    bool stored;    /* the store has the key, for all who wait for it */
    bool unfit;     /* no engine takes it: its id or its body is too long, or the id empty */
    bool aside;      /* it counts for no worker any more */
    bool unheld;     /* of a DOC_REFRESH that is aside: nor does it hold any of the bytes */
    uint16_t worker; /* it counts for (sync/delivery/mark.h) */
    char bytes[];   /* id, routing, key, body */
};

/* What became of the waiters' work and memory; filled by those who make and end writes. */
struct write_ends {
    size_t taken;               /* bytes of what was read, likewise */
    size_t freed;               /* bytes given back, since the owner last took notice */
    uint64_t ended[N_OUTCOMES]; /* waiters */
    void (*on_end)(void *ctx, const struct write *w, const struct waiter *x, enum outcome how);
    /* A write of this worker counts no more: it ended, was abandoned, stands aside, or another
     * stands for it. */
    void (*on_gone)(void *ctx, unsigned worker);
    void *ctx; /* both may be NULL */
};

/* Longest id that engines take; longest body. */
#define WRITE_ID_MAX   512
#define WRITE_BODY_MAX ((size_t)1 << 30)

/* A copy of in, taking over its ticket and target.  Of what is too long the body is left out. */
struct write *write_new(const struct doc_write *in) RETURNS_NONNULL MUST_CHECK;

/*
 * What was read for refresh: body (ptr NULL: the row is gone, a delete; not of an area) at
 * stamp.  The waiters of refresh move to it and refresh is freed.
 */
struct write *write_of_read(struct write *refresh, uint64_t stamp, struct str body,
                            struct write_ends *ends) RETURNS_NONNULL MUST_CHECK;

/* Of an area: the whole document is to be read instead, at its version or later. */
void write_widen(struct write *w);

#define FRESH_RISE_MAX 8 /* of the 18 that are left above a position */

/*
 * A copy of a write of w's document, at version lost, may come after w, which is newer: where it
 * could undo w, w is read again and written above it.  So is what another source asks for, as far
 * as there is room for others to come, and of several changes of a row in one compressed
 * transaction, which have one version, the later one.
 */
void write_rise_above(struct write *w, uint64_t lost);

/*
 * A DOC_REFRESH that waits for the stream to come further, which whoever waits for its worker, or
 * for room, may have to bring about: it counts for neither any more.  What is read for it counts
 * for no worker, but its bytes are held.
 */
void write_stand_aside(struct write *w, struct write_ends *ends);

/* loser's waiters wait for winner from now on; loser is freed. */
void write_join(struct write *winner, struct write *loser, struct write_ends *ends);

/* Tell all waiters, and free. */
void write_end(struct write *w, enum outcome how, struct write_ends *ends);
/* The same for what was given up: tickets never finish. */
void write_abandon(struct write *w, struct write_ends *ends);
/* Hold the waiters' tickets, of which there are that many, and let them go on without the write. */
size_t write_count_tickets(const struct write *w);
void write_hold_tickets(struct write *w, struct ticket **out, struct write_ends *ends);
/* Hold them as well, and let them wait on. */
void write_share_tickets(const struct write *w, struct ticket **out);
/* Tell the waiters, keep the write without them. */
void write_release_waiters(struct write *w, enum outcome how, struct write_ends *ends);

/* The bytes that it holds of all that may be held. */
size_t write_held(const struct write *w);

/* The hash of (index, routing, id) that also chooses the worker. */
uint64_t write_hash(struct str index, struct str routing, struct str id);

static inline struct str write_id(const struct write *w)
{
    return (struct str){w->bytes, w->id_len};
}

static inline struct str write_routing(const struct write *w)
{
    return (struct str){w->bytes + w->id_len, w->routing_len};
}

static inline struct str write_key(const struct write *w)
{
    return (struct str){w->bytes + w->id_len + w->routing_len, w->key_len};
}

static inline struct str write_body(const struct write *w)
{
    return (struct str){w->bytes + w->id_len + w->routing_len + w->key_len, w->body_len};
}

#endif
