/*
 * What ends the hold of an index: told by the engine's refusal, or by who held the index.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DELIVERY_BULK_CURE_H
#define SYNC_DELIVERY_BULK_CURE_H

#include "src/base/str.h"
#include "sync/delivery/bulk/bulk_verdict.h"

enum cure {
    CURE_NONE = 0,  /* the index takes documents */
    CURE_ENGINE,    /* it is away, or has too much to do */
    CURE_SHARDS,    /* a part of its shards is away */
    CURE_ACCESS,    /* the log-in, or a right */
    CURE_DISK,      /* room on the disks */
    CURE_BLOCK,     /* somebody blocked writes */
    CURE_CLOSED,    /* somebody closed the index */
    CURE_MISSING,   /* somebody deleted the index, or its write alias */
    CURE_ALIAS,     /* somebody moved the write alias */
    CURE_PIPELINE,  /* an ingest pipeline is gone */
    CURE_RENAMED,   /* an ingest pipeline changes ids or indexes */
    CURE_FIELDS,    /* a limit of the mapping */
    CURE_DOCUMENTS, /* a shard is full */
    CURE_MAPPING,   /* the mapping fits few documents */
    CURE_REQUESTS,  /* whole requests are refused, whatever they hold */
    CURE_VERSION,   /* somebody else writes, or the store is not the one that wrote */
    CURE_LETTERS,   /* the store has no room for dead letters */
    CURE_RESUME,    /* a person paused the index */
    CURE_OTHER,     /* what the engine's message says */
    N_CURES,
};

/* Of a request that was refused as REQUEST_HOLD. */
enum cure cure_of_request(int status, struct str type, struct str reason);
/* Of an item that was refused as ITEM_HOLD. */
enum cure cure_of_item(int status, const struct bulk_error *e);

#endif
