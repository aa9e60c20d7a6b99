/*
 * What goes into delivery and what comes out: writes of documents, batches of documents to
 * read, dead letters.
 */
#ifndef SYNC_DELIVERY_DOCUMENT_OPERATION_H
#define SYNC_DELIVERY_DOCUMENT_OPERATION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/document/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum doc_op {
    DOC_INDEX = 0, /* write body at version */
    DOC_DELETE,    /* delete at version */
    DOC_REFRESH, /* re-read: the read must include position `version`; the result has the read's
                    stamp */
    DOC_UPDATE,  /* write body as one area of the document, read at version */
};

/*
 * One operation.  delivery_submit() copies id, routing, key and body and takes over the ticket
 * and target references.  ticket may be NULL.
 *
 * A write holds up to its version: a DOC_REFRESH is covered by any write or read of the same
 * document at a version >= its own.  So a change without a position in the stream of the root's
 * topic either requests a version above every stamp given out (a repair), or is fresh: it comes
 * from another source, to which versions do not apply.  Only a read that begins after it
 * arrived covers a fresh refresh.  Two such reads at an unmoved position have the same version;
 * the later wins (docs/adr/0021).  If a newer version refuses the result, the document is read
 * again.
 *
 * A DOC_REFRESH of an area becomes a DOC_UPDATE, which the engine takes only if the stored area
 * is older (sync/delivery/document/area.h).  If that does not work, the whole document is read.
 */
struct doc_write {
    struct target *target;
    struct ticket *ticket;
    enum doc_op op;
    bool strict;   /* version_type external instead of external_gte (fills) */
    bool reread;   /* the result of a read, at its stamp */
    bool fresh;    /* a DOC_REFRESH that another source requests */
    bool stored;   /* the store has its key until its ticket reports it written */
    uint8_t area;  /* DOC_REFRESH, DOC_UPDATE: this one of the target's areas, from 1; 0: the
                      whole document */
    bool gathered; /* a job submits it with many others: they are read together, and wait beside
                      those of the stream (sync/delivery/index/lines.h, guests.h) */
    uint64_t version;
    struct str id;      /* _id */
    struct str routing; /* empty: none */
    struct str key;     /* what the loader reads by, opaque here; DOC_REFRESH requires it */
    struct str body;    /* DOC_INDEX: JSON object; DOC_UPDATE: JSON of the area */
    int64_t commit_ms;  /* wall time of the change, for latency; 0: none */
};

/*
 * A batch of documents to re-read, all of one target and one area.  Delivery makes it and
 * passes it to options.load, which must not block: it queues the batch for a loader thread.
 * The loader fills in each item and returns the batch with delivery_loaded().  An item has
 * either
 *
 *   - a body and its stamp; or
 *   - found = false and a stamp: the row is gone.  Delivery deletes the document or, if `stays`
 *     is set, passes a struct gone_row to options.gone; or
 *   - failed = true and err.  ERR_RETRY: delivery asks again after a backoff; ERR_REJECT: the
 *     document becomes a dead letter; ERR_STOP: returned undone at shutdown; or
 *   - left = true: the others took LOAD_BYTES.  Delivery asks again with its next read.  A read
 *     that does not fail never leaves all.
 *
 * If the row's document has another routing, delivery reads it there and deletes it here.  That
 * delete is strict and has the requested version, because in one shard the engine takes both
 * for the same document.  A document that cannot be made is handled alike: it becomes a dead
 * letter only under its own routing.
 *
 * The stamp must be >= at_least, else delivery asks again.  at_least may be up to 18 above a
 * position, in the gap that rule 3 leaves for further bodies (a version in that gap refused a
 * re-read): then a read at that position is enough, and its stamp is at_least.
 */
#define LOAD_BYTES ((size_t)2 << 20)

struct load_item {
    struct str id, routing, key; /* borrowed from delivery until delivery_loaded() */
    uint64_t at_least;           /* the read must include this position */
    bool found;
    bool stays;       /* not found; other rows may go with it */
    bool elsewhere;   /* not found under this routing: the row's document has another one */
    struct str other; /* the other routing, in load_batch.arena */
    bool left;        /* not read */
    bool failed;
    bool ahead; /* failed: cannot be read before the stream has come further */
    struct err err;
    uint64_t stamp;  /* version of the result */
    struct str body; /* in load_batch.arena */
};

struct load_batch {
    struct target *target;
    uint8_t area; /* this one of the target's areas, whose JSON the bodies are; 0: whole
                     documents */
    struct load_item *items;
    size_t n_items;
    size_t bytes;            /* that the read took, of LOAD_BYTES or more */
    uint64_t log_end;        /* for items that stay: where the log ended after the read */
    struct arena *arena;     /* holds the bodies; delivery makes and frees it */
    struct load_batch *next; /* for whoever queues it */
};

/*
 * A row that was read is gone, and the effects of its foreign keys are not followed yet.  The
 * document stays; the callback's owner deletes it when they are, with a DOC_DELETE at the stamp
 * (reread).  tickets: those of everybody who waits for the document, held with ticket_hold();
 * the callback takes them over.
 */
struct gone_row {
    struct target *target; /* borrowed, like the strings */
    struct str id, routing, key;
    uint64_t stamp, log_end;
    struct ticket *const *tickets;
    size_t n_tickets;
};

/* A dead letter.  The callback that gets it must store it durably before it returns true. */
struct dead_letter_note {
    const struct target *target;
    struct str id, routing, key, body;
    uint64_t version;
    enum doc_op op;
    int status;
    struct str reason;
    unsigned attempts;
    bool again; /* replaces the dead letter that the store has for this document */
};

/* What a side has of a document. */
enum entry_kind { ENTRY_VALUE = 0, ENTRY_GONE, ENTRY_UNKNOWN };

struct entry_note {
    bool of_engine; /* the engine has it; else the source */
    enum entry_kind what;
    struct str id;
    uint64_t value; /* ENTRY_VALUE: its hash, never 0 */
};

/* A purged change, to be stored durably in the same way.  Its row will be read again by key. */
struct purged_note {
    const struct target *target;
    struct str id, routing, key;
    uint64_t version;
    bool unanswered; /* it was sent and may still be applied, at version */
};

#endif
