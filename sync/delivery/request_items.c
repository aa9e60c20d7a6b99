#include "config.h"

#include "sync/delivery/request_parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "sync/delivery/bulk/bulk.h"
#include "sync/delivery/bulk/bulk_verdict.h"
#include "sync/delivery/conflict.h"
#include "sync/delivery/document/area.h"
#include "sync/delivery/outcome.h"

#include <assert.h>
#include <string.h>

#define DOUBTFUL_ATTEMPTS 5 /* each waits twice as long as the one before */

/* Sums up the items of one answer. */
struct item_tally {
    size_t of[N_ITEM_VERDICTS];
    bool is_new;             /* a document was sent for the first time */
    size_t n_judged;         /* documents that show whether the index takes such */
    bool guarded;            /* the index is to blame for those refused */
    struct parking *parking; /* for what must be sent again */
    struct parking *doubtful[DOUBTFUL_ATTEMPTS]; /* failed so many times without a reason */
    size_t worst; /* an item that holds the index, was refused, or came back */
    size_t lost;  /* an item that may not be applied, if there is one */
};

static struct bulk_sent sent_action(void *ctx, size_t i)
{
    const struct bulk_request *r = MAGIC_CAST(bulk_request, ctx);
    const struct batch *b = &r->batch;

    if (r->is_feeler || i == b->n)
        return (struct bulk_sent){.action = STR("update"), .id = STR(BULK_GUARD_ID)};

    const struct write *w = b->docs[i]->now;

    fetch_ahead(b, i);
    return (struct bulk_sent){bulk_action(w), write_id(w), str_from(w->target->index),
                              w->op == DOC_INDEX};
}

static enum item_verdict told_of(const struct bulk_request *r, size_t i)
{
    const struct bulk_response *answer = &r->sender->response;
    const struct bulk_error error = bulk_response_error(answer, i);

    if (answer->items[i].is_dropped)
        return ITEM_DROPPED;
    return bulk_verdict_of_item((enum doc_op)r->batch.docs[i]->now->op, answer->items[i].status,
                                &error);
}

/* A doubtful document is refused in the end. */
static enum item_verdict verdict_of(const struct bulk_request *r, size_t i)
{
    const enum item_verdict v = told_of(r, i);

    if (v == ITEM_DOUBTFUL && r->batch.docs[i]->n_doubtful + 1 >= DOUBTFUL_ATTEMPTS)
        return ITEM_REFUSED;
    return v;
}

/* Park doc in *parking, which opens for ms from now if it is not open yet. */
static void park_for(struct bulk_request *r, struct parking **parking, int64_t ms,
                     struct document *doc)
{
    if (*parking == NULL)
        *parking = index_queue_open_parking(r->index_queue, r->sender->now_ms + ms);
    r->sender->count.retries++;
    outcome_count_retry(doc);
    index_queue_park(r->index_queue, *parking, doc);
}

static void park(struct bulk_request *r, struct item_tally *t, struct document *doc)
{
    park_for(r, &t->parking,
             gate_retry_ms(index_queue_gate(r->index_queue), doc->attempts - 1u), doc);
}

static void lose_answer(struct bulk_request *r, struct item_tally *t, struct document *doc)
{
    outcome_lose(r->sender, doc);
    park(r, t, doc);
}

/*
 * The document may not be to blame.  Attempts are far apart, so a problem that ends in between
 * blames no document.
 */
static void doubt(struct bulk_request *r, struct item_tally *t, struct document *doc)
{
    const unsigned n = ++doc->n_doubtful;

    outcome_lose(r->sender, doc);
    park_for(r, &t->doubtful[n], r->sender->opt.doubtful_ms >> (DOUBTFUL_ATTEMPTS - n), doc);
}

static void refuse_item(struct bulk_request *r, size_t i)
{
    const struct bulk_error error = bulk_response_error(&r->sender->response, i);
    struct buf reason = {0};

    buf_printf(&reason, "%.*s: %.*s", STR_ARG(error.type), STR_ARG(error.reason));
    outcome_refuse(r->sender, r->batch.docs[i], r->sender->response.items[i].status,
                   buf_str(&reason));
    buf_free(&reason);
}

/* It never fits, at least not together with others of its shard. */
static void send_alone(struct bulk_request *r, size_t i)
{
    const struct bulk_error error = bulk_response_error(&r->sender->response, i);
    struct document *doc = r->batch.docs[i];

    if (r->batch.n == 1) {
        request_too_large(r, r->sender->response.items[i].status, error.reason);
        return;
    }
    r->sender->count.splits++;
    outcome_count_retry(doc);
    document_not_applied(doc, &r->sender->ends);
    index_queue_split(r->index_queue, &r->batch, i, i + 1, NULL);
}

