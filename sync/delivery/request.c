#include "config.h"

#include "sync/delivery/request.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/http_client.h"
#include "sync/delivery/area.h"
#include "sync/delivery/bulk.h"
#include "sync/delivery/bulk_verdict.h"
#include "sync/delivery/conflict.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GUARD_DOCUMENTS   20 /* so many refused, and more than half: the index is to blame */
#define DOUBTFUL_ATTEMPTS 5
#define OVERDUE_MS        3000

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

/* --- how a request ends for its documents --- */

static void split(struct request *r, size_t from, size_t to)
{
    struct bisect *bisect = r->batch.bisect;

    outlet_split(r->outlet, &r->batch, from, to, bisect == NULL ? NULL : bisect_open(bisect));
}

/* All of it again: from the front of the lanes, or as the same part of a bisection. */
static void return_all(struct request *r, bool maybe_applied)
{
    struct sender *s = r->sender;

    s->count.retries += r->batch.n;
    for (size_t i = r->batch.n; i-- > 0;) {
        struct document *doc = r->batch.docs[i];

        sender_count_retry(doc);
        if (maybe_applied)
            sender_lose(s, doc);
        else
            document_not_applied(doc, &s->ends);
        if (r->batch.bisect == NULL)
            outlet_place_first(r->outlet, doc, s->now_ms);
    }
    if (r->batch.bisect != NULL)
        split(r, 0, r->batch.n);
}

static void split_in_two(struct request *r)
{
    const size_t n = r->batch.n;

    r->sender->count.splits++;
    for (size_t i = 0; i < n; i++)
        document_not_applied(r->batch.docs[i], &r->sender->ends);
    split(r, 0, n / 2);
    split(r, n / 2, n);
}

/* Are so many refused documents of n the index's fault?  Those that were refused before, and are
 * again, are not counted in either number. */
static bool is_guarded(const struct request *r, size_t n_refused, size_t n)
{
    const bool is_suspect = outlet_held(r->outlet) == HOLD_GUARD;

    return n_refused * 2 > n && (is_suspect || n_refused >= GUARD_DOCUMENTS);
}

static void hold_for_guard(struct request *r, size_t n_refused, size_t n, struct str reason)
{
    struct err why;

    err_set(&why, ERR_RETRY,
            "%zu of %zu documents are refused, so the mapping or the definition is wrong: %.*s",
            n_refused, n, STR_ARG(reason));
    sender_hold(r->sender, r->outlet, HOLD_GUARD, &why);
}

/* The last part of a bisection is answered: are those that are left to blame, or the index? */
static void end_bisect(struct request *r, struct bisect *b)
{
    struct sender *s = r->sender;
    const bool guarded = b->is_given_up || is_guarded(r, b->n_refused, b->n_documents);

    for (size_t i = 0; i < b->n_refused; i++) {
        if (!guarded) {
            sender_refuse(s, b->refused[i], b->why.code, str_from(b->why.msg));
            continue;
        }
        document_not_applied(b->refused[i], &s->ends);
        outlet_place(r->outlet, b->refused[i], s->now_ms);
    }
    if (guarded && !b->is_given_up)
        hold_for_guard(r, b->n_refused, b->n_documents, str_from(b->why.msg));
    bisect_free(b);
}

/* No document is to blame: all go back to their lanes, and the index is held. */
static void give_up_bisect(struct request *r, struct bisect *b)
{
    struct sender *s = r->sender;

    for (size_t i = 0; i < r->batch.n; i++) {
        document_not_applied(r->batch.docs[i], &s->ends);
        outlet_place(r->outlet, r->batch.docs[i], s->now_ms);
    }
    outlet_unsplit(r->outlet, b, s->now_ms);
    if (!b->is_given_up)
        hold_for_guard(r, b->n_documents, b->n_documents, str_from(b->why.msg));
    b->is_given_up = true;
}

