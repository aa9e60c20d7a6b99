#include "config.h"

#include "sync/delivery/parts.h"

#include "src/base/magic.h"
#include "src/net/http_client.h"
#include "sync/delivery/index/worker_backlog.h"
#include "sync/delivery/place.h"
#include "sync/delivery/read_batcher.h"
#include "sync/delivery/request.h"
#include "sync/delivery/sender.h"
#include "sync/delivery/turn.h"

#include <assert.h>
#include <stdlib.h>

#define IDLE_WAIT_MS 1000
#define REST_WAIT_MS 10000 /* while there is nothing to look at */

static void handle_writes(struct delivery *d, struct write *w)
{
    struct sender *s = d->sender;

    while (w != NULL) {
        struct write *next = w->next;

        if (next != NULL) {
            __builtin_prefetch(next->next);
            document_table_fetch(s->table, next->hash);
        }
        w->next = NULL;
        worker_backlog_move(d->backlog, w);
        if (!draining_keeps(&d->draining, s, w))
            sender_accept(s, w);
        w = next;
    }
}

static void forget(struct delivery *d, struct str index, enum outcome how)
{
    draining_forget(&d->draining, d->sender, index, how);
    sender_forget(d->sender, index, how);
}

static void drop_index(struct delivery *d, struct str index)
{
    draining_forget(&d->draining, d->sender, index, OUTCOME_DEFERRED);
    sender_drop(d->sender, index);
}

static void change_settings(struct delivery *d, const struct delivery_settings *settings)
{
    const bool same_workers = settings->workers == d->sender->opt.settings.workers;

    budget_set_max(d->budget, delivery_submit_max(settings->bytes_max));
    sender_set(d->sender, settings);
    worker_backlog_set(d->backlog, settings->workers, delivery_waits_above(settings));
    if (same_workers)
        return;
    sender_move(d->sender);
    draining_move(&d->draining, d->sender);
}

/* Whoever asked may have left. */
static void find(struct delivery *d, struct place_question *f, struct str index, struct str id)
{
    struct delivery_place place = {0};

    place_find(d->sender, index, id, &place);
    if (place.stage == STAGE_NONE && draining_has(&d->draining, index, id))
        place.stage = STAGE_APART;
    lock_acquire(&d->lock);

    const bool is_left = f->is_left;

    f->place = place;
    f->is_answered = true;
    pthread_cond_broadcast(&d->turned);
    lock_release(&d->lock);
    if (is_left)
        free(f);
}

static void handle(struct delivery *d, const struct message *m)
{
    struct sender *s = d->sender;
    const struct str index = {m->names, m->index_len};
    const struct str routing = {m->names + m->index_len, m->routing_len};
    const struct str id = {m->names + m->index_len + m->routing_len, m->id_len};

    switch (m->kind) {
    case MESSAGE_WRITES: handle_writes(d, m->writes); break;
    case MESSAGE_LOADED: read_batcher_take(s, m->batch); break;
    case MESSAGE_FORGET: forget(d, index, m->how); break;
    case MESSAGE_DROP: drop_index(d, index); break;
    case MESSAGE_PUT_BACK: sender_put_back(s, index, routing, id); break;
    case MESSAGE_SETTINGS: change_settings(d, &m->settings); break;
    case MESSAGE_FIND: find(d, m->question, index, id); break;
    case MESSAGE_PROBE: sender_probe(s); break;
    case MESSAGE_END_ASTRAY: sender_end_astray(s, index); break;
    case MESSAGE_END_HOLD: sender_end_hold(s, index); break;
    case MESSAGE_PAUSE: sender_pause(s, index, routing); break;
    case MESSAGE_UNPAUSE: sender_unpause(s, index); break;
    case MESSAGE_NOTE_DEAD: letters_note(s->letters, index, routing, id, m->version); break;
    case MESSAGE_DISCARD_DEAD:
        letters_discard(s->letters, index, routing, id, m->version);
        break;
    }
}

/* Take all messages, and the waiting caller's order. */
static struct message *take_messages(struct delivery *d, struct drain_order *order)
{
    lock_acquire(&d->lock);

    struct message *first = d->first;

    d->first = NULL;
    d->last = &d->first;
    d->sender->stopping = d->stopping;
    *order = d->order;
    d->order.cancel = false;
    if (d->order.state == ORDER_ASKED)
        d->order.state = ORDER_GOING;
    lock_release(&d->lock);
    return first;
}

