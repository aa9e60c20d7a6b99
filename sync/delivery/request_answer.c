#include "config.h"

#include "sync/delivery/request_parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/search/engine_error.h"
#include "sync/delivery/bulk/bulk_verdict.h"
#include "sync/delivery/index/seldom.h"
#include "sync/delivery/outcome.h"

#include <assert.h>
#include <stdlib.h>

static void split(struct bulk_request *r, size_t from, size_t to)
{
    struct bisect *bisect = r->batch.bisect;

    index_queue_split(r->index_queue, &r->batch, from, to,
                      bisect == NULL ? NULL : bisect_open(bisect));
}

void request_return_all(struct bulk_request *r, bool maybe_applied)
{
    struct sender *s = r->sender;

    s->count.retries += r->batch.n;
    for (size_t i = r->batch.n; i-- > 0;) {
        struct document *doc = r->batch.docs[i];

        outcome_count_retry(doc);
        if (maybe_applied)
            outcome_lose(s, doc);
        else
            document_not_applied(doc, &s->ends);
        if (r->batch.bisect == NULL)
            index_queue_place_first(r->index_queue, doc, s->now_ms);
    }
    if (r->batch.bisect != NULL)
        split(r, 0, r->batch.n);
}

void request_send_alone(struct bulk_request *r)
{
    r->sender->count.retries++;
    outcome_count_retry(r->batch.docs[0]);
    document_not_applied(r->batch.docs[0], &r->sender->ends);
    split(r, 0, 1);
}

void request_split_in_two(struct bulk_request *r)
{
    const size_t n = r->batch.n;

    r->sender->count.splits++;
    for (size_t i = 0; i < n; i++)
        document_not_applied(r->batch.docs[i], &r->sender->ends);
    split(r, n / 2, n);
    split(r, 0, n / 2); /* of a bisection the latest part goes first */
}

bool request_blames_index(struct bulk_request *r, size_t n_refused, size_t n_taken)
{
    return guard_judge(&index_queue_gate(r->index_queue)->guard, n_refused, n_taken,
                       index_queue_held(r->index_queue) == HOLD_GUARD);
}

void request_hold_for_guard(struct bulk_request *r, struct str reason)
{
    const struct guard *guard = &index_queue_gate(r->index_queue)->guard;
    struct err why;

    err_set(&why, ERR_RETRY,
            "the engine refused %zu of %zu documents, so the mapping%s or the definition is "
            "wrong: %.*s",
            guard->n_refused, guard->n_judged,
            index_queue_target(r->index_queue)->pipeline != NULL ? ", the pipeline" : "",
            STR_ARG(reason));
    index_health_hold(&r->sender->health, r->index_queue, CURE_MAPPING, &why);
}

/* The engine refuses whole requests, and took no part of one that would show what is wrong. */
static void hold_for_malformed(struct bulk_request *r, const struct bisect *b)
{
    struct err why;

    err_set(&why, ERR_RETRY,
            "the engine refuses whole requests, and no single document is to blame: %s",
            b->why.msg);
    index_health_hold(&r->sender->health, r->index_queue, CURE_REQUESTS, &why);
}

/*
 * Tell whether the document is to blame: it was refused alone before, and the engine has taken
 * something since.  An engine that refused everything for a while would have taken it now.
 */
static bool is_to_blame(struct sender *s, const struct document *doc)
{
    return letters_know(s->letters, doc->now) ||
           (doc->is_suspect && headroom_since(&s->headroom, doc->refused_at) > 0);
}

/* Try it once more, alone. */
static void suspect(struct bulk_request *r, struct document *doc)
{
    struct sender *s = r->sender;
    const int64_t ms = gate_retry_ms(index_queue_gate(r->index_queue), doc->attempts);

    s->count.retries++;
    outcome_count_retry(doc);
    doc->is_suspect = true;
    doc->refused_at = headroom_mark(&s->headroom);
    document_not_applied(doc, &s->ends);
    if (doc->is_suspect)
        index_queue_park(r->index_queue,
                         index_queue_open_parking(r->index_queue, s->now_ms + ms), doc);
    else /* a newer write has replaced it */
        index_queue_place(r->index_queue, doc, s->now_ms);
}

/*
 * Tell whether the index is to blame.  A document that is, or was refused before, proves
 * nothing if refused again.
 */
static bool is_index_to_blame(struct bulk_request *r, const struct bisect *b)
{
    size_t n_again = 0;

    if (b->is_given_up || index_queue_is_gone(r->index_queue))
        return true;
    for (size_t i = 0; i < b->n_refused; i++)
        n_again += is_to_blame(r->sender, b->refused[i]);
    if (!b->is_accepted)
        return b->n_refused > n_again;
    return request_blames_index(r, b->n_refused - n_again, b->n_documents - b->n_refused);
}