static void end_request(struct request *r)
{
    struct sender *s = r->sender;
    struct bisect *bisect = r->batch.bisect;

    s->ends.freed += r->body.cap;
    s->n_requests--;
    if (r->is_overdue) {
        s->n_overdue--;
        outlet_count_overdue(r->outlet, -1);
    }
    list_remove(&r->link);
    outlet_end_batch(r->outlet, &r->batch);
    if (bisect != NULL && bisect_close(bisect))
        end_bisect(r, bisect);
    buf_free(&r->body);
    free(r);
}

/* --- answers without items --- */

static void fail_gate(struct request *r, const struct err *why, int64_t retry_after_ms)
{
    struct gate *gate = outlet_gate(r->outlet);

    if (gate->hold == HOLD_NONE)
        gate->why = *why;
    gate_failed(gate, r->sent_us / 1000, r->sender->now_ms, retry_after_ms);
}

static void failed(struct request *r, bool maybe_applied, const struct err *why,
                   int64_t retry_after_ms)
{
    r->sender->count.requests_failed++;
    delivery_metric_count(r->sender->metric, COUNT_FAILED_REQUESTS, 1);
    return_all(r, maybe_applied);
    fail_gate(r, why, retry_after_ms);
}

/* It brings the fuse nearer to blowing. */
static void melt(struct request *r, enum melt how, const struct err *why)
{
    struct sender *s = r->sender;
    struct fuse *fuse = &outlet_gate(r->outlet)->fuse;

    delivery_metric_count(s->metric, COUNT_MELTS, 1);
    if (outlet_held(r->outlet) == HOLD_NONE)
        sender_note_fuse(s, r->outlet, fuse_melt(fuse, how, r->sent_us / 1000, s->now_ms), why);
}

/* The engine has answered, whatever it says. */
static void answered(struct request *r)
{
    struct fuse *fuse = &outlet_gate(r->outlet)->fuse;

    sender_note_fuse(r->sender, r->outlet, fuse_good(fuse, r->sent_us / 1000), NULL);
}

static void log_failed(const struct request *r, const struct err *err)
{
    log_failure(LOG_WARN, err, "bulk request failed, trying again",
                KV("index", outlet_index(r->outlet)), KV("documents", r->batch.n));
}

static void too_large(struct request *r, struct str reason)
{
    if (r->batch.n == 1) {
        struct err why;

        err_set(&why, ERR_REJECT, "a request of %zu bytes for one document is larger than the "
                "search engine takes (its http.max_content_length): %" STR_FMT,
                r->body.len, STR_ARG(reason));
        sender_refuse(r->sender, r->batch.docs[0], 413, str_from(why.msg));
        return;
    }
    limiter_too_large(&outlet_gate(r->outlet)->limiter, r->body.len);
    split_in_two(r);
}

static void malformed(struct request *r, const struct err *why)
{
    struct batch *b = &r->batch;

    if (b->n == 1 && b->bisect == NULL) {
        sender_refuse(r->sender, b->docs[0], why->code, str_from(why->msg));
        return;
    }
    if (b->bisect == NULL)
        b->bisect = bisect_new(b->n);
    b->bisect->why = *why;
    if (bisect_is_hopeless(b->bisect))
        give_up_bisect(r, b->bisect);
    else if (b->n > 1)
        split_in_two(r);
    else
        bisect_refuse(b->bisect, b->docs[0]);
}