/* An area that cannot be written alone: write the whole document. */
static void widen_item(struct bulk_request *r, size_t i)
{
    const struct bulk_error error = bulk_response_error(&r->sender->response, i);
    struct err why;

    err_set(&why, ERR_REJECT, "%.*s: %.*s", STR_ARG(error.type), STR_ARG(error.reason));
    outcome_widen(r->sender, r->batch.docs[i],
                  area_is_script_trouble(error.type, error.reason) ? &why : NULL);
}

static void apply_item(struct bulk_request *r, size_t i, enum item_verdict verdict,
                       struct item_tally *t)
{
    struct sender *s = r->sender;
    struct document *doc = r->batch.docs[i];

    switch (verdict) {
    case ITEM_DELIVERED: outcome_deliver(s, doc); break;
    case ITEM_DROPPED: outcome_drop(s, doc); break;
    case ITEM_CONFLICT:
        conflict_judge(s, doc, bulk_response_error(&s->response, i).reason);
        break;
    case ITEM_REFUSED:
        if (!t->guarded) {
            if (told_of(r, i) == ITEM_DOUBTFUL && doc->now->area == 0)
                delivery_metric_count(s->metric, COUNT_UNEXPLAINED, 1);
            refuse_item(r, i);
            break;
        }
        document_not_applied(doc, &s->ends);
        index_queue_place(r->index_queue, doc, s->now_ms);
        break;
    case ITEM_WHOLE: widen_item(r, i); break;
    case ITEM_TOO_LARGE: send_alone(r, i); break;
    case ITEM_BUSY:
        document_not_applied(doc, &s->ends);
        park(r, t, doc);
        break;
    case ITEM_UNKNOWN: lose_answer(r, t, doc); break;
    case ITEM_DOUBTFUL: doubt(r, t, doc); break;
    case ITEM_HOLD:
        document_not_applied(doc, &s->ends);
        index_queue_place_first(r->index_queue, doc, s->now_ms);
        break;
    case N_ITEM_VERDICTS: assert(false); break;
    }
}

/* Tell whether the index parsed and took it, or would have if it were newer or not dropped. */
static bool is_taken(const struct bulk_request *r, size_t i, enum item_verdict v)
{
    return (v == ITEM_DELIVERED || v == ITEM_DROPPED || v == ITEM_CONFLICT) &&
           r->batch.docs[i]->now->op != DOC_DELETE;
}

static void count_items(struct bulk_request *r, struct item_tally *t)
{
    const size_t n = r->batch.n;
    size_t n_taken = 0, n_again = 0;

    for (size_t i = n; i-- > 0;) {
        const enum item_verdict v = verdict_of(r, i);

        t->of[v]++;
        n_taken += is_taken(r, i, v);
        if (r->sender->response.n_errors == 0)
            continue;
        t->is_new = t->is_new || r->batch.docs[i]->attempts == 0;
        if (v == ITEM_UNKNOWN || v == ITEM_DOUBTFUL)
            t->lost = i;
        n_again += v == ITEM_REFUSED && letters_know(r->sender->letters, r->batch.docs[i]->now);
        if (v == ITEM_HOLD || (v == ITEM_REFUSED && t->of[ITEM_HOLD] == 0) ||
            t->of[ITEM_HOLD] + t->of[ITEM_REFUSED] == 0)
            t->worst = i;
    }
    t->n_judged = n_taken + t->of[ITEM_REFUSED] - n_again;
    t->guarded = request_blames_index(r, t->of[ITEM_REFUSED] - n_again, n_taken);
}

static size_t count_failed(const struct item_tally *t)
{
    return t->of[ITEM_UNKNOWN] + t->of[ITEM_DOUBTFUL];
}

static bool is_none_good(const struct bulk_request *r, const struct item_tally *t)
{
    return count_failed(t) + t->of[ITEM_BUSY] == r->batch.n;
}

/*
 * A parked document that fails again says nothing new about the index: one shard may cause it,
 * and the document has a backoff of its own.
 */