static int64_t later(int64_t good_ms, struct index_queue *o)
{
    const int64_t its_ms = index_queue_gate(o)->good_ms;

    return index_queue_is_told(o) || its_ms < good_ms ? good_ms : its_ms;
}

/*
 * Counts each document once, whatever waits for it and wherever; what is neither read nor sent
 * now is queued.
 */
static void count_documents(const struct delivery *d, struct delivery_status *out)
{
    const struct sender *s = d->sender;

    for (size_t i = 0; i < s->index_queues.n; i++) {
        out->in_flight += index_queue_level(s->index_queues.items[i]).in_flight;
        out->good_ms = later(out->good_ms, s->index_queues.items[i]);
    }
    out->loading = read_batcher_documents(s);

    const size_t n = document_table_count(s->table), busy = out->in_flight + out->loading;

    out->queued = (n > busy ? n - busy : 0) + d->draining.n;
}

/*
 * Publish the status before the caller of an ended drain returns, so that it sees these counts.
 */
static void tell(struct delivery *d, enum drain_end drain)
{
    const struct sender *s = d->sender;
    struct delivery_status now = {
        .requests = s->count.requests,
        .requests_failed = s->count.requests_failed,
        .retries = s->count.retries,
        .rejections_429 = s->count.busy,
        .bad_responses = s->count.bad_responses,
        .splits = s->count.splits,
    };

    count_documents(d, &now);
    lock_acquire(&d->lock);
    now.stuck = d->first == NULL && sender_is_stuck(s);
    d->status = now;
    if (drain != DRAIN_GOING) {
        d->order.state = ORDER_OVER;
        d->order.end = drain;
        pthread_cond_broadcast(&d->turned);
    }
    lock_release(&d->lock);
}

/* Start the drain that a caller ordered, or cancel it. */
static void obey(struct delivery *d, const struct drain_order *order)
{
    if (order->state == ORDER_ASKED &&
        !draining_begin(&d->draining, d->sender, order->partition, order->index,
                        order->timeout_ms))
        assert(false);
    if (order->cancel)
        draining_cancel(&d->draining, d->sender);
}

/* No document waits and every index takes them, so only a message brings something to do. */
static bool is_at_rest(const struct sender *s)
{
    if (document_table_count(s->table) > 0)
        return false;
    for (size_t i = 0; i < s->index_queues.n; i++)
        if (index_queue_is_told(s->index_queues.items[i]) ||
            index_queue_purged(s->index_queues.items[i])->n > 0)
            return false;
    return true;
}

/* Announce the sleep, then look again: whoever posts a message after that wakes us. */
static int64_t time_to_sleep(struct delivery *d)
{
    __atomic_store_n(&d->is_asleep, true, __ATOMIC_SEQ_CST);
    lock_acquire(&d->lock);

    const bool has_work =
        d->first != NULL || d->stopping || d->order.cancel || d->order.state == ORDER_ASKED;

    lock_release(&d->lock);
    if (has_work)
        return 0;

    const int64_t longest_ms = is_at_rest(d->sender) ? REST_WAIT_MS : IDLE_WAIT_MS;

    return read_batcher_wait_ms(
        d->sender,
        sender_wait_ms(d->sender, draining_wait_ms(&d->draining, d->sender, longest_ms)));
}

static void turn(struct delivery *d)
{
    struct sender *s = d->sender;
    struct message *next;
    struct drain_order order;

    sender_look_at_clock(s);
    for (struct message *m = take_messages(d, &order); m != NULL; m = next) {
        next = m->next;
        handle(d, m);
        free(m);
    }
    obey(d, &order);
    sender_turn(s);

    const enum drain_end drain = draining_turn(&d->draining, s);

    read_batcher_turn(s);
    request_turn(s);
    sender_settle(s);
    http_client_ask(d->http);
    tell(d, drain);
}

void *delivery_run(void *arg)
{
    struct delivery *d = MAGIC_CAST(delivery, arg);

    do {
        turn(d);
        http_client_poll(d->http, time_to_sleep(d));
        __atomic_store_n(&d->is_asleep, false, __ATOMIC_SEQ_CST);
    } while (!d->sender->stopping);
    return NULL;
}