/* A refused request: what its status and error mean. */
static void judge_refusal(struct request *r, const struct http_result *result)
{
    struct sender *s = r->sender;
    struct gate *gate = outlet_gate(r->outlet);
    struct buf type = {0}, reason = {0};
    struct err err;

    bulk_response_refusal(result->body, &type, &reason);
    err_set_code(&err, ERR_RETRY, "http", result->status, "HTTP %d%s%.*s%s%.*s", result->status,
                 type.len > 0 ? ": " : "", STR_ARG(buf_str(&type)),
                 reason.len > 0 ? ": " : "", STR_ARG(buf_str(&reason)));

    const enum request_verdict verdict =
        bulk_verdict_of_request(result->status, buf_str(&type), buf_str(&reason));

    if (verdict != REQUEST_UNKNOWN)
        answered(r);
    switch (verdict) {
    case REQUEST_ITEMS:
    case N_REQUEST_VERDICTS: assert(false); break;
    case REQUEST_UNKNOWN:
        log_failed(r, &err);
        limiter_busy(&gate->limiter);
        failed(r, true, &err, result->retry_after_ms);
        melt(r, MELT_ANSWER, &err);
        break;
    case REQUEST_BUSY:
        s->count.busy++;
        limiter_busy(&gate->limiter);
        failed(r, false, &err, result->retry_after_ms);
        break;
    case REQUEST_TOO_LARGE: too_large(r, str_from(err.msg)); break;
    case REQUEST_MALFORMED:
        if (r->batch.probe && outlet_held(r->outlet) == HOLD_BLOCK)
            sender_release(s, r->outlet); /* it looks at documents again */
        malformed(r, &err);
        break;
    case REQUEST_HOLD:
        return_all(r, false);
        sender_hold(s, r->outlet, HOLD_BLOCK, &err);
        break;
    }
    buf_free(&type);
    buf_free(&reason);
}

/* --- answers with items --- */

/* What the items of one answer have come to. */
struct tally {
    size_t of[N_ITEM_VERDICTS];
    bool is_new;             /* a document was sent for the first time */
    bool guarded;            /* refused documents are not to blame */
    struct parking *parking; /* of what is to be sent again */
    size_t worst;            /* an item that holds the index, or was refused, or came back */
};

static struct bulk_sent sent_action(void *ctx, size_t i)
{
    const struct batch *b = ctx;

    if (i == b->n)
        return (struct bulk_sent){STR("update"), STR(BULK_GUARD_ID)};

    const struct write *w = b->docs[i]->now;

    fetch_ahead(b, i);
    return (struct bulk_sent){bulk_action(w), write_id(w)};
}

static enum item_verdict told_of(const struct request *r, size_t i)
{
    const struct bulk_response *answer = &r->sender->response;
    const struct bulk_error error = bulk_response_error(answer, i);

    return bulk_verdict_of_item((enum doc_op)r->batch.docs[i]->now->op, answer->items[i].status,
                                error.type, error.reason);
}

/* What is doubtful is refused in the end. */
static enum item_verdict verdict_of(const struct request *r, size_t i)
{
    const enum item_verdict v = told_of(r, i);

    if (v == ITEM_DOUBTFUL && r->batch.docs[i]->attempts + 1 >= DOUBTFUL_ATTEMPTS)
        return ITEM_REFUSED;
    return v;
}

static void park(struct request *r, struct tally *t, struct document *doc)
{
    struct gate *gate = outlet_gate(r->outlet);

    if (t->parking == NULL)
        t->parking = outlet_open_parking(
            r->outlet, r->sender->now_ms + gate_retry_ms(gate, doc->attempts - 1u));
    r->sender->count.retries++;
    sender_count_retry(doc);
    outlet_park(r->outlet, t->parking, doc);
}

static void lose_answer(struct request *r, struct tally *t, struct document *doc)
{
    sender_lose(r->sender, doc);
    park(r, t, doc);
}

static void refuse_item(struct request *r, size_t i)
{
    const struct bulk_error error = bulk_response_error(&r->sender->response, i);
    struct buf reason = {0};

    buf_printf(&reason, "%.*s: %.*s", STR_ARG(error.type), STR_ARG(error.reason));
    sender_refuse(r->sender, r->batch.docs[i], r->sender->response.items[i].status,
                  buf_str(&reason));
    buf_free(&reason);
}

/* An area that cannot be written alone: the whole document is. */
static void widen_item(struct request *r, size_t i)
{
    const struct bulk_error error = bulk_response_error(&r->sender->response, i);
    struct err why;

    err_set(&why, ERR_REJECT, "%.*s: %.*s", STR_ARG(error.type), STR_ARG(error.reason));
    sender_widen(r->sender, r->batch.docs[i],
                 area_is_script_trouble(error.type, error.reason) ? &why : NULL);
}

