/*
 * What goes into delivery and what comes out of it: writes of documents, batches of documents
 * to be read, dead letters.
 */
#ifndef SYNC_DELIVERY_OPERATION_H
#define SYNC_DELIVERY_OPERATION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/target.h"
#include "sync/delivery/ticket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum doc_op {
    DOC_INDEX = 0, /* write body at version */
    DOC_DELETE,    /* delete at version */
    DOC_REFRESH, /* re-read: the read must include position `version`; the read gives the stamp
                  */
    DOC_UPDATE,  /* write body as an area of the document, read at version */
};

/*
 * One operation.  submit copies id, routing, key and body; it takes over the ticket and target
 * refs.  ticket may be NULL.
 *
 * What a write says holds up to its version: DOC_REFRESH is covered by any write or read of the
 * same document at a version >= its own.  So a change that has no position in the stream of the
 * root's topic asks for a version above every stamp given out (a repair), or is fresh: of another
 * source, of which versions say nothing.  What is fresh is covered only by a read that begins
 * after it came; two such reads at an unmoved position have one version, the later one wins
 * (docs/adr/0021), and one that is refused by a newer version is read again.
 *
 * A DOC_REFRESH of an area becomes a DOC_UPDATE, which the engine takes only where the area is
 * older (sync/delivery/area.h); where it does not fit, the whole document is read.
 */
struct doc_write {
    struct target *target;
    struct ticket *ticket;
    enum doc_op op;
    bool strict;    /* version_type external instead of external_gte (fills) */
    bool reread;    /* what a read gave, at its stamp */
    bool fresh;     /* a DOC_REFRESH that another source asks for */
    bool stored;    /* the store has its key until its ticket says that it was written */
    uint8_t area;   /* of a DOC_REFRESH: only this one of the target's areas, from 1; 0: all */
    bool gathered;  /* a DOC_REFRESH: it comes with many others, which are read together */
    uint8_t depth;  /* of a DOC_REFRESH: so many foreign keys led to it (sync/cascades.h) */
    uint64_t version;
    struct str id;      /* _id */
    struct str routing; /* empty: none */
    struct str key;     /* what the loader reads by, opaque here; needed for DOC_REFRESH */
    struct str body;    /* DOC_INDEX: JSON object; DOC_UPDATE: JSON of the area */
    int64_t commit_ms;  /* wall time of the change for latency, 0: none */
};

/*
 * A batch of documents that must be re-read, all of one target, and the same of each.  Delivery
 * makes it, hands it to options.load (which must not block: it queues for a loader thread), and
 * gets it back with delivery_loaded(), where each item has a body, or found = false (the row is
 * gone: a delete, or, where it stays, a struct gone_row), and the stamp; or failed = true with
 * err (ERR_RETRY: asked for again after a backoff; ERR_REJECT: that document becomes a dead
 * letter; ERR_STOP: given back undone at shutdown).
 *
 * A document that is elsewhere is asked for there, and here it is deleted, but only at the version that was asked for, and
 * strictly: in one shard the engine takes both for the same document.  So is one that cannot be made:
 * only where it would lie it becomes a dead letter.
 *
 * The stamp must be >= at_least, else the document is asked for again.  at_least can lie up to
 * 18 above a position, in the gap that rule 3 leaves for further bodies (a re-read was refused
 * by a version in that gap): then a read at that position will do, and its stamp is at_least.
 */
struct load_item {
    struct str id, routing, key; /* borrowed from delivery until delivery_loaded() */
    uint64_t at_least;           /* the read must include this position */
    uint8_t depth;
    bool found;
    bool stays; /* not found, and others may go with it */
    bool elsewhere; /* not found under this routing: the row's document has another */
    struct str other; /* that routing, inside load_batch.arena */
    bool failed;
    bool ahead; /* failed: only when the stream has come further can it be read */
    struct err err;
    uint64_t stamp;  /* version of the result */
    struct str body; /* inside load_batch.arena */
};

struct load_batch {
    struct target *target;
    uint8_t area; /* only this one of the target's areas, whose JSON the bodies are; 0: all */
    struct load_item *items;
    size_t n_items;
    uint64_t log_end;        /* for what stays: where the log ended after the read */
    struct arena *arena;     /* for bodies; made by delivery, freed by it */
    struct load_batch *next; /* for whoever queues it */
};

/*
 * A row that was read is gone, and what foreign keys take along with it is not followed yet.  So
 * the document stays as it is, and whoever is told deletes it when that is done: a DOC_DELETE at
 * the stamp (reread).  The tickets are those of all who wait for it, held (ticket_hold()), taken
 * over by who is told.
 */
struct gone_row {
    struct target *target; /* borrowed, as the texts */
    struct str id, routing, key;
    uint64_t stamp, log_end;
    uint8_t depth;
    struct ticket *const *tickets;
    size_t n_tickets;
};

/* A dead letter, to be stored durably before the callback that gets it returns true. */
struct dead_letter_note {
    const struct target *target;
    struct str id, routing, key, body;
    uint64_t version;
    enum doc_op op;
    int status;
    struct str reason;
    unsigned attempts;
    bool again; /* the store has one of this document, whose place it takes */
};

/* A change that was purged, to be stored durably likewise; its row is read again by key. */
struct purged_note {
    const struct target *target;
    struct str id, routing, key;
    uint64_t version;
    bool unanswered; /* it was sent and may still be applied, at version */
};

#endif