static void judge_failures(struct bulk_request *r, const struct item_tally *t,
                           const struct err *why)
{
    struct gate *gate = index_queue_gate(r->index_queue);
    const size_t n_failed = count_failed(t);
    const bool is_news = t->is_new || gate->fuse.state != FUSE_CLOSED;

    if (!is_none_good(r, t))
        gate_good(gate, r->sent_us / 1000);
    else if (is_news || t->of[ITEM_BUSY] > 0)
        request_fail_gate(r, why, -1);
    if (n_failed < r->batch.n)
        request_answered(r);
    else if (is_news)
        request_count_failure(r, FAILURE_ITEMS, why);
}

static void err_of_item(const struct bulk_request *r, size_t i, struct err *why)
{
    const struct bulk_error error = bulk_response_error(&r->sender->response, i);

    err_set_code(why, ERR_RETRY, "item", r->sender->response.items[i].status, "%.*s: %.*s",
                 STR_ARG(error.type), STR_ARG(error.reason));
}

/* Tell whether only documents that are not deletes show that the hold is over. */
static bool wants_documents(struct index_queue *o)
{
    return index_queue_held(o) == HOLD_GUARD || index_queue_gate(o)->cure == CURE_PIPELINE;
}

/* Release the index if the answer to a probe shows that it takes documents again. */
static void judge_probe(struct bulk_request *r, const struct item_tally *t)
{
    struct index_queue *o = r->index_queue;
    const size_t n_read = t->of[ITEM_DELIVERED] + t->of[ITEM_DROPPED] + t->of[ITEM_CONFLICT] +
                          t->of[ITEM_WHOLE] + t->of[ITEM_REFUSED];

    if (n_read == 0)
        return;
    if (!wants_documents(o) || t->n_judged > 0)
        index_health_release(&r->sender->health, o);
    else if (index_queue_held(o) == HOLD_BLOCK) /* deletes pass no pipeline: try what is next */
        gate_probe(index_queue_gate(o), r->sender->now_ms);
}

/* Record that the engine took a request; with its size only if it took all. */
static void note_taken(struct bulk_request *r, const struct item_tally *t)
{
    const size_t n_too_much = t->of[ITEM_BUSY] + t->of[ITEM_TOO_LARGE];

    if (count_failed(t) + n_too_much < r->batch.n)
        headroom_take(&r->sender->headroom, n_too_much == 0 ? r->body.len : 1);
}

/* A request names the write alias; only a pipeline can send a document to another index. */
static enum cure cure_of(const struct bulk_request *r, int status,
                         const struct bulk_error *worst)
{
    const struct target *t = index_queue_target(r->index_queue);
    const enum cure cure = cure_of_item(status, worst);
    const bool is_other =
        t->pipeline != NULL && memmem(worst->reason.ptr, worst->reason.len, t->write_alias,
                                      strlen(t->write_alias)) == NULL;

    return cure == CURE_MISSING && is_other ? CURE_RENAMED : cure;
}

/* Record how long the engine took for a request that it had room for. */
static void note_time(struct bulk_request *r)
{
    const int64_t us = clock_mono_ns() / 1000 - r->sent_us;

    limiter_good(&index_queue_gate(r->index_queue)->limiter, r->body.len, us / 1000);
    if (r->batch.n_jobs > 0)
        guests_answered(&r->sender->guests, r->body.len, us);
}

/* If all failed, judge_failures() sees to the limits. */
static void limit_next(struct bulk_request *r, const struct item_tally *t)
{
    if (is_none_good(r, t))
        return;
    if (t->of[ITEM_BUSY] == 0) {
        note_time(r);
        return;
    }
    limiter_busy(&index_queue_gate(r->index_queue)->limiter);
    if (r->batch.n_jobs > 0)
        guests_busy(&r->sender->guests);
}

/* Apply what all items together say about the index. */
static void judge_index_queue(struct bulk_request *r, const struct item_tally *t)
{
    struct sender *s = r->sender;
    struct gate *gate = index_queue_gate(r->index_queue);
    const struct bulk_error worst = bulk_response_error(&s->response, t->worst);
    struct err why;

    err_of_item(r, t->worst, &why);
    if (count_failed(t) > 0)
        err_of_item(r, t->lost, &index_queue_partly(r->index_queue)->why);
    if (t->of[ITEM_BUSY] > 0) {
        s->count.busy++;
        delivery_metric_refusal(s->metric, 429);
    }
    limit_next(r, t);
    note_taken(r, t);
    judge_failures(r, t, &why);
    if (t->of[ITEM_DELIVERED] + t->of[ITEM_DROPPED] + t->of[ITEM_CONFLICT] + t->of[ITEM_WHOLE] >
        0)
        gate->good_ms = s->now_ms;
    if (t->of[ITEM_HOLD] > 0) {
        index_health_hold(&s->health, r->index_queue, cure_of(r, why.code, &worst), &why);
    } else if (t->guarded) {
        request_hold_for_guard(r, worst.reason);
    } else if (r->batch.probe) {
        judge_probe(r, t);
    }
}

