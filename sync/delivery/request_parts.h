/*
 * Shared by the files of requests only; everybody else includes request.h.
 *
 * request_answer  what an answer means as a whole, and how a request ends for its documents
 * request_items   what an answer means for each document, and they for the index
 * request_large   documents that are, or may be, too large for the engine
 * request_send    builds and sends requests
 */
#ifndef SYNC_DELIVERY_REQUEST_PARTS_H
#define SYNC_DELIVERY_REQUEST_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/list.h"
#include "src/base/magic.h"
#include "src/base/str.h"
#include "src/net/http_client.h"
#include "sync/delivery/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bulk_request {
    enum magic magic;
    struct link link; /* in sender.requests */
    struct sender *sender;
    struct index_queue *index_queue;
    struct batch batch;
    struct buf body;
    int64_t sent_us;
    int64_t timeout_ms; /* as set when it was sent */
    bool is_guarded;    /* ends with the guard (sync/delivery/bulk/bulk.h) */
    bool is_feeler;     /* sends only the guard, instead of its document */
    bool is_overdue;
    bool is_without_room;        /* no room was left for its body when it was sent */
    struct allowance *allowance; /* the account of its body; may be NULL */
};

/*
 * The documents of a batch are scattered in memory, and waiting for memory is most of a
 * document's cost here: prefetch the next ones.  (Forced inline, as gcc takes a function that
 * only prefetches for one without effect.)
 */
__attribute__((always_inline)) static inline void fetch_ahead(const struct batch *b, size_t i)
{
    if (i + 16 >= b->n)
        return;
    __builtin_prefetch(b->docs[i + 16]);
    __builtin_prefetch(b->docs[i + 8]->now);
    __builtin_prefetch((const char *)b->docs[i + 8]->now + 64);
}

/* Called with the answer, or its absence.  Ends the request. */
void request_on_answer(void *ctx, const struct http_result *result);
/* Free r.  Its documents must have been placed, parked, split or ended. */
void request_end(struct bulk_request *r);
/* Apply a successful answer to each document. */
void request_judge_items(struct bulk_request *r, const struct http_result *result);

/*
 * Tell whether the index is to blame for n_refused documents, while it took n_taken others.
 * Neither number may include documents that were refused before and are again.
 */
bool request_blames_index(struct bulk_request *r, size_t n_refused, size_t n_taken);
/*
 * The request is larger than the engine takes, as this status says: split it in two, or make a
 * single document a dead letter.
 */
void request_too_large(struct bulk_request *r, int status, struct str reason);
/*
 * The engine refused r with 429 without a reason.  Returns true if r is one large document
 * while smaller ones are taken: it then waits apart or is a dead letter.  Returns false if the
 * engine may just be busy.
 */
bool request_is_too_large(struct bulk_request *r, const struct err *why);
/*
 * Tell whether its one document may be too large or malformed, and nothing was taken since it
 * was refused: then send a feeler first, to see whether the engine takes anything.
 */
bool request_wants_feeler(const struct bulk_request *r);
/* Apply the answer to a feeler. */
void request_judge_feeler(struct bulk_request *r, int status, const struct err *why);
/* Send its halves next, each as a request of its own. */
void request_split_in_two(struct bulk_request *r);
/* Hold the index that request_blames_index() blames. */
void request_hold_for_guard(struct bulk_request *r, struct str reason);
/*
 * Count a request that was refused, not answered, or answered without a result for its
 * documents.
 */
void request_count_failed(struct bulk_request *r);
/* Pause the index after a failed request.  The next ones are small. */
void request_fail_gate(struct bulk_request *r, const struct err *why, int64_t retry_after_ms);
/* Return all documents and pause the index.  maybe_applied: repeat the same versions. */
void request_failed(struct bulk_request *r, bool maybe_applied, const struct err *why,
                    int64_t retry_after_ms);
/* Log that it failed, unless a line of its index says so already. */
void request_log_failed(const struct bulk_request *r, const struct err *err);
/* Return all documents: to the front of their lanes, or as the same part of a bisection. */
void request_return_all(struct bulk_request *r, bool maybe_applied);
/* The engine has not seen its one document: send it next, alone. */
void request_send_alone(struct bulk_request *r);
/* Count the failure for the index's fuse, unless the index is held. */
void request_count_failure(struct bulk_request *r, enum failure how, const struct err *why);
/* The engine answered, whatever it said: report that to the fuse. */
void request_answered(struct bulk_request *r);

#endif
