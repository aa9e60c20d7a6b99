#include "config.h"

#include "sync/delivery/request_parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "sync/delivery/bulk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define OVERDUE_MS 3000

/* A delete of what can never have been there is done. */
static void end_unfit(struct sender *s, struct document *doc)
{
    const struct write *w = doc->now;
    char reason[128];

    if (w->op == DOC_DELETE) {
        sender_deliver(s, doc);
        return;
    }
    if (w->id_len == 0)
        snprintf(reason, sizeof(reason), "the _id is empty, and search engines take no such one");
    else if (w->id_len > WRITE_ID_MAX)
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
    s->helpers.n_requests++;
    if (!make_body(r)) {
        request_end(r);
        return;
    }
    s->count.requests++;
    FAILPOINT(bulk_built);
    fuse_begin(&outlet_gate(o)->fuse, s->now_ms);
    http_client_submit(s->http, &(struct http_request){
                                    .method = "POST",
                                    .path = outlet_path(o),
                                    .body = buf_str(&r->body),
                                    .content_type = BULK_CONTENT_TYPE,
                                    .timeout_ms = s->opt.request_timeout_ms,
                                    .gzip = s->opt.compress,
                                    .done = request_on_answer,
                                    .ctx = r,
                                });
}

/* The next outlet in turn that has something to send. */
static bool send_one(struct sender *s)
{
    struct batch b;

    for (size_t i = 0; i < s->outlets.n; i++) {
        struct outlet *o = outlets_at(&s->outlets, i);

        if (!sender_may_send_to(s, o) || !outlet_next_batch(o, s->now_ms, s->draining, &b))
            continue;
        send_batch(s, o, &b);
        s->outlets.turn++;
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
        s->helpers.n_overdue++;
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
