#include "config.h"

#include "sync/delivery/conflict.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/net/http_client.h"
#include "sync/delivery/bulk/bulk.h"
#include "sync/delivery/bulk/bulk_verdict.h"
#include "sync/delivery/document/area.h"
#include "sync/delivery/outcome.h"

#include <inttypes.h>
#include <stdlib.h>

#define VERSION_GAP AREA_UPDATES_MAX /* also for further bodies at an unmoved position */
#define UNTOLD_MAX  5                /* answers without a stored version */

/* A GET of the stored version. */
struct lookup {
    enum magic magic;
    struct link link; /* in sender.lookups */
    struct sender *sender;
    struct document *doc;
    struct buf path;
    int64_t sent_us;
};

/* Stop the index, with doc at the front. */
static void stop(struct sender *s, struct document *doc, const struct err *why)
{
    struct index_queue *o = doc->index_queue;

    document_not_applied(doc, &s->ends);
    index_queue_place_first(o, doc, s->now_ms);
    index_health_hold(&s->health, o, CURE_VERSION, why);
}

/* Repeat the same write after a while. */
static void ask_again(struct sender *s, struct document *doc)
{
    struct index_queue *o = doc->index_queue;
    const int64_t due_ms = s->now_ms + gate_retry_ms(index_queue_gate(o), doc->attempts);

    outcome_count_retry(doc);
    document_lost_answer(doc);
    index_queue_park(o, index_queue_open_parking(o, due_ms), doc);
}

static void stop_for_lineage(struct sender *s, struct document *doc, uint64_t stored,
                             uint64_t highest)
{
    const struct write *w = doc->now;
    struct err why;

    err_set(&why, ERR_FATAL,
            "document %.*s of %s has version %" PRIu64
            " in the engine, outside our lineage %" PRIu64 " to %" PRIu64
            ": another writer, or a lost store; rebuild the index",
            STR_ARG(write_id(w)), w->target->index, stored, w->target->version_min, highest);
    stop(s, doc, &why);
}

static void judge_version(struct sender *s, struct document *doc, uint64_t stored)
{
    const struct write *w = doc->now;
    const struct target *t = w->target;
    const uint64_t highest =
        s->opt.stamp_max == NULL ? UINT64_MAX : s->opt.stamp_max(s->opt.ctx, t);

    if (stored == w->version) {
        outcome_deliver(s, doc); /* an earlier copy of it was applied */
    } else if (stored < w->version) {
        ask_again(s, doc); /* an older version cannot have refused it */
    } else if (stored < t->version_min || stored > highest) {
        stop_for_lineage(s, doc, stored, highest);
    } else if (w->fresh && w->reread) {
        /* We cannot tell whether the stored document shows the change. */
        document_read_again(doc, stored, &s->ends);
        index_queue_place(doc->index_queue, doc, s->now_ms);
    } else if ((w->reread || (t->n_areas > 0 && w->key_len > 0)) &&
               stored - w->version <= VERSION_GAP) {
        document_read_again(doc, stored + 1, &s->ends);
        index_queue_place(doc->index_queue, doc, s->now_ms);
    } else {
        outcome_supersede(s, doc);
    }
}

/* The engine answered without naming the stored version. */
static void judge_untold(struct sender *s, struct document *doc)
{
    struct err why;

    if (++doc->n_untold < UNTOLD_MAX) {
        ask_again(s, doc);
        return;
    }
    err_set(
        &why, ERR_FATAL,
        "the engine refuses document %.*s of %s because of a version that it does not name; "
        "rebuild the index",
        STR_ARG(write_id(doc->now)), doc->now->target->index);
    stop(s, doc, &why);
}

static void end_lookup(struct lookup *q)
{
    list_remove(&q->link);
    buf_free(&q->path);
    MAGIC_END(lookup, q);
    free(q);
}

/* An engine that is away or overloaded tells nothing about the document. */
static bool says_something(const struct http_result *result)
{
    return result->outcome == HTTP_ANSWERED && result->status < 500 && result->status != 429;
}

static void on_stored_version(void *ctx, const struct http_result *result)
{
    struct lookup *q = MAGIC_CAST(lookup, ctx);
    struct sender *s = q->sender;
    struct document *doc = q->doc;
    uint64_t stored;

    sender_look_at_clock(s);
    delivery_metric_query(s->metric, result->outcome != HTTP_ANSWERED || result->status >= 500,
                          clock_mono_ns() / 1000 - q->sent_us);
    end_lookup(q);
    if (!says_something(result))
        ask_again(s, doc);
    else if (result->status == 200 && json_find_u64(result->body, "/_version", &stored))
        judge_version(s, doc, stored);
    else
        judge_untold(s, doc);
}

static void look_up(struct sender *s, struct document *doc)
{
    struct lookup *q = mem_alloc(1, sizeof(*q));

    q->magic = MAGIC_lookup;
    q->sender = s;
    q->doc = doc;
    q->sent_us = clock_mono_ns() / 1000;
    bulk_get_path(&q->path, str_from(doc->now->target->write_alias), doc->now);
    list_push_back(&s->lookups, &q->link);
    http_client_submit(s->http, &(struct http_request){
                                    .method = "GET",
                                    .path = buf_str(&q->path),
                                    .timeout_ms = s->opt.settings.request_timeout_ms,
                                    .done = on_stored_version,
                                    .ctx = q,
                                });
}

void conflict_judge(struct sender *s, struct document *doc, struct str reason)
{
    const struct write *w = doc->now;
    uint64_t stored;
    const bool is_told = bulk_verdict_stored_version(reason, &stored);

    if (is_told && (!w->strict || (w->ambiguous && stored == w->version)))
        judge_version(s, doc, stored);
    else if (w->strict)
        outcome_supersede(s, doc); /* a fill: what is stored is newer, or a fill, too */
    else
        look_up(s, doc);
}

void conflict_give_up_all(struct sender *s)
{
    LIST_EACH(l, &s->lookups)
    end_lookup(LIST_ITEM(l, struct lookup, link));
}
