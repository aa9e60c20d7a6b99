#include "config.h"

#include "sync/delivery/outcome.h"
#include "sync/delivery/request_parts.h"

#include <stdlib.h>

/* An engine has room for a request of this size, or is busy. */
#define LARGE_MIN ((size_t)1 << 20)
/* Give up a document refused this often in a row while smaller ones are taken. */
#define ATTEMPTS 5

static void refuse(struct bulk_request *r, int status, const char *what, struct str reason)
{
    struct err why;

    err_set(
        &why, ERR_REJECT,
        "a request of %zu bytes for one document is larger than the search engine takes (%s): "
        "%" STR_FMT,
        r->body.len, what, STR_ARG(reason));
    outcome_refuse(r->sender, r->batch.docs[0], status, str_from(why.msg));
}

void request_too_large(struct bulk_request *r, int status, struct str reason)
{
    if (r->batch.n == 1) {
        refuse(r, status,
               status == 413 ? "its http.max_content_length"
                             : "its indexing_pressure.memory.limit",
               reason);
        return;
    }
    limiter_too_large(&index_queue_gate(r->index_queue)->limiter, r->body.len);
    request_split_in_two(r);
}

/*
 * Park it, so that the others go on.  Attempts are far apart, so a problem that ends in between
 * blames no document.
 */
static void wait_apart(struct bulk_request *r, struct document *doc)
{
    struct sender *s = r->sender;
    const int64_t ms = s->opt.doubtful_ms >> (ATTEMPTS - doc->n_too_large);

    s->count.retries++;
    outcome_count_retry(doc);
    document_not_applied(doc, &s->ends);
    if (doc->n_too_large == 0) /* a newer write has replaced it */
        index_queue_place_first(r->index_queue, doc, s->now_ms);
    else
        index_queue_park(r->index_queue,
                         index_queue_open_parking(r->index_queue, s->now_ms + ms), doc);
}

bool request_is_too_large(struct bulk_request *r, const struct err *why)
{
    struct document *doc = r->batch.docs[0];
    struct headroom *h = &r->sender->headroom;

    if (r->batch.n != 1 || r->is_feeler || r->body.len < LARGE_MIN)
        return false;
    /* Otherwise something smaller was taken, or it would not have been sent again. */
    if (headroom_since(h, doc->refused_at) >= r->body.len)
        doc->n_too_large = 0;
    doc->refused_at = headroom_mark(h);
    if (++doc->n_too_large == 1)
        return false;
    if (doc->n_too_large < ATTEMPTS)
        wait_apart(r, doc);
    else
        refuse(r, why->code, "it answers 429 each time, but takes smaller requests in between",
               str_from(why->msg));
    return true;
}

bool request_wants_feeler(const struct bulk_request *r)
{
    const struct document *doc = r->batch.n == 1 ? r->batch.docs[0] : NULL;

    return doc != NULL && (doc->n_too_large > 0 || doc->is_suspect) &&
           headroom_since(&r->sender->headroom, doc->refused_at) == 0;
}

void request_judge_feeler(struct bulk_request *r, int status, const struct err *why)
{
    struct sender *s = r->sender;

    if (status == 429) {
        s->count.busy++;
        request_failed(r, false, why, -1);
        return;
    }
    headroom_take(&s->headroom, r->body.len);
    gate_good(index_queue_gate(r->index_queue), r->sent_us / 1000);
    request_answered(r);
    request_send_alone(r);
}
