/*
 * struct document: what is going on with one document, at most one operation at a time.
 *
 * `now` is the operation that holds the document; what arrives meanwhile waits in `later`,
 * where the newest by version, then by arrival, stands for all.  A write that was sent and not
 * answered keeps the document until the same write, at the same version, was repeated and
 * answered.
 *
 *            arrive             taken           loaded
 *      LOAD_WAIT ────────────────► LOADING ────────────► READY ◄── arrive
 *          ▲  ▲ not loaded            │                    │ taken
 *          │  └───────────────────────┘                    ▼
 *          │ read again (refused by the gap)  ┌──────── IN_FLIGHT ◄── taken ──┐
 *          └──────────────────────────────────┤            │  answer lost      │
 *                                not applied ─┴─► READY    ├───────────────► UNKNOWN
 *                                                          ▼
 *                                     ended: `later` is next, or the document is gone
 *
 * A read whose result is to be sent later (struct gone_row) ends in LOADING.
 *
 * What concerns one area of the document only (sync/delivery/area.h) goes the same way, and
 * stands for that area alone.  Where it meets anything else before it is read, the whole
 * document is read instead.
 *
 * Pure: no clock, no queue, no I/O.  The owner keeps the document in the queue of its state.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_DOCUMENT_H
#define SYNC_DELIVERY_DOCUMENT_H

#include "src/base/base.h"
#include "src/base/list.h"
#include "src/base/str.h"
#include "sync/delivery/write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum document_state {
    DOCUMENT_LOAD_WAIT = 0, /* must be read */
    DOCUMENT_LOADING,       /* is being read */
    DOCUMENT_READY,         /* can be sent, or replaced by something newer */
    DOCUMENT_IN_FLIGHT,     /* was sent; the answer is to come */
    DOCUMENT_UNKNOWN,       /* was sent; whether it was applied is not known */
    DOCUMENT_REFUSED,       /* is not to be written; that is not stored yet */
    N_DOCUMENT_STATES,
};

struct document {
    struct document *hash_next; /* the table's */
    uint64_t hash;              /* of index, routing and id */
    struct outlet *outlet;      /* the index it belongs to */
    struct link link;           /* the outlet's queues */
    struct write *now;          /* never NULL */
    struct write *later;        /* or NULL */
    uint32_t queued_bytes;      /* what its lane counts it as */
    uint8_t state;              /* enum document_state */
    uint8_t place;              /* the outlet's: which of its queues */
    bool forgotten;             /* LOADING for nobody: the result is thrown away */
    bool may_go;                /* the outlet's: it is counted as one that may be purged */
    bool is_part;               /* the outlet's: of a bisection, in its parcel or taken from it */
    bool is_lost;               /* the outlet's: it waits apart, as its own answer was lost */
    uint16_t attempts;          /* of `now`, that failed */
    uint8_t n_untold;           /* answers to what its stored version is that did not say it */
    uint8_t n_doubtful;         /* answers to `now` that failed it without a reason */
};

/* A first write w begins the document. */
void document_begin(struct document *doc, struct write *w);

/* One more write of it.  True: that turned LOAD_WAIT into READY. */
bool document_arrive(struct document *doc, struct write *w, struct write_ends *ends);

/* It was taken from its queue: LOAD_WAIT to LOADING, READY and UNKNOWN to IN_FLIGHT. */
void document_take(struct document *doc);

/*
 * The read gave body (ptr NULL: the row is gone) at stamp.  READY, or LOAD_WAIT again when
 * stamp is below what was asked for.
 */
void document_loaded(struct document *doc, uint64_t stamp, struct str body,
                     struct write_ends *ends);
/* The read failed, to be tried again: LOAD_WAIT (or what came meanwhile and needs no read). */
void document_not_loaded(struct document *doc, struct write_ends *ends);

/* It was sent and certainly not applied: READY, or UNKNOWN where an earlier copy may yet be. */
void document_not_applied(struct document *doc, struct write_ends *ends);
/* LOADING: a read that includes its version shows that the row's document has another routing. */
void document_is_elsewhere(struct document *doc, struct write_ends *ends);
/* It was sent and may have been applied: UNKNOWN. */
void document_lost_answer(struct document *doc);
/* It was refused by a version in the gap above it: LOAD_WAIT, to be stamped at_least. */
void document_read_again(struct document *doc, uint64_t at_least, struct write_ends *ends);
/* LOADING or IN_FLIGHT for an area that cannot be read or written alone: LOAD_WAIT, for all. */
void document_widen(struct document *doc, struct write_ends *ends);
/* It can never be written (or read): REFUSED. */
void document_refuse(struct document *doc);

/*
 * It waits, and its row can be read again by key instead.  What a build writes may not go: the
 * build counts its rows.  Where a row's document lay before may: a read for that routing finds
 * that it lies elsewhere, or is gone.
 */
bool document_may_be_purged(const struct document *doc);
/* It goes so: REFUSED. */
void document_purge(struct document *doc);

/*
 * `now` has ended.  True: `later` is next, READY or LOAD_WAIT.  False: nothing is left, the
 * owner removes the document; now is NULL.  Also for what was LOADING and forgotten meanwhile.
 */
bool document_end(struct document *doc, enum outcome how, struct write_ends *ends) MUST_CHECK;

/*
 * Throw away what is queued.  True: something stays (in flight, or LOADING for nobody), in the
 * state it was.  False: as document_end().
 */
bool document_forget(struct document *doc, enum outcome how,
                     struct write_ends *ends) MUST_CHECK;

#endif
