#include "config.h"

#include "sync/delivery/read_batcher.h"

#include "src/base/arena.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/delivery/entries.h"
#include "sync/delivery/index/seldom.h"
#include "sync/delivery/outcome.h"
#include "sync/delivery/turn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD_MAX_MS 1000 /* between checks whether the stream has come far enough */

struct batch_load {
    struct load_batch batch; /* the loader's view */
    struct link link;        /* in sender.loads */
    struct index_queue *index_queue;
    struct document **docs; /* of the items, in their order */
    size_t expected;        /* bytes, as it counts in sender.loading */
};

static void free_load(struct batch_load *load)
{
    target_unref(load->batch.target);
    arena_free(load->batch.arena);
    free(load->batch.items);
    free(load->docs);
    free(load);
}

void read_batcher_drop(struct load_batch *batch)
{
    struct batch_load *load = CONTAINER_OF(batch, struct batch_load, batch);

    if (link_is_listed(&load->link))
        list_remove(&load->link);
    free_load(load);
}

static void fill_item(struct load_item *item, const struct document *doc, struct arena *a)
{
    *item = (struct load_item){
        .id = arena_copy(a, write_id(doc->now)),
        .routing = arena_copy(a, write_routing(doc->now)),
        .key = arena_copy(a, write_key(doc->now)),
        .at_least = doc->now->version,
    };
}

/* Takes over docs. */
static void hand_out(struct sender *s, struct index_queue *o, struct document **docs, size_t n)
{
    struct batch_load *load = mem_alloc(1, sizeof(*load));
    struct load_batch *batch = &load->batch;

    load->index_queue = o;
    load->docs = docs;
    batch->target = target_ref(docs[0]->now->target);
    batch->area = docs[0]->now->area;
    batch->arena = arena_new();
    batch->items = mem_alloc(n, sizeof(*batch->items));
    batch->n_items = n;
    for (size_t i = 0; i < n; i++)
        fill_item(&batch->items[i], docs[i], batch->arena);
    list_push_back(&s->loads, &load->link);
    s->n_loads++;
    load->expected = n * pace_each(index_queue_pace(o));
    s->loading += load->expected;
    s->opt.load(s->opt.ctx, batch);
}

/*
 * Count the reads of the topic that go to the same servers: its own alone, or others as well.
 */
static unsigned count_alike(const struct sender *s, const struct target *t)
{
    unsigned n = 0;

    LIST_EACH(l, &s->loads)
    {
        const struct target *other = LIST_ITEM(l, struct batch_load, link)->batch.target;

        n += other->cross_topic == t->cross_topic && strcmp(other->topic, t->topic) == 0;
    }
    return n;
}

static bool may_load(const struct sender *s, const struct index_queue *o)
{
    const struct target *t = index_queue_load_target(o);

    if (s->opt.load == NULL || s->stopping || t == NULL)
        return false;

    const unsigned n = count_alike(s, t);

    if (n >= s->opt.settings.loads_max)
        return false;
    if (sender_has_room(s, o, s->loading) && (n == 0 || !budget_holds_large(s->budget)))
        return true;
    return n == 0 && s->helpers.n_requests == 0;
}

/* Return when to read what waits for a read of the index. */
static int64_t reads_at(const struct sender *s, struct index_queue *o)
{
    const size_t n = index_queue_level(o).load_wait;
    const int64_t opens_ms = index_queue_reads_at(o);

    if (opens_ms > s->now_ms)
        return opens_ms;
    return sender_drains(s, o) ? s->now_ms : pace_reads_at(index_queue_pace(o), n, s->now_ms);
}

static bool load_one(struct sender *s)
{
    for (size_t i = 0; i < s->index_queues.n; i++) {
        struct index_queue *o = index_queues_at(&s->index_queues, s->index_queues.loads, i);

        if (!may_load(s, o) || reads_at(s, o) > s->now_ms)
            continue;

        const size_t most = pace_most(index_queue_pace(o));
        struct document **docs = mem_alloc(most, sizeof(struct document *));
        size_t n = index_queue_next_load(o, most, docs);

        if (n > 0) {
            pace_read(index_queue_pace(o), s->now_ms);
            hand_out(s, o, docs, n);
            s->index_queues.loads += i + 1;
            return true;
        }
        free(docs);
    }
    return false;
}

void read_batcher_turn(struct sender *s)
{
    while (load_one(s))
        ;
}