/*
 * The last part of a bisection was answered: blame the documents left, or the index.  They go
 * back to it if it was held meanwhile, or if it is gone, and are dropped with the rest then.
 */
static void end_bisect(struct bulk_request *r, struct bisect *b)
{
    struct sender *s = r->sender;
    const bool was_held = index_queue_gate(r->index_queue)->n_holds != b->n_holds,
               guarded = was_held || is_index_to_blame(r, b);

    for (size_t i = 0; i < b->n_refused; i++) {
        if (guarded) {
            document_not_applied(b->refused[i], &s->ends);
            index_queue_place(r->index_queue, b->refused[i], s->now_ms);
        } else if (is_to_blame(s, b->refused[i])) {
            outcome_refuse(s, b->refused[i], b->why.code, str_from(b->why.msg));
        } else {
            suspect(r, b->refused[i]);
        }
    }
    if (guarded && !was_held && !b->is_given_up && b->is_accepted)
        request_hold_for_guard(r, str_from(b->why.msg));
    else if (guarded && !was_held && !b->is_given_up)
        hold_for_malformed(r, b);
    bisect_free(b);
}

/* No document is to blame: return all to their lanes and hold the index. */
static void give_up_bisect(struct bulk_request *r, struct bisect *b)
{
    struct sender *s = r->sender;

    for (size_t i = 0; i < r->batch.n; i++) {
        document_not_applied(r->batch.docs[i], &s->ends);
        index_queue_place(r->index_queue, r->batch.docs[i], s->now_ms);
    }
    index_queue_unsplit(r->index_queue, b, s->now_ms);
    if (!b->is_given_up)
        hold_for_malformed(r, b);
    b->is_given_up = true;
}

void request_end(struct bulk_request *r)
{
    struct sender *s = r->sender;
    struct bisect *bisect = r->batch.bisect;

    write_ends_free(&s->ends, r->allowance, r->body.cap);
    s->helpers.n_requests--;
    if (r->batch.n_jobs > 0)
        guests_end(&s->guests);
    s->n_without_room -= r->is_without_room;
    if (r->is_overdue) {
        s->helpers.n_overdue--;
        index_queue_count_overdue(r->index_queue, -1);
    }
    list_remove(&r->link);
    index_queue_end_batch(r->index_queue, &r->batch);
    if (bisect != NULL && bisect_close(bisect))
        end_bisect(r, bisect);
    buf_free(&r->body);
    MAGIC_END(bulk_request, r);
    free(r);
}

void request_count_failed(struct bulk_request *r)
{
    r->sender->count.requests_failed++;
    delivery_metric_count(r->sender->metric, COUNT_FAILED_REQUESTS, 1);
}

void request_fail_gate(struct bulk_request *r, const struct err *why, int64_t retry_after_ms)
{
    struct gate *gate = index_queue_gate(r->index_queue);

    if (gate->hold == HOLD_NONE)
        gate->why = *why;
    limiter_failed(&gate->limiter);
    if (r->batch.n_jobs > 0)
        guests_busy(&r->sender->guests);
    gate_failed(gate, r->sent_us / 1000, r->sender->now_ms, retry_after_ms);
}

void request_failed(struct bulk_request *r, bool maybe_applied, const struct err *why,
                    int64_t retry_after_ms)
{
    request_return_all(r, maybe_applied);
    request_fail_gate(r, why, retry_after_ms);
}

/*
 * Tell whether the address may be to blame, as another one can be used.  That others were
 * answered there meanwhile proves nothing.
 */
static bool excuse_address(struct bulk_request *r, const struct http_result *result)
{
    return http_is_address_fault(result) &&
           http_client_has_other(r->sender->http, result->address) &&
           fuse_excuses(&index_queue_gate(r->index_queue)->fuse,
                        hash_bytes(str_from(result->address), 0) | 1, r->sent_us / 1000);
}

void request_count_failure(struct bulk_request *r, enum failure how, const struct err *why)
{
    struct sender *s = r->sender;
    struct fuse *fuse = &index_queue_gate(r->index_queue)->fuse;

    if (index_queue_held(r->index_queue) != HOLD_NONE)
        return;
    delivery_metric_count(s->metric, COUNT_MELTS, 1);
    index_health_note_fuse(&s->health, r->index_queue,
                           fuse_count_failure(fuse, how, r->sent_us / 1000, s->now_ms), why);
}

void request_answered(struct bulk_request *r)
{
    struct fuse *fuse = &index_queue_gate(r->index_queue)->fuse;

    index_health_note_fuse(&r->sender->health, r->index_queue,
                           fuse_good(fuse, r->sent_us / 1000), NULL);
}

void request_log_failed(const struct bulk_request *r, const struct err *err)
{
    uint64_t n_left_out;

    if (seldom_is_due(index_queue_request_lines(r->index_queue), r->sender->now_ms,
                      &n_left_out))
        log_failure(LOG_WARN, err, "bulk request failed, trying again",
                    KV("index", index_queue_index(r->index_queue)), KV("documents", r->batch.n),
                    KV("failed_since_last_line", n_left_out));
}