static void apply_item(struct request *r, size_t i, enum item_verdict verdict, struct tally *t)
{
    struct sender *s = r->sender;
    struct document *doc = r->batch.docs[i];

    switch (verdict) {
    case ITEM_DELIVERED: sender_deliver(s, doc); break;
    case ITEM_CONFLICT:
        conflict_judge(s, doc, bulk_response_error(&s->response, i).reason);
        break;
    case ITEM_REFUSED:
        if (!t->guarded) {
            s->count.doubtful += told_of(r, i) == ITEM_DOUBTFUL;
            refuse_item(r, i);
            break;
        }
        document_not_applied(doc, &s->ends);
        outlet_place(r->outlet, doc, s->now_ms);
        break;
    case ITEM_WHOLE: widen_item(r, i); break;
    case ITEM_BUSY:
        document_not_applied(doc, &s->ends);
        park(r, t, doc);
        break;
    case ITEM_UNKNOWN:
    case ITEM_DOUBTFUL: lose_answer(r, t, doc); break;
    case ITEM_HOLD:
        document_not_applied(doc, &s->ends);
        outlet_place_first(r->outlet, doc, s->now_ms);
        break;
    case N_ITEM_VERDICTS: assert(false); break;
    }
}

static void count_items(const struct request *r, struct tally *t)
{
    const size_t n = r->batch.n;
    size_t n_again = 0;

    if (r->sender->response.n_errors == 0) {
        for (size_t i = 0; i < n; i++)
            t->of[verdict_of(r, i)]++;
        return;
    }
    for (size_t i = n; i-- > 0;) {
        const enum item_verdict v = verdict_of(r, i);

        t->of[v]++;
        t->is_new = t->is_new || r->batch.docs[i]->attempts == 0;
        n_again += v == ITEM_REFUSED && letters_know(r->sender->letters, r->batch.docs[i]->now);
        if (v == ITEM_HOLD || (v == ITEM_REFUSED && t->of[ITEM_HOLD] == 0) ||
            t->of[ITEM_HOLD] + t->of[ITEM_REFUSED] == 0)
            t->worst = i;
    }
    t->guarded = is_guarded(r, t->of[ITEM_REFUSED] - n_again, n - n_again);
}

/*
 * What was parked and fails again says nothing new about the index: it may be of one shard, and
 * has a backoff of its own.
 */
static void judge_failures(struct request *r, const struct tally *t, const struct err *why)
{
    struct gate *gate = outlet_gate(r->outlet);
    const size_t n_failed = t->of[ITEM_UNKNOWN] + t->of[ITEM_DOUBTFUL];
    const bool none_good = n_failed + t->of[ITEM_BUSY] == r->batch.n;
    const bool is_news = t->is_new || gate->fuse.state != FUSE_CLOSED;

    if (!none_good)
        gate_good(gate, r->sent_us / 1000);
    else if (is_news || t->of[ITEM_BUSY] > 0)
        fail_gate(r, why, -1);
    if (n_failed < r->batch.n)
        answered(r);
    else if (is_news)
        melt(r, MELT_ITEMS, why);
}

