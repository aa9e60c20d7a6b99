/*
 * struct document: the state of one document, with at most one operation at a time.
 *
 * `now` is the operation that holds the document.  Writes that arrive meanwhile are coalesced
 * into `later`: the newest by version, then by arrival, stands for all.  A write that was sent
 * but not answered keeps the document until the same write, at the same version, was sent again
 * and answered.
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
 * If options.gone takes over a row that is gone (struct gone_row), the document ends in
 * LOADING.
 *
 * A write or read of one area (sync/delivery/document/area.h) takes the same way and stands for
 * that area only.  If it meets any other operation before it is read, the whole document is
 * read instead.
 *
 * Pure: no clock, no queue, no I/O.  The owner keeps the document in the queue of its state.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_DOCUMENT_DOCUMENT_H
#define SYNC_DELIVERY_DOCUMENT_DOCUMENT_H

#include "src/base/base.h"
#include "src/base/list.h"
#include "src/base/str.h"
#include "sync/delivery/document/write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum document_state {
    DOCUMENT_LOAD_WAIT = 0, /* must be read */
    DOCUMENT_LOADING,       /* is being read */
    DOCUMENT_READY,         /* can be sent, or replaced by a newer write */
    DOCUMENT_IN_FLIGHT,     /* sent, not yet answered */
    DOCUMENT_UNKNOWN,       /* sent; we do not know whether it was applied */
    DOCUMENT_REFUSED, /* will not be written; its dead letter or purged key is not stored yet */
    N_DOCUMENT_STATES,
};

struct document {
    struct document *hash_next;      /* the table's */
    uint64_t hash;                   /* of index, routing and id */
    struct index_queue *index_queue; /* its index */
    struct link link;                /* the index queue's queues */
    struct write *now;               /* never NULL */
    struct write *later;             /* or NULL */
    uint32_t queued_bytes;           /* its size as counted by its lane */
    uint8_t state;                   /* enum document_state */
    uint8_t place;                   /* the index queue's: the queue it is in */
    bool forgotten : 1;              /* LOADING, but nobody wants the result: throw it away */
    bool may_go : 1;                 /* the index queue's: counted as one that may be purged */
    bool is_large : 1;               /* the index queue's: also counted as large */
    bool is_part : 1; /* the index queue's: part of a bisection, in its parcel or out of it */
    bool is_lost : 1; /* the index queue's: waits apart because its own answer was lost */
    bool is_suspect : 1; /* `now` was refused alone, as a whole request, while others were taken
                          */
    bool for_job : 1;    /* waits in the jobs' line, else in the stream's
                            (sync/delivery/index/lines.h) */
    uint8_t n_untold;    /* lookups of its stored version that did not name one */
    uint16_t attempts;   /* failed attempts of `now` */
    uint16_t refused_at; /* headroom_mark() when it was refused alone, with 429 or as a suspect
                            (sync/delivery/index/headroom.h) */
    uint8_t n_too_large; /* 429 answers to `now` that its size may explain */
    uint8_t n_doubtful;  /* answers that failed `now` without a reason */
};

/* Start the document with its first write. */
void document_begin(struct document *doc, struct write *w);

/* Add a write.  Returns true if that turned LOAD_WAIT into READY. */
bool document_arrive(struct document *doc, struct write *w, struct write_ends *ends);

/* Tell whether a job waits for it, alone or with others. */
bool document_is_for_job(const struct document *doc);

/*
 * Call when taken from its queue: turns LOAD_WAIT into LOADING, READY or UNKNOWN into
 * IN_FLIGHT.
 */
void document_take(struct document *doc);

/*
 * The read returned body (ptr NULL: the row is gone) at stamp.  The state becomes READY, or
 * LOAD_WAIT again if stamp is below the requested version.
 */
void document_loaded(struct document *doc, uint64_t stamp, struct str body,
                     struct write_ends *ends);
/*
 * The read failed: try again.  The state becomes LOAD_WAIT, or that of `later` if it needs no
 * read.
 */
void document_not_loaded(struct document *doc, struct write_ends *ends);
/* The read left it out: the same, but it is no failed attempt. */
void document_left_out(struct document *doc, struct write_ends *ends);

/*
 * It was sent and certainly not applied.  The state becomes READY, or UNKNOWN if an earlier
 * copy may still be applied.
 */
void document_not_applied(struct document *doc, struct write_ends *ends);
/*
 * It was sent, and the engine's pipeline dropped it.  `now` becomes the document's delete at
 * the same version, so that no older state of the document stays.
 */
void document_drop(struct document *doc, struct write_ends *ends);
/*
 * LOADING: a read that includes its version shows that the row's document has another routing.
 * Turns it into a strict delete.
 */
void document_is_elsewhere(struct document *doc, struct write_ends *ends);
/* It was sent and may have been applied.  The state becomes UNKNOWN. */
void document_lost_answer(struct document *doc);
/*
 * A stored version in the gap above it refused it.  The state becomes LOAD_WAIT; the new stamp
 * will be at_least or above.
 */
void document_read_again(struct document *doc, uint64_t at_least, struct write_ends *ends);
/*
 * LOADING or IN_FLIGHT: its area cannot be read or written alone.  The state becomes LOAD_WAIT,
 * for the whole document.
 */
void document_widen(struct document *doc, struct write_ends *ends);
/* It can never be written (or read).  The state becomes REFUSED. */
void document_refuse(struct document *doc);

/*
 * Tell whether it waits in a queue and can be purged, so that its row is read again by key
 * later.  Writes of a build may not be purged, as the build counts its rows.  The delete at a
 * document's former routing may: a read for that routing finds the row elsewhere, or gone.
 */
bool document_may_be_purged(const struct document *doc);
/* Purge it.  The state becomes REFUSED. */
void document_purge(struct document *doc);

/*
 * End `now`.  Returns true if `later` takes its place, READY or LOAD_WAIT.  Returns false if
 * nothing is left: now is NULL and the owner must remove the document.  Also ends a document
 * that was forgotten while LOADING.
 */
bool document_end(struct document *doc, enum outcome how, struct write_ends *ends) MUST_CHECK;

/*
 * Drop what is queued.  Returns true if the document stays in its state: IN_FLIGHT, or LOADING
 * with its result unwanted.  Returns false as document_end() does.
 */
bool document_forget(struct document *doc, enum outcome how,
                     struct write_ends *ends) MUST_CHECK;

#endif