int64_t read_batcher_wait_ms(const struct sender *s, int64_t max_ms)
{
    int64_t wait_ms = max_ms;

    for (size_t i = 0; i < s->index_queues.n; i++) {
        const int64_t at = may_load(s, s->index_queues.items[i])
                               ? reads_at(s, s->index_queues.items[i])
                               : GATE_NEVER_MS;

        if (at - s->now_ms < wait_ms)
            wait_ms = at - s->now_ms;
    }
    return wait_ms;
}

/* Where to park documents that were not read; NULL: not opened yet. */
struct load_parkings {
    struct parking *failed, *ahead;
};

static int64_t retry_at(const struct sender *s, const struct batch_load *load,
                        unsigned attempts)
{
    return s->now_ms + gate_retry_ms(index_queue_gate(load->index_queue), attempts);
}

/* Not read: try again after a while, unless a newer write needs no read. */
static void try_again(struct sender *s, struct batch_load *load, struct parking **parking,
                      struct document *doc)
{
    const unsigned attempts = doc->attempts;

    if (doc->state == DOCUMENT_READY) {
        index_queue_place(load->index_queue, doc, s->now_ms);
        return;
    }
    if (*parking == NULL)
        *parking = index_queue_open_parking(load->index_queue, retry_at(s, load, attempts));
    index_queue_park(load->index_queue, *parking, doc);
}

/* Read again when the stream has come further.  Asking again until then costs no statement. */
static void wait_for_stream(struct sender *s, struct batch_load *load, struct parking **parking,
                            struct document *doc)
{
    const int64_t latest_ms = s->now_ms + AHEAD_MAX_MS;

    write_stand_aside(doc->now, &s->ends);
    if (*parking == NULL) {
        const int64_t at_ms = retry_at(s, load, doc->attempts);

        *parking =
            index_queue_open_parking(load->index_queue, at_ms < latest_ms ? at_ms : latest_ms);
    }
    index_queue_park(load->index_queue, *parking, doc);
}

/* options.gone takes the document over, with the tickets of all who wait. */
static void leave(struct sender *s, struct batch_load *load, const struct load_item *item,
                  struct document *doc)
{
    const size_t n = write_count_tickets(doc->now);
    struct ticket **tickets = arena_alloc(load->batch.arena, n + 1, sizeof(*tickets));

    write_hold_tickets(doc->now, tickets, &s->ends);
    s->opt.gone(s->opt.ctx, &(struct gone_row){.target = doc->now->target,
                                               .id = write_id(doc->now),
                                               .routing = write_routing(doc->now),
                                               .key = write_key(doc->now),
                                               .stamp = item->stamp,
                                               .log_end = load->batch.log_end,
                                               .tickets = tickets,
                                               .n_tickets = n});
    outcome_leave(s, doc);
}

/* A document without a valid _id was never in the index, and the store cannot keep it. */
static bool has_place(const struct write *w)
{
    return !w->unfit && write_id(w).len <= WRITE_ID_MAX && write_routing(w).len <= WRITE_ID_MAX;
}

static bool stays(const struct sender *s, const struct load_item *item,
                  const struct document *doc)
{
    return item->stays && !item->failed && !item->found && s->opt.gone != NULL &&
           item->stamp >= doc->now->version && has_place(doc->now);
}

/* Those who wait for a document that turned out to be elsewhere. */
struct followers {
    size_t n;
    struct ticket *tickets[];
};

static void release_followers(void *ctx, enum outcome worst)
{
    struct followers *f = ctx;

    for (size_t i = 0; i < f->n; i++)
        ticket_release(f->tickets[i], worst);
    free(f);
}

static void abandon_followers(void *ctx)
{
    struct followers *f = ctx;

    for (size_t i = 0; i < f->n; i++)
        ticket_release_abandoned(f->tickets[i]);
    free(f);
}

/* Request the same where the row's document is, as nobody else may do it. */
static void follow(struct sender *s, const struct document *doc, struct str routing)
{
    const struct write *w = doc->now;
    const size_t n = write_count_tickets(w);
    struct followers *f = mem_alloc(1, sizeof(*f) + n * sizeof(struct ticket *));
    struct ticket *ticket = ticket_new_cb(release_followers, f);

    ticket_on_abandon(ticket, abandon_followers);
    f->n = n;
    write_share_tickets(w, f->tickets);

    struct write *there = write_new(&(struct doc_write){.target = target_ref(w->target),
                                                        .ticket = ticket,
                                                        .op = DOC_REFRESH,
                                                        .fresh = w->fresh,
                                                        .gathered = w->gathered,
                                                        .version = w->version,
                                                        .id = write_id(w),
                                                        .routing = routing,
                                                        .key = write_key(w)});

    struct worker_backlog_turn turn; /* the delivery thread may not wait */

    worker_backlog_enter(s->backlog, there, &turn);
    write_count_for(there, w->allowance);
    write_ends_take(&s->ends, write_account(there), there->cost);
    sender_accept(s, there);
}