/* What the items together say about the index. */
static void judge_outlet(struct request *r, const struct tally *t)
{
    struct sender *s = r->sender;
    const size_t n = r->batch.n;
    struct gate *gate = outlet_gate(r->outlet);
    const struct bulk_error worst = bulk_response_error(&s->response, t->worst);
    struct err why;

    err_set_code(&why, ERR_RETRY, "item", s->response.items[t->worst].status,
                 "%.*s: %.*s", STR_ARG(worst.type), STR_ARG(worst.reason));
    if (t->of[ITEM_BUSY] > 0) {
        s->count.busy++;
        delivery_metric_refusal(s->metric, 429);
        limiter_busy(&gate->limiter);
    } else {
        limiter_good(&gate->limiter, r->body.len, s->now_ms - r->sent_us / 1000);
    }
    judge_failures(r, t, &why);
    if (t->of[ITEM_DELIVERED] + t->of[ITEM_CONFLICT] + t->of[ITEM_WHOLE] > 0)
        gate->good_ms = s->now_ms;
    if (t->of[ITEM_HOLD] > 0) {
        sender_hold(s, r->outlet, HOLD_BLOCK, &why);
    } else if (t->guarded) {
        hold_for_guard(r, t->of[ITEM_REFUSED], n, worst.reason);
    } else if (r->batch.probe && t->of[ITEM_DELIVERED] + t->of[ITEM_CONFLICT] +
                                         t->of[ITEM_WHOLE] + t->of[ITEM_REFUSED] >
                                     0) {
        sender_release(s, r->outlet);
    }
}

static void judge_items(struct request *r, const struct http_result *result)
{
    struct sender *s = r->sender;
    struct tally t = {0};
    struct err err;

    if (!bulk_response_read(&s->response, result->body, r->batch.n + r->is_guarded, sent_action,
                            &r->batch, &err)) {
        s->count.bad_responses++;
        log_failed(r, &err);
        failed(r, true, &err, -1);
        melt(r, MELT_ANSWER, &err);
        return;
    }
    count_items(r, &t);
    if (r->batch.bisect != NULL)
        r->batch.bisect->is_accepted = true;
    /* Backwards, so that what goes to the front of its lane keeps its order. */
    for (size_t i = r->batch.n; i-- > 0;) {
        if (i >= 8)
            document_table_fetch(s->table, r->batch.docs[i - 8]->hash);
        apply_item(r, i, verdict_of(r, i), &t);
    }
    judge_outlet(r, &t);
}

/* No answer: not in time, or its connection was cut, or refused. */
static void judge_silence(struct request *r, const struct http_result *result)
{
    const bool is_sent = result->outcome == HTTP_UNKNOWN;
    const int64_t timeout_ms = r->timeout_ms;
    const bool is_late = is_sent && result->took_ms >= timeout_ms - timeout_ms / 10;

    log_failed(r, &result->err);
    if (is_sent)
        limiter_busy(&outlet_gate(r->outlet)->limiter);
    failed(r, is_sent, &result->err, -1);
    melt(r, is_late ? MELT_ANSWER : MELT_CONNECTION, &result->err);
}

static void on_answer(void *ctx, const struct http_result *result)
{
    struct request *r = ctx;
    struct delivery_metric *m = r->sender->metric;

    sender_look_at_clock(r->sender);
    delivery_metric_request(m, r->body.len, r->batch.n, clock_mono_ns() / 1000 - r->sent_us);
    if (result->status < 200 || result->status >= 300)
        delivery_metric_refusal(m, result->status);
    if (result->outcome == HTTP_ANSWERED && result->status >= 200 && result->status < 300) {
        judge_items(r, result);
    } else if (result->outcome == HTTP_ANSWERED) {
        judge_refusal(r, result);
    } else {
        judge_silence(r, result);
    }
    end_request(r);
}

/* --- sending --- */

/* A delete of what can never have been there is done. */
static void end_unfit(struct sender *s, struct document *doc)
{
    const struct write *w = doc->now;
    char reason[128];

    if (w->op == DOC_DELETE) {
        sender_deliver(s, doc);
        return;
    }
    if (w->id_len > WRITE_ID_MAX)
        snprintf(reason, sizeof(reason),
                 "the _id has %" PRIu32 " bytes, and search engines take %d at most", w->id_len,
                 WRITE_ID_MAX);
    else
        snprintf(reason, sizeof(reason), "the document is larger than %zu bytes",
                 WRITE_BODY_MAX);
    sender_refuse(s, doc, 0, str_from(reason));
}

