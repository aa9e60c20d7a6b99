/*
 * The options of delivery: its settings, and its callbacks.
 */
#ifndef SYNC_DELIVERY_INDEX_OPTIONS_H
#define SYNC_DELIVERY_INDEX_OPTIONS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/config/settings.h"
#include "sync/delivery/bulk/cure.h"
#include "sync/delivery/document/operation.h"
#include "sync/delivery/document/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Request timeouts after which no copy of a write arrives any more whose answer was lost. */
#define DELIVERY_COPY_TIMEOUTS 2

/* What delivery reports of an index. */
enum delivery_event {
    DELIVERY_BLOWN = 0, /* its fuse: too many requests failed, nothing is sent for a while */
    DELIVERY_HEALED,
    DELIVERY_PURGED,
    DELIVERY_DRAINED,
    DELIVERY_HELD, /* the engine refuses (permissions, blocks, a missing alias ...) */
    DELIVERY_RELEASED,
    N_DELIVERY_EVENTS,
};

/* Origin of the error of an index that a person paused: delivery_pause(). */
#define DELIVERY_PAUSED "pause"

/* Why an index takes nothing, or not all. */
struct delivery_hold {
    enum cure cure;   /* CURE_ALIAS: it is not tried again until delivery_end_astray() */
    int64_t since_ms; /* monotonic */
    struct err why;   /* its origin is "http" (the request) or "item" (a document), its code the
                         status; 0: none */
};

struct delivery_options {
    struct delivery_settings settings; /* complete and valid, as src/config checks them */
    unsigned failing_ms;  /* report an index that takes nothing for this long; 0: 30000 */
    unsigned doubtful_ms; /* how long to retry a document that fails without a reason;
                             0: 30000 */
    bool compress;        /* gzip request bodies */
    void *ctx;
    void (*load)(void *ctx, struct load_batch *batch);
    /* The callbacks below run on the delivery thread and must not call delivery_submit(). */
    /* A row that was read is gone, but its document stays for now.  NULL: none stays. */
    void (*gone)(void *ctx, const struct gone_row *row);
    /*
     * Makes all n > 0 durable, or none.  Returns false to be called again after a backoff.
     * ERR_REJECT: the store has no room; indexes with refused documents are held until it has.
     */
    bool (*dead)(void *ctx, const struct dead_letter_note *notes, size_t n, struct err *err);
    /*
     * A document that had a dead letter (known at the start or by delivery_note_dead()) was
     * written at version after all: remove the dead letter, unless it is newer.  Returns false
     * to be called again after a backoff.
     */
    bool (*cleared)(void *ctx, const struct target *target, struct str routing, struct str id,
                    uint64_t version, struct err *err);
    /*
     * Returns the highest version given out for target so far.  If a 409 names a stored version
     * above it, or below target->version_min, that is not of our lineage and the index is held.
     * NULL: no upper bound.
     */
    uint64_t (*stamp_max)(void *ctx, const struct target *target);
    /*
     * Returns the version below which writes of earlier daemons may still be under way: areas
     * of documents below it are not updated.  0, or NULL: there are no such writes.
     */
    uint64_t (*area_floor)(void *ctx, const struct target *target);
    /*
     * An index is held (permissions, blocks, missing alias, broken lineage) or has taken
     * nothing for failing_ms.  hold is NULL: it goes on again.
     */
    void (*held)(void *ctx, const struct target *target, const struct delivery_hold *hold);
    /*
     * Reports an event of an index.  target NULL: of all (drained).  n: changes purged, or the
     * milliseconds a drain took.  why: NULL if all is well.
     */
    void (*event)(void *ctx, enum delivery_event what, const struct target *target, uint64_t n,
                  const struct err *why);
    /*
     * Makes all n > 0 durable, or none.  Returns false to be called again.  NULL: never purge.
     */
    bool (*purged)(void *ctx, const struct purged_note *notes, size_t n, struct err *err);
    /*
     * What a side has of a document from now on (sync/delivery/entries.h); may block for a
     * moment. NULL: nobody asks.
     */
    void (*note_entry)(void *ctx, const struct target *target, const struct entry_note *note);
    /* Returns a hash of the body as a value, never 0; or 0 if target's are not noted. Set
     * together with note_entry. */
    uint64_t (*value)(void *ctx, const struct target *target, struct str routing,
                      struct str body);
};

#endif
