/*
 * What an answer of the search engine means: one table for requests, one for the items in them.
 *
 * A problem of the index must not turn each of its documents into a dead letter, and no change
 * is ever dropped.
 *
 * Source: reference tables of the answers of Elasticsearch 7 to 9 and OpenSearch 1 to 3.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_BULK_BULK_VERDICT_H
#define SYNC_DELIVERY_BULK_BULK_VERDICT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/document/operation.h"

#include <stdbool.h>

/* For a whole request. */
enum request_verdict {
    REQUEST_ITEMS = 0, /* read the items */
    REQUEST_UNKNOWN,   /* may have been applied: repeat the same versions after a backoff */
    REQUEST_BUSY,      /* not applied, the engine is overloaded: send less, and wait */
    REQUEST_TOO_LARGE, /* never applied: split it; a single document becomes a dead letter */
    REQUEST_MALFORMED, /* not applied: bisect to the document to blame */
    REQUEST_HOLD,      /* not applied, nor will the next one be: hold the index */
    N_REQUEST_VERDICTS,
};

/* type and reason are the error's, empty if the answer has none. */
enum request_verdict bulk_verdict_of_request(int status, struct str type, struct str reason);

/* For one item. */
enum item_verdict {
    ITEM_DELIVERED = 0,
    ITEM_DROPPED,   /* the engine's pipeline dropped it: delete what is stored instead */
    ITEM_CONFLICT,  /* a newer version is stored; superseded, if that is of our lineage */
    ITEM_WHOLE,     /* this area cannot be written alone: read the whole document */
    ITEM_REFUSED,   /* this document can never be written as it is: dead letter */
    ITEM_TOO_LARGE, /* never applied in so large a request: send it alone; if it was alone, dead
                       letter */
    ITEM_BUSY,      /* not applied: repeat after a backoff, and send less */
    ITEM_UNKNOWN,   /* may have been applied: repeat the same version after a backoff */
    ITEM_DOUBTFUL,  /* like ITEM_UNKNOWN, but a dead letter with a count of its own after some
                       attempts */
    ITEM_HOLD,      /* the index has a problem: hold it */
    N_ITEM_VERDICTS,
};

/* The engine's error for an item; all strings are empty if it has none. */
struct bulk_error {
    struct str type;
    struct str reason;                   /* with its causes, cut to 2000 bytes */
    struct str cause_type, cause_reason; /* of the innermost cause alone; empty: none */
};

enum item_verdict bulk_verdict_of_item(enum doc_op op, int status, const struct bulk_error *e);

/*
 * Why the engine answered 429.  ROOM_NEVER: the reason shows a size above the engine's limit.
 * ROOM_BUSY: other load, regardless of the size.  ROOM_UNTOLD: the reason does not say.
 */
enum bulk_room { ROOM_UNTOLD = 0, ROOM_BUSY, ROOM_NEVER };

enum bulk_room bulk_verdict_room(struct str type, struct str reason);

/*
 * Read the stored version from the reason of a version conflict ("current version [7] is higher
 * ...").  Returns false if it names none.
 */
bool bulk_verdict_stored_version(struct str reason, uint64_t *version);

const char *request_verdict_name(enum request_verdict v);
const char *item_verdict_name(enum item_verdict v);

#endif
