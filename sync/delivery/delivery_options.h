/*
 * How delivery works, and whom it tells.
 */
#ifndef SYNC_DELIVERY_DELIVERY_OPTIONS_H
#define SYNC_DELIVERY_DELIVERY_OPTIONS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/operation.h"
#include "sync/delivery/purge.h"
#include "sync/delivery/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is to be seen of an index. */
enum delivery_event {
    DELIVERY_BLOWN = 0, /* its fuse: too many requests failed, nothing is sent for a while */
    DELIVERY_HEALED,
    DELIVERY_PURGED,
    DELIVERY_DRAINED,
    DELIVERY_HELD, /* it says no (rights, blocks, a missing alias ...) */
    DELIVERY_RELEASED,
    N_DELIVERY_EVENTS,
};

/* Origin of the reason of an index whose write alias leads elsewhere: it is not tried again until
 * delivery_end_astray(). */
#define DELIVERY_ASTRAY "alias"
/* Of an index that takes a part of its documents: the others go on. */
#define DELIVERY_PARTLY "part"

/* A high-water mark of 0 changes: each caller waits for its own. */
#define DELIVERY_MARK_ZERO SIZE_MAX

/* Every field may be 0 for its default (spec/batched-delivery.md). */
struct delivery_options {
    unsigned workers;            /* 10 */
    unsigned helpers;            /* 10: requests at a time */
    unsigned batch_min;          /* 1 */
    unsigned batch_max;          /* 0: auto, by bytes */
    size_t batch_bytes;          /* 8 MiB: the adaptive maximum's ceiling */
    unsigned flush_interval_ms;  /* 1000 */
    unsigned request_timeout_ms; /* 60000 */
    size_t bytes_max;            /* 64 MiB held in all */
    size_t load_batch_max;       /* 500 keys a re-read */
    unsigned loads_max;          /* 2 re-reads at a time, as sync/delivery/loads.h counts them */
    unsigned read_window_ms;     /* 0: none (sync/delivery/pace.h) */
    unsigned failing_ms;         /* 30000: when an index that takes nothing is told of */
    unsigned doubtful_ms; /* 30000: so long a document that fails without a reason is tried */
    bool compress;               /* gzip request bodies */
    size_t high_water_mark;      /* 10000 changes a worker; or DELIVERY_MARK_ZERO */
    unsigned failures;           /* 3: that blow the fuse of an index (sync/delivery/fuse.h) */
    unsigned failure_window_ms;  /* 5000 */
    unsigned reset_after_ms;     /* 30000 */
    enum purge_strategy purge;   /* PURGE_ONE */
    bool no_drain;               /* stopping does not drain */
    unsigned drain_timeout_ms;   /* 60000 */
    unsigned drain_cancel_timeout_ms; /* 5000 */
    unsigned connections;             /* 100, at most */
    void *ctx;
    void (*load)(void *ctx, struct load_batch *batch);
    /* The callbacks below run on the delivery thread and may not call delivery_submit(). */
    /* NULL: nothing stays. */
    void (*gone)(void *ctx, const struct gone_row *row);
    /*
     * All n > 0 become durable, or none.  False: asked again after a backoff; ERR_REJECT: there
     * is no room for more, and indexes with refused documents are held until there is.
     */
    bool (*dead)(void *ctx, const struct dead_letter_note *notes, size_t n, struct err *err);
    /*
     * A document that had a dead letter, since start or by delivery_note_dead(), was written at
     * version after all, so its dead letter can go, unless it is of something newer.  False:
     * asked again after a backoff.
     */
    bool (*cleared)(void *ctx, const struct target *target, struct str routing, struct str id,
                    uint64_t version, struct err *err);
    /*
     * The highest version given out for target so far.  A 409 whose stored version is above it,
     * or below target->version_min, is not of our lineage and holds the index.  NULL: no upper
     * bound.
     */
    uint64_t (*stamp_max)(void *ctx, const struct target *target);
    /*
     * Earlier daemons may still have writes of target's documents below this version under way:
     * no area of a document below it is updated.  NULL, 0: they have not.
     */
    uint64_t (*area_floor)(void *ctx, const struct target *target);
    /*
     * An index is held (rights, blocks, missing alias, broken lineage), or has taken nothing for
     * failing_ms, since since_ms (monotonic); or it goes on again.  The code of why is the
     * status of its origin "http" (the request) or "item" (a document), 0: there is none.
     */
    void (*held)(void *ctx, const struct target *target, bool held, int64_t since_ms,
                 const struct err *why);
    /*
     * Something is to be seen of an index; target NULL: of all (drained).  n: changes that were
     * purged, or milliseconds that a drain took.  why: NULL where all is well.
     */
    void (*event)(void *ctx, enum delivery_event what, const struct target *target, uint64_t n,
                  const struct err *why);
    /* All n > 0 become durable, or none.  False: asked again.  NULL: nothing is purged. */
    bool (*purged)(void *ctx, const struct purged_note *notes, size_t n, struct err *err);
};

#endif