/* Documents were written where nobody finds them.  Send nothing more, not even a probe. */
static void stop(struct bulk_request *r, enum cure cure, const struct err *why)
{
    request_count_failed(r);
    request_return_all(r, true);
    index_health_hold(&r->sender->health, r->index_queue, cure, why);
}

static void lead_astray(struct bulk_request *r)
{
    const struct target *t = index_queue_target(r->index_queue);
    const struct str other = buf_str(&r->sender->response.elsewhere);
    struct err why;

    err_set_code(&why, ERR_RETRY, "alias", 0,
                 "the alias %s points to %" STR_FMT ", not to %s: somebody has moved it%s, and "
                 "the requests just sent were written there; fix: move it back (POST "
                 "/_aliases), and Millrace continues by itself",
                 t->write_alias, STR_ARG(other), t->index,
                 t->pipeline != NULL ? ", or the pipeline sets `_index`" : "");
    stop(r, CURE_ALIAS, &why);
}

static void stop_for_rename(struct bulk_request *r)
{
    const struct target *t = index_queue_target(r->index_queue);
    struct err why;

    err_set(&why, ERR_FATAL,
            "an ingest pipeline gave a document of %s another id, %s, so later changes of its "
            "row would not find it",
            t->index, r->sender->response.renamed.ptr);
    stop(r, CURE_RENAMED, &why);
}

/* Judge a feeler, or one document that may be too large.  Returns true if it was one. */
static bool is_judged_by_size(struct bulk_request *r, const struct err *why)
{
    const struct bulk_error error = bulk_response_error(&r->sender->response, 0);

    if (r->is_feeler) {
        request_judge_feeler(r, r->sender->response.items[0].status, why);
        return true;
    }
    if (bulk_verdict_room(error.type, error.reason) != ROOM_UNTOLD ||
        !request_is_too_large(r, why))
        return false;
    r->sender->count.busy++;
    delivery_metric_refusal(r->sender->metric, 429);
    request_answered(r);
    return true;
}

/*
 * An index may have a pipeline that no definition names (index.default_pipeline), so any
 * document may be told of out of its place; but an unknown id is no proof of such a pipeline.
 */
static bool read_answer(struct bulk_request *r, struct str body, struct err *err)
{
    struct bulk_response *answer = &r->sender->response;
    const size_t n = r->is_feeler ? 1 : r->batch.n + r->is_guarded;

    if (!bulk_response_read(answer, body, n, sent_action, r, err))
        return false;
    return answer->renamed.len == 0 || index_queue_target(r->index_queue)->pipeline != NULL ||
           err_set(err, ERR_RETRY, "bulk answer names document %s, which was not sent",
                   answer->renamed.ptr);
}

void request_judge_items(struct bulk_request *r, const struct http_result *result)
{
    struct sender *s = r->sender;
    struct item_tally t = {0};
    struct err err;

    if (!read_answer(r, result->body, &err)) {
        s->count.bad_responses++;
        request_count_failed(r);
        request_log_failed(r, &err);
        request_failed(r, true, &err, -1);
        request_count_failure(r, FAILURE_ANSWER, &err);
        return;
    }
    if (s->response.renamed.len > 0) {
        stop_for_rename(r);
        return;
    }
    if (s->response.elsewhere.len > 0) {
        lead_astray(r);
        return;
    }
    if (r->is_feeler || (r->batch.n == 1 && told_of(r, 0) == ITEM_BUSY)) {
        err_of_item(r, 0, &err);
        if (is_judged_by_size(r, &err))
            return;
    }
    count_items(r, &t);
    if (r->batch.bisect != NULL)
        r->batch.bisect->is_accepted = true;
    /* Go backwards, so that documents returned to the front of a lane keep their order. */
    for (size_t i = r->batch.n; i-- > 0;) {
        if (i >= 8)
            document_table_fetch(s->table, r->batch.docs[i - 8]->hash);
        apply_item(r, i, verdict_of(r, i), &t);
    }
    FAILPOINT(bulk_judged);
    judge_index_queue(r, &t);
}
