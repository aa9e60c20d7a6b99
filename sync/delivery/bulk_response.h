/*
 * Reading the answer to a _bulk request: a status for every action sent, in order.
 *
 * The answer must have exactly as many items as actions were sent, each with the action's kind
 * and _id; else nothing in it is believed, and the whole request counts as unknown.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_BULK_RESPONSE_H
#define SYNC_DELIVERY_BULK_RESPONSE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/bulk_verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was sent as action i. */
struct bulk_sent {
    struct str action; /* "index", "delete" or "update" */
    struct str id;
    struct str index; /* where it was to be written; empty: any */
};
typedef struct bulk_sent (*bulk_sent_fn)(void *ctx, size_t i);

struct bulk_item {
    int status;
    uint32_t error; /* number of its struct bulk_error, from 1; 0: none */
};

/* Zero-initialise; can be used for one answer after the other. */
struct bulk_response {
    struct bulk_item *items;
    struct bulk_error_place *errors;
    size_t n_errors;
    size_t items_cap, errors_cap;
    struct buf texts, type, reason, cause_type, cause_reason;
    struct buf elsewhere; /* another index, in which an action took effect; empty: none did */
};

/*
 * Read body, which answers n actions, into r.  False, ERR_RETRY: it cannot be matched to them.
 * What r holds stays valid until the next call.
 */
bool bulk_response_read(struct bulk_response *r, struct str body, size_t n, bulk_sent_fn sent,
                        void *ctx, struct err *err) MUST_CHECK;
void bulk_response_free(struct bulk_response *r);

/* The error of item i; empty strings where it has none. */
struct bulk_error bulk_response_error(const struct bulk_response *r, size_t i);

/* Append type and reason of a whole refused request; without any, reason is the body's start.
 */
void bulk_response_refusal(struct str body, struct buf *type, struct buf *reason);

#endif
