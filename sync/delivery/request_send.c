#include "config.h"

#include "sync/delivery/request_parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/delivery/bulk/bulk.h"
#include "sync/delivery/outcome.h"
#include "sync/delivery/turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERDUE_MS 3000

/* End a document that no engine takes.  Its delete is done: it can never have been there. */
static void end_unfit(struct sender *s, struct document *doc)
{
    const struct write *w = doc->now;
    char reason[128];

    if (w->op == DOC_DELETE) {
        outcome_deliver(s, doc);
        return;
    }
    if (w->id_len == 0)
        snprintf(reason, sizeof(reason), "the _id is empty, which search engines refuse");
    else if (w->id_len > WRITE_ID_MAX)
        snprintf(reason, sizeof(reason),
                 "the _id has %" PRIu32 " bytes, but search engines take at most %d", w->id_len,
                 WRITE_ID_MAX);
    else
        snprintf(reason, sizeof(reason), "the document is larger than %zu bytes",
                 WRITE_BODY_MAX);
    outcome_refuse(s, doc, 0, str_from(reason));
}

/* Leave out documents that no engine takes, or the whole request would be refused. */
static void put_aside_unfit(struct bulk_request *r)
{
    struct batch *b = &r->batch;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        if (b->docs[i]->now->unfit)
            end_unfit(r->sender, b->docs[i]);
        else
            b->docs[n++] = b->docs[i];
    index_queue_shrink_batch(r->index_queue, b, n);
}

/* The version below which no area is updated. */
static uint64_t floor_of(const struct bulk_request *r)
{
    const struct delivery_options *opt = &r->sender->opt;
    const struct target *t = index_queue_target(r->index_queue);

    return t->n_areas == 0 || opt->area_floor == NULL ? 0 : opt->area_floor(opt->ctx, t);
}

static void make_feeler(struct bulk_request *r)
{
    r->is_feeler = true;
    bulk_append_guard(&r->body);
    write_ends_take(&r->sender->ends, r->allowance, r->body.cap);
}

/* Returns false if nothing can be sent. */
static bool make_body(struct bulk_request *r)
{
    const struct batch *b = &r->batch;
    bool any_unfit = false, any_write = false;
    const uint64_t floor = floor_of(r);

    if (request_wants_feeler(r)) {
        make_feeler(r);
        return true;
    }
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
    write_ends_take(&r->sender->ends, r->allowance, r->body.cap);
    return b->n > 0;
}

static void send_batch(struct sender *s, struct index_queue *o, const struct batch *b)
{
    struct bulk_request *r = mem_alloc(1, sizeof(*r));

    r->magic = MAGIC_bulk_request;
    r->sender = s;
    r->index_queue = o;
    r->batch = *b;
    r->sent_us = clock_mono_ns() / 1000;
    r->timeout_ms = s->opt.settings.request_timeout_ms;
    list_push_back(&s->requests, &r->link);
    s->helpers.n_requests++;
    if (r->batch.n_jobs > 0)
        guests_begin(&s->guests);
    r->is_without_room = !sender_has_room(s, o, 0);
    s->n_without_room += r->is_without_room;
    r->allowance = b->n > 0 ? write_account(b->docs[0]->now) : NULL;
    if (!make_body(r)) {
        request_end(r);
        return;
    }
    sender_settle(s); /* so that the next request sees less room */
    s->count.requests++;
    FAILPOINT(bulk_built);
    fuse_begin(&index_queue_gate(o)->fuse, s->now_ms);
    http_client_submit(s->http, &(struct http_request){
                                    .method = "POST",
                                    .path = index_queue_path(o),
                                    .body = buf_str(&r->body),
                                    .content_type = BULK_CONTENT_TYPE,
                                    .timeout_ms = s->opt.settings.request_timeout_ms,
                                    .gzip = s->opt.compress,
                                    .done = request_on_answer,
                                    .ctx = r,
                                });
}

/* Send for the next index queue in turn that has something; N_LINES: of any line. */
static bool send_one(struct sender *s, enum line line)
{
    struct batch b;

    for (size_t i = 0; i < s->index_queues.n; i++) {
        struct index_queue *o = index_queues_at(&s->index_queues, s->index_queues.sends, i);

        if ((line != N_LINES && !index_queue_has_line(o, line)) || !sender_may_send_to(s, o) ||
            !index_queue_next_batch(o, s->now_ms, sender_drains(s, o), &b))
            continue;
        s->went[LINE_JOBS] += b.n_jobs;
        s->went[LINE_STREAM] += b.n - b.n_jobs;
        send_batch(s, o, &b);
        s->index_queues.sends += i + 1;
        return true;
    }
    return false;
}

/* The list is in the order of sending, so stop at the first that is not overdue. */
/* The stream goes first, but jobs have their share beside the stream of other indexes, too. */
static bool send_owed(struct sender *s)
{
    const uint64_t share = s->opt.settings.fan_out_share;

    if (s->went[LINE_JOBS] * (100 - share) >= s->went[LINE_STREAM] * share)
        return false;
    if (send_one(s, LINE_JOBS))
        return true;
    memset(s->went, 0, sizeof(s->went)); /* nothing of jobs waits */
    return false;
}

static void note_overdue(struct sender *s)
{
    LIST_EACH(l, &s->requests)
    {
        struct bulk_request *r = LIST_ITEM(l, struct bulk_request, link);

        if (s->now_ms - r->sent_us / 1000 < OVERDUE_MS)
            return;
        if (r->is_overdue)
            continue;
        r->is_overdue = true;
        s->helpers.n_overdue++;
        index_queue_count_overdue(r->index_queue, 1);
    }
}

void request_turn(struct sender *s)
{
    note_overdue(s);
    while (!s->stopping && sender_may_send(s) &&
           (send_owed(s) || send_one(s, LINE_STREAM) || send_one(s, N_LINES)))
        ;
}

int64_t request_sent_ms(const struct sender *s, const struct document *doc)
{
    LIST_EACH(l, &s->requests)
    {
        const struct bulk_request *r = LIST_ITEM(l, struct bulk_request, link);

        for (size_t i = 0; i < r->batch.n; i++)
            if (r->batch.docs[i] == doc)
                return r->sent_us / 1000;
    }
    return s->now_ms;
}

void request_give_up_all(struct sender *s)
{
    LIST_EACH(l, &s->requests)
    {
        struct bulk_request *r = LIST_ITEM(l, struct bulk_request, link);

        if (r->batch.bisect != NULL && bisect_close(r->batch.bisect))
            bisect_free(r->batch.bisect);
        list_remove(&r->link);
        free(r->batch.docs);
        buf_free(&r->body);
        MAGIC_END(bulk_request, r);
        free(r);
    }
}
