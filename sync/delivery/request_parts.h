/*
 * What the files of requests share.  Nobody else includes this; request.h is for all others.
 *
 * request_answer  what an answer as a whole says, and how a request ends for its documents
 * request_items   what an answer says of each document, and these of their index
 * request_send    requests are made and sent
 */
#ifndef SYNC_DELIVERY_REQUEST_PARTS_H
#define SYNC_DELIVERY_REQUEST_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/list.h"
#include "src/base/str.h"
#include "src/http_client.h"
#include "sync/delivery/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request {
    struct link link; /* in sender.requests */
    struct sender *sender;
    struct outlet *outlet;
    struct batch batch;
    struct buf body;
    int64_t sent_us;
    int64_t timeout_ms; /* as it was when it was sent */
    bool is_guarded; /* at its end is what keeps deletes from making an index */
    bool is_overdue;
};

/*
 * The documents of a batch lie all over the memory, and waiting for it is most of what a
 * document costs here: ask for those that come next.  (Inlined by force, or gcc takes a
 * function that only prefetches for one without effect.)
 */
__attribute__((always_inline)) static inline void fetch_ahead(const struct batch *b, size_t i)
{
    if (i + 16 >= b->n)
        return;
    __builtin_prefetch(b->docs[i + 16]);
    __builtin_prefetch(b->docs[i + 8]->now);
    __builtin_prefetch((const char *)b->docs[i + 8]->now + 64);
}

/* The answer has come, or there will be none.  It ends the request. */
void request_on_answer(void *ctx, const struct http_result *result);
/* Its documents have been placed, parked, split or ended.  Frees r. */
void request_end(struct request *r);
/* A good answer says something of each document. */
void request_judge_items(struct request *r, const struct http_result *result);

/*
 * Are so many refused documents, while so many were taken, the index's fault?  Those that were
 * refused before, and are again, are counted in neither number.
 */
bool request_is_guarded(struct request *r, size_t n_refused, size_t n_taken);
/* They are: it is held. */
void request_hold_for_guard(struct request *r, struct str reason);
/* It was refused whole, has no answer, or one that says nothing of its documents. */
void request_count_failed(struct request *r);
/* Nothing goes to the index for a while. */
void request_fail_gate(struct request *r, const struct err *why, int64_t retry_after_ms);
/* All of it goes again after that; maybe_applied: at the same version. */
void request_failed(struct request *r, bool maybe_applied, const struct err *why,
                    int64_t retry_after_ms);
void request_log_failed(const struct request *r, const struct err *err);
/* All of it again: from the front of the lanes, or as the same part of a bisection. */
void request_return_all(struct request *r, bool maybe_applied);
/* It brings the fuse nearer to blowing; that of an index that is held cannot. */
void request_melt(struct request *r, enum melt how, const struct err *why);
/* The engine has answered, whatever it says. */
void request_answered(struct request *r);

#endif
