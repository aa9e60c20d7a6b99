/*
 * Parses the answer to a _bulk request: one status for each action sent, in order.
 *
 * The answer must have exactly one item for each action, each with the action's kind and _id.
 * Otherwise we trust nothing in it, and the result of the whole request is unknown.
 *
 * Behind a pipeline, items may be out of their places: engines tell what a pipeline dropped or
 * refused in the order in which it did so.  Such an item is matched by its _id.
 *
 * If a pipeline drops a document, the engine answers its "index" with the result "noop", and
 * names the alias instead of the index.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_BULK_BULK_RESPONSE_H
#define SYNC_DELIVERY_BULK_BULK_RESPONSE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/bulk/bulk_verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The action sent as number i. */
struct bulk_sent {
    struct str action; /* "index", "delete" or "update" */
    struct str id;
    struct str index; /* the index it was sent to; empty: do not check */
    bool is_piped;    /* it may have passed a pipeline, of the definition or of the index */
};
typedef struct bulk_sent (*bulk_sent_fn)(void *ctx, size_t i);

struct bulk_item {
    int status;
    uint32_t error;  /* number of its error, from 1; 0: none */
    bool is_dropped; /* by a pipeline: nothing was written */
};

/* Zero-initialise.  Can be reused for the next answer. */
struct bulk_response {
    struct bulk_item *items;
    struct bulk_error_place *errors;
    size_t n_errors;
    size_t items_cap, errors_cap;
    struct buf texts, type, reason, cause_type, cause_reason;
    struct buf elsewhere; /* another index that an action changed; empty: none */
    struct buf renamed;   /* the id that a pipeline gave a document; empty: none did */
};

/*
 * Parse body, the answer to n actions, into r.  ERR_RETRY if it does not match them.  The
 * contents of r are valid until the next call.
 */
bool bulk_response_read(struct bulk_response *r, struct str body, size_t n, bulk_sent_fn sent,
                        void *ctx, struct err *err) MUST_CHECK;
void bulk_response_free(struct bulk_response *r);

/* Return the error of item i; its strings are empty if it has none. */
struct bulk_error bulk_response_error(const struct bulk_response *r, size_t i);

/*
 * Append the type and reason of a refused request.  Without a reason, append the start of the
 * body instead.
 */
void bulk_response_refusal(struct str body, struct buf *type, struct buf *reason);

#endif