static void take_item(struct sender *s, struct batch_load *load, size_t i,
                      struct load_parkings *parkings)
{
    const struct load_item *item = &load->batch.items[i];
    struct document *doc = load->docs[i];

    if (doc->forgotten) {
        outcome_end(s, doc, OUTCOME_DEFERRED);
        return;
    }
    if (item->failed && item->err.kind == ERR_REJECT) {
        outcome_refuse(s, doc, 0, str_from(item->err.msg));
        return;
    }
    if (load->batch.area > 0 && !item->failed && !item->found) {
        outcome_widen(s, doc, NULL);
        return;
    }
    if (stays(s, item, doc)) {
        leave(s, load, item, doc);
        return;
    }
    assert(item->failed || !item->found || item->body.ptr != NULL);
    if (item->failed)
        document_not_loaded(doc, &s->ends);
    else if (item->elsewhere && item->stamp >= doc->now->version) {
        follow(s, doc, item->other);
        document_is_elsewhere(doc, &s->ends);
    } else {
        document_loaded(doc, item->stamp, item->found ? item->body : (struct str){0}, &s->ends);
    }
    if (doc->state == DOCUMENT_READY) {
        entries_note_source(s, doc->now);
        index_queue_place(load->index_queue, doc, s->now_ms);
    } else if (item->ahead)
        wait_for_stream(s, load, &parkings->ahead, doc);
    else
        try_again(s, load, &parkings->failed, doc);
}

/* The items that were left are read next. */
static void take_left(struct sender *s, struct batch_load *load)
{
    for (size_t i = load->batch.n_items; i-- > 0;) {
        struct document *doc = load->docs[i];

        if (!load->batch.items[i].left)
            continue;
        if (doc->forgotten) {
            outcome_end(s, doc, OUTCOME_DEFERRED);
            continue;
        }
        document_left_out(doc, &s->ends);
        index_queue_place_first(load->index_queue, doc, s->now_ms);
    }
}

/* Items that failed say nothing about the size of documents. */
static void learn_size(const struct batch_load *load)
{
    const struct load_batch *batch = &load->batch;
    size_t n = 0;
    bool is_cut = false;

    for (size_t i = 0; i < batch->n_items; i++) {
        is_cut = is_cut || batch->items[i].left;
        n += !batch->items[i].left && !batch->items[i].failed;
    }
    pace_took(index_queue_pace(load->index_queue), n, batch->bytes, is_cut);
}

/* One line for the batch at most, however many of its documents failed. */
static void log_failures(const struct sender *s, struct index_queue *o,
                         const struct load_batch *batch)
{
    const struct err *err = NULL;
    uint64_t n_left_out;
    size_t n = 0;

    for (size_t i = 0; i < batch->n_items; i++) {
        const struct load_item *item = &batch->items[i];

        if (!item->failed || item->ahead || item->err.kind == ERR_REJECT ||
            item->err.kind == ERR_STOP)
            continue;
        err = &item->err;
        n++;
    }
    if (n > 0 && seldom_is_due(index_queue_read_lines(o), s->now_ms, &n_left_out))
        log_failure(LOG_WARN, err, "could not read documents, trying again",
                    KV("table", batch->target->table), KV("documents", n),
                    KV("failed_since_last_line", n_left_out));
}

void read_batcher_take(struct sender *s, struct load_batch *batch)
{
    struct batch_load *load = CONTAINER_OF(batch, struct batch_load, batch);
    struct load_parkings parkings = {0};

    s->n_loads--;
    s->loading -= load->expected;
    log_failures(s, load->index_queue, batch);
    learn_size(load);
    for (size_t i = 0; i < batch->n_items; i++)
        if (!batch->items[i].left)
            take_item(s, load, i, &parkings);
    take_left(s, load);
    index_queue_end_load(load->index_queue, batch->n_items);
    list_remove(&load->link);
    free_load(load);
}

size_t read_batcher_documents(const struct sender *s)
{
    size_t n = 0;

    LIST_EACH(l, &s->loads)
    n += LIST_ITEM(l, struct batch_load, link)->batch.n_items;
    return n;
}