static void malformed(struct bulk_request *r, const struct err *why)
{
    struct batch *b = &r->batch;

    if (b->bisect == NULL) {
        b->bisect = bisect_new(b->n);
        b->bisect->n_holds = index_queue_gate(r->index_queue)->n_holds;
    }
    b->bisect->why = *why;
    if (bisect_is_hopeless(b->bisect))
        give_up_bisect(r, b->bisect);
    else if (b->n > 1)
        request_split_in_two(r);
    else
        bisect_refuse(b->bisect, b->docs[0]);
}

static void busy(struct bulk_request *r, enum bulk_room room, const struct err *why,
                 int64_t retry_after_ms)
{
    r->sender->count.busy++;
    if (room == ROOM_UNTOLD && request_is_too_large(r, why))
        return;
    request_failed(r, false, why, retry_after_ms);
}

/* Nothing can be wrong with a feeler itself. */
static enum request_verdict verdict_of(const struct bulk_request *r, int status,
                                       const struct buf *type, const struct buf *reason)
{
    const enum request_verdict v =
        bulk_verdict_of_request(status, buf_str(type), buf_str(reason));

    return r->is_feeler && (v == REQUEST_TOO_LARGE || v == REQUEST_MALFORMED) ? REQUEST_BUSY
                                                                              : v;
}

/* Act on the status and error of a refused request. */
static void judge_refusal(struct bulk_request *r, const struct http_result *result)
{
    struct sender *s = r->sender;
    struct buf type = {0}, reason = {0};
    struct err err;

    bulk_response_refusal(result->body, &type, &reason);
    err_set_code(&err, ERR_RETRY, "http", result->status, "HTTP %d%s%.*s%s%.*s%s",
                 result->status, type.len > 0 ? ": " : "", STR_ARG(buf_str(&type)),
                 reason.len > 0 ? ": " : "", STR_ARG(buf_str(&reason)),
                 engine_error_fix(result->status, result->body));

    const enum bulk_room room = bulk_verdict_room(buf_str(&type), buf_str(&reason));
    const enum request_verdict verdict = verdict_of(r, result->status, &type, &reason);

    if (verdict != REQUEST_UNKNOWN)
        request_answered(r);
    switch (verdict) {
    case REQUEST_ITEMS:
    case N_REQUEST_VERDICTS: assert(false); break;
    case REQUEST_UNKNOWN:
        request_log_failed(r, &err);
        request_failed(r, true, &err, result->retry_after_ms);
        if (!excuse_address(r, result))
            request_count_failure(r, FAILURE_ANSWER, &err);
        break;
    case REQUEST_BUSY: busy(r, room, &err, result->retry_after_ms); break;
    case REQUEST_TOO_LARGE: request_too_large(r, result->status, str_from(err.msg)); break;
    case REQUEST_MALFORMED: malformed(r, &err); break;
    case REQUEST_HOLD:
        request_return_all(r, false);
        index_health_hold(&s->health, r->index_queue,
                          cure_of_request(result->status, buf_str(&type), buf_str(&reason)),
                          &err);
        break;
    }
    buf_free(&type);
    buf_free(&reason);
}

/* There is no answer: timeout, or the connection was cut or refused. */
static void judge_silence(struct bulk_request *r, const struct http_result *result)
{
    const bool is_sent = result->outcome == HTTP_UNKNOWN;
    const int64_t timeout_ms = r->timeout_ms;
    const bool is_late = is_sent && result->took_ms >= timeout_ms - timeout_ms / 10;

    request_log_failed(r, &result->err);
    request_failed(r, is_sent, &result->err, -1);
    if (!excuse_address(r, result))
        request_count_failure(r, is_late ? FAILURE_ANSWER : FAILURE_CONNECTION, &result->err);
}

/* Tell whether the answer has an item for each document. */
static bool is_taken(const struct http_result *result)
{
    return result->outcome == HTTP_ANSWERED && result->status >= 200 && result->status < 300;
}

void request_on_answer(void *ctx, const struct http_result *result)
{
    struct bulk_request *r = MAGIC_CAST(bulk_request, ctx);
    struct delivery_metric *m = r->sender->metric;

    FAILPOINT(bulk_answered);
    sender_look_at_clock(r->sender);
    delivery_metric_request(m, r->body.len, r->batch.n, clock_mono_ns() / 1000 - r->sent_us);
    if (is_taken(result)) {
        request_judge_items(r, result);
    } else {
        delivery_metric_refusal(m, result->status);
        request_count_failed(r);
        if (result->outcome == HTTP_ANSWERED)
            judge_refusal(r, result);
        else
            judge_silence(r, result);
    }
    request_end(r);
}