/* What no engine takes is not sent, or it would have the whole request refused. */
static void put_aside_unfit(struct request *r)
{
    struct batch *b = &r->batch;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        if (b->docs[i]->now->unfit)
            end_unfit(r->sender, b->docs[i]);
        else
            b->docs[n++] = b->docs[i];
    outlet_shrink_batch(r->outlet, b, n);
}

/* Below which no area is updated. */
static uint64_t floor_of(const struct request *r)
{
    const struct delivery_options *opt = &r->sender->opt;
    const struct target *t = outlet_target(r->outlet);

    return t->n_areas == 0 || opt->area_floor == NULL ? 0 : opt->area_floor(opt->ctx, t);
}

/* False: nothing of it can be sent. */
static bool make_body(struct request *r)
{
    const struct batch *b = &r->batch;
    bool any_unfit = false, any_write = false;
    const uint64_t floor = floor_of(r);

    buf_reserve(&r->body, b->bytes);
    for (size_t i = 0; i < b->n; i++) {
        const struct write *w = b->docs[i]->now;

        fetch_ahead(b, i);
        any_unfit = any_unfit || w->unfit;
        any_write = any_write || (!w->unfit && w->op != DOC_DELETE);
        if (!w->unfit)
            bulk_append(&r->body, w, floor);
    }
    if (any_unfit)
        put_aside_unfit(r);
    r->is_guarded = b->n > 0 && !any_write;
    if (r->is_guarded)
        bulk_append_guard(&r->body);
    r->sender->ends.taken += r->body.cap;
    return b->n > 0;
}

static void send_batch(struct sender *s, struct outlet *o, const struct batch *b)
{
    struct request *r = mem_alloc(1, sizeof(*r));

    r->sender = s;
    r->outlet = o;
    r->batch = *b;
    r->sent_us = clock_mono_ns() / 1000;
    r->timeout_ms = s->opt.request_timeout_ms;
    list_push_back(&s->requests, &r->link);
    s->n_requests++;
    if (!make_body(r)) {
        end_request(r);
        return;
    }
    s->count.requests++;
    fuse_begin(&outlet_gate(o)->fuse, s->now_ms);
    http_client_submit(s->http, &(struct http_request){
                                    .method = "POST",
                                    .path = outlet_path(o),
                                    .body = buf_str(&r->body),
                                    .content_type = BULK_CONTENT_TYPE,
                                    .timeout_ms = s->opt.request_timeout_ms,
                                    .gzip = s->opt.compress,
                                    .done = on_answer,
                                    .ctx = r,
                                });
}

/* The next outlet in turn that has something to send. */
static bool send_one(struct sender *s)
{
    struct batch b;

    for (size_t i = 0; i < s->n_outlets; i++) {
        struct outlet *o = sender_outlet(s, i);

        if (!sender_may_send_to(s, o) || !outlet_next_batch(o, s->now_ms, s->draining, &b))
            continue;
        send_batch(s, o, &b);
        s->turn++;
        return true;
    }
    return false;
}

/* The oldest come first. */
static void note_overdue(struct sender *s)
{
    LIST_EACH(l, &s->requests)
    {
        struct request *r = LIST_ITEM(l, struct request, link);

        if (s->now_ms - r->sent_us / 1000 < OVERDUE_MS)
            return;
        if (r->is_overdue)
            continue;
        r->is_overdue = true;
        s->n_overdue++;
        outlet_count_overdue(r->outlet, 1);
    }
}

void request_turn(struct sender *s)
{
    note_overdue(s);
    while (!s->stopping && sender_may_send(s) && send_one(s))
        ;
}

void request_give_up_all(struct sender *s)
{
    LIST_EACH(l, &s->requests)
    {
        struct request *r = LIST_ITEM(l, struct request, link);

        if (r->batch.bisect != NULL && bisect_close(r->batch.bisect))
            bisect_free(r->batch.bisect);
        list_remove(&r->link);
        free(r->batch.docs);
        buf_free(&r->body);
        free(r);
    }
}
