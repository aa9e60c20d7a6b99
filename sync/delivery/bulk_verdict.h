/*
 * What an answer of the search engine means: one table for requests, one for the items in them.
 *
 * Source: reference tables of how Elasticsearch 7 to 9 and OpenSearch 1 to 3 answer; an index's
 * trouble must not become a dead letter of each of its documents, and nothing is ever dropped.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_BULK_VERDICT_H
#define SYNC_DELIVERY_BULK_VERDICT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/operation.h"

#include <stdbool.h>

/* Of a whole request. */
enum request_verdict {
    REQUEST_ITEMS = 0, /* read the items */
    REQUEST_UNKNOWN,   /* may have been applied: the same versions again, after a backoff */
    REQUEST_BUSY,      /* not applied, the engine has too much to do: send less, wait */
    REQUEST_TOO_LARGE, /* not applied: split */
    REQUEST_MALFORMED, /* not applied: bisect to the document that is to blame */
    REQUEST_HOLD,      /* not applied, nor will the next one be: hold the index */
    N_REQUEST_VERDICTS,
};

/* type and reason are the error's, empty where the answer has none. */
enum request_verdict bulk_verdict_of_request(int status, struct str type, struct str reason);

/* Of one item. */
enum item_verdict {
    ITEM_DELIVERED = 0,
    ITEM_CONFLICT, /* a stored version is newer; superseded, if it is of our lineage */
    ITEM_WHOLE,    /* an area that cannot be written alone: the whole document is to be read */
    ITEM_REFUSED,  /* this document can never be written like that: dead letter */
    ITEM_BUSY,     /* not applied: again, after a backoff, and send less */
    ITEM_UNKNOWN,  /* may have been applied: the same version again, after a backoff */
    ITEM_DOUBTFUL, /* the same, but after some attempts it is a dead letter with its own count
                    */
    ITEM_HOLD,     /* the index's trouble: hold it */
    N_ITEM_VERDICTS,
};

/* What the engine says of an item that it did not do; all empty: it did it. */
struct bulk_error {
    struct str type;
    struct str reason;                   /* with its causes, cut to 2000 bytes */
    struct str cause_type, cause_reason; /* the innermost cause's alone; empty: there is none */
};

enum item_verdict bulk_verdict_of_item(enum doc_op op, int status, const struct bulk_error *e);

/*
 * The stored version that a version conflict's reason names ("current version [7] is higher
 * ..."). False: it names none.
 */
bool bulk_verdict_stored_version(struct str reason, uint64_t *version);

const char *request_verdict_name(enum request_verdict v);
const char *item_verdict_name(enum item_verdict v);

#endif
