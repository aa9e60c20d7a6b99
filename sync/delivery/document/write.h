/*
 * struct write: one operation that delivery holds, and those who wait for it.
 *
 * It is one allocation, made by the submitting thread.  When two writes of a document are
 * coalesced, one stands for both: it gets the other's waiters, and the other is freed.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_DOCUMENT_WRITE_H
#define SYNC_DELIVERY_DOCUMENT_WRITE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/document/budget.h"
#include "sync/delivery/document/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiter {
    struct waiter *next;
    struct ticket *ticket; /* may be NULL */
    int64_t commit_ms;     /* wall time of the change; 0: none */
};

struct write {
    struct write *next;          /* for whoever queues it */
    struct target *target;       /* a reference */
    struct allowance *allowance; /* of its index; NULL: its bytes are not counted */
    struct waiter waiter;        /* its own, then those of the writes it stands for */
    struct waiter *last_waiter;
    uint64_t hash; /* of index, routing and id */
    uint64_t version;
    uint64_t value; /* DOC_INDEX: a hash of its value (sync/delivery/entries.h); 0: unknown */
    size_t cost;    /* bytes of memory, with its waiters and its entry in the document table */
    uint32_t id_len;
    uint32_t routing_len;
    uint32_t key_len;
    uint32_t body_len;
    uint8_t op;      /* enum doc_op */
    uint8_t area;    /* DOC_REFRESH, DOC_UPDATE: this area only, from 1; 0: all */
    bool strict;     /* version_type external */
    bool gathered;   /* a job submits it, or one it stands for, with many others */
    bool reread;     /* the result of a DOC_REFRESH; can be read again */
    bool fresh;      /* a DOC_REFRESH, or its result, that another source requests */
    bool ambiguous;  /* sent and maybe applied: only the same write may follow */
    bool stored;     /* the store has the key, for all who wait for it */
    bool unfit;      /* no engine takes it: id or body too long, or id empty */
    bool aside;      /* no longer counts for a worker */
    bool unheld;     /* a DOC_REFRESH that is aside: holds no bytes either */
    bool dropped;    /* the delete of a document that the engine's pipeline dropped */
    bool is_large;   /* its bytes count as large, not for its index
                        (sync/delivery/document/budget.h) */
    uint16_t worker; /* the worker it counts for (sync/delivery/index/worker_backlog.h) */
    char bytes[];    /* id, routing, key, body */
};

/*
 * What ended, and the bytes taken and freed.  The functions that make and end writes fill it
 * in.
 */
struct write_ends {
    size_t taken; /* bytes taken for results of reads, since the owner last reset both */
    size_t freed; /* bytes given back */
    uint64_t ended[N_OUTCOMES]; /* waiters */
    void (*on_end)(void *ctx, const struct write *w, const struct waiter *x, enum outcome how);
    /*
     * A write no longer counts for this worker: it ended, was abandoned, was set aside, or
     * another stands for it.
     */
    void (*on_gone)(void *ctx, unsigned worker);
    void *ctx; /* both may be NULL */
};

/* The longest id that engines take, and the longest body. */
#define WRITE_ID_MAX   512
#define WRITE_BODY_MAX ((size_t)1 << 30)

/* Copies in; takes over its ticket and target.  Leaves out a body that is too long. */
struct write *write_new(const struct doc_write *in) RETURNS_NONNULL MUST_CHECK;

/*
 * Make the write of what was read for refresh: body at stamp.  ptr NULL: the row is gone, a
 * delete; not allowed for an area.  Moves the waiters of refresh and frees it.
 */
struct write *write_of_read(struct write *refresh, uint64_t stamp, struct str body,
                            struct write_ends *ends) RETURNS_NONNULL MUST_CHECK;

/* w is of an area: turn it into a read of the whole document, at its version or later. */
void write_widen(struct write *w);

#define FRESH_RISE_MAX 8 /* of the 18 that are free above a position */

/*
 * A copy of an older write of w's document, at version `lost`, may come after w.  If it could
 * undo w, turn w into a re-read above that version.  Does so for a fresh write as long as it
 * leaves room for others, and for the later of several changes of a row in one compressed
 * transaction, which all have one version.
 */
void write_rise_above(struct write *w, uint64_t lost);

/*
 * Set aside a DOC_REFRESH that waits for the stream to advance.  It stops counting for its
 * worker and for the bytes held, because a caller that waits for room there may be the one that
 * advances the stream.  Its result counts for no worker, but holds its bytes.
 */
void write_stand_aside(struct write *w, struct write_ends *ends);

/* Move the waiters of loser to winner and free loser. */
void write_join(struct write *winner, struct write *loser, struct write_ends *ends);

/* End all waiters as `how`, and free w. */
void write_end(struct write *w, enum outcome how, struct write_ends *ends);
/* Abandon all tickets, and free w: they never finish. */
void write_abandon(struct write *w, struct write_ends *ends);
/*
 * Hold the tickets of all waiters (out has room for write_count_tickets()), then release the
 * waiters from w as delivered.
 */
size_t write_count_tickets(const struct write *w);
void write_hold_tickets(struct write *w, struct ticket **out, struct write_ends *ends);
/* Hold the tickets of all waiters, who keep waiting. */
void write_share_tickets(const struct write *w, struct ticket **out);
/* End all waiters as `how`.  Keeps w. */
void write_release_waiters(struct write *w, enum outcome how, struct write_ends *ends);

/* The bytes that it holds of the budget. */
size_t write_held(const struct write *w);
/* Count it for `of` from now on, or as large if it is. */
void write_count_for(struct write *w, struct allowance *of);
/* The allowance it counts for, or NULL. */
struct allowance *write_account(const struct write *w);
/* Count n bytes as taken, or as freed, in ends and in a (may be NULL). */
void write_ends_take(struct write_ends *ends, struct allowance *a, size_t n);
void write_ends_free(struct write_ends *ends, struct allowance *a, size_t n);

/* The hash of (index, routing, id).  It also chooses the worker. */
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
