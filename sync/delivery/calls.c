#include "config.h"

#include "sync/delivery/parts.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/metric/metric.h"
#include "src/net/http_client.h"
#include "sync/delivery/document/delete_repeater.h"
#include "sync/delivery/document/dirty_set.h"
#include "sync/delivery/index/worker_backlog.h"
#include "sync/delivery/sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIND_MS 3000

static void wake(struct delivery *d)
{
    if (__atomic_exchange_n(&d->is_asleep, false, __ATOMIC_SEQ_CST))
        http_client_wakeup(d->http);
}

static void post(struct delivery *d, struct message *m)
{
    lock_acquire(&d->lock);
    *d->last = m;
    d->last = &m->next;
    lock_release(&d->lock);
    wake(d);
}

static struct message *message_new(enum message_kind kind)
{
    struct message *m = mem_alloc(1, sizeof(*m));

    m->kind = kind;
    return m;
}

static struct message *message_about(enum message_kind kind, struct str index,
                                     struct str routing, struct str id)
{
    struct message *m = mem_alloc(1, sizeof(*m) + index.len + routing.len + id.len);

    m->kind = kind;
    m->index_len = index.len;
    m->routing_len = routing.len;
    m->id_len = id.len;
    memcpy(m->names, index.ptr, index.len);
    if (routing.len > 0)
        memcpy(m->names + index.len, routing.ptr, routing.len);
    if (id.len > 0)
        memcpy(m->names + index.len + routing.len, id.ptr, id.len);
    return m;
}

static bool check(const struct doc_write *in, struct err *err)
{
    if (in->version > INT64_MAX)
        return err_set(err, ERR_FATAL, "version %llu is above 2^63-1",
                       (unsigned long long)in->version);
    return true;
}

/* The bytes that some writes hold, by allowance. */
struct budget_claims {
    struct budget_claim *items;
    size_t n;
};

static void claim(struct budget_claims *all, const struct write *w)
{
    struct allowance *of = write_account(w);
    size_t i = all->n;

    while (i > 0 && all->items[i - 1].of != of)
        i--;
    if (i == 0) {
        all->items[all->n++] = (struct budget_claim){of, w->cost, w->gathered};
        return;
    }
    all->items[i - 1].n += w->cost;
    all->items[i - 1].for_job = all->items[i - 1].for_job || w->gathered;
}

/* Copy the writes into a list.  The caller frees claims->items. */
static struct write *copy_writes(struct budget *b, const struct doc_write *writes, size_t n,
                                 struct budget_claims *claims)
{
    struct write *first = NULL, **last = &first;
    struct allowance *of = NULL;

    *claims = (struct budget_claims){.items = mem_alloc(n, sizeof(*claims->items))};
    for (size_t i = 0; i < n; i++) {
        struct write *w = write_new(&writes[i]);

        if (i == 0 || writes[i].target != writes[i - 1].target)
            of = budget_allowance(b, str_from(writes[i].target->index));
        write_count_for(w, of);
        claim(claims, w);
        *last = w;
        last = &w->next;
    }
    return first;
}

bool delivery_submit(struct delivery *d, const struct doc_write *writes, size_t n,
                     struct err *err)
{
    return delivery_submit_until(d, NULL, writes, n, err);
}

/* Count a caller that blocks, once per call. */
static void count_blocked(struct delivery *d, bool *is_counted)
{
    if (!*is_counted)
        delivery_metric_count(d->metric, COUNT_BLOCKED_CALLERS, 1);
    *is_counted = true;
}

static bool take_room(struct delivery *d, const struct budget_claims *claims,
                      const struct stop *stop, bool *waited)
{
    if (budget_try(d->budget, claims->items, claims->n))
        return true;
    count_blocked(d, waited);
    return budget_take(d->budget, claims->items, claims->n, stop);
}

/* Leaves the references with the caller. */
static void free_untaken(struct message *m)
{
    while (m->writes != NULL) {
        struct write *w = m->writes;

        m->writes = w->next;
        free(w);
    }
    free(m);
}

bool delivery_submit_until(struct delivery *d, const struct stop *stop,
                           const struct doc_write *writes, size_t n, struct err *err)
{
    struct worker_backlog_turn turn;
    struct message *m;
    struct budget_claims claims;
    bool waited = false, taken;

    for (size_t i = 0; i < n; i++)
        if (!check(&writes[i], err))
            return false;
    if (n == 0)
        return true;
    m = message_new(MESSAGE_WRITES);
    m->writes = copy_writes(d->budget, writes, n, &claims);
    taken = take_room(d, &claims, stop, &waited);
    free(claims.items);
    if (!taken) {
        free_untaken(m);
        return err_set(err, ERR_STOP, "dropping everything that waits for delivery");
    }
    lock_acquire(&d->lock);
    dirty_set_note(d->watching, writes, n);
    lock_release(&d->lock);
    worker_backlog_enter(d->backlog, m->writes, &turn);
    post(d, m);
    /* From here on delivery owns the writes, however the wait ends. */
    if (worker_backlog_is_above(d->backlog, &turn)) {
        count_blocked(d, &waited);
        worker_backlog_wait(d->backlog, &turn, stop);
    }
    return true;
}

void delivery_watch(struct delivery *d, struct dirty_set *t)
{
    lock_acquire(&d->lock);
    dirty_set_link(&d->watching, t);
    lock_release(&d->lock);
}

void delivery_unwatch(struct delivery *d, struct dirty_set *t)
{
    lock_acquire(&d->lock);
    dirty_set_unlink(&d->watching, t);
    lock_release(&d->lock);
}

void delivery_loaded(struct delivery *d, struct load_batch *batch)
{
    struct message *m = message_new(MESSAGE_LOADED);

    m->batch = batch;
    post(d, m);
}

void delivery_forget(struct delivery *d, const struct target *target, enum outcome how)
{
    struct message *m = message_about(MESSAGE_FORGET, str_from(target->index), (struct str){0},
                                      (struct str){0});

    m->how = how;
    post(d, m);
}

void delivery_drop(struct delivery *d, struct str index)
{
    post(d, message_about(MESSAGE_DROP, index, (struct str){0}, (struct str){0}));
}

void delivery_put_back(struct delivery *d, struct str index, struct str routing, struct str id)
{
    post(d, message_about(MESSAGE_PUT_BACK, index, routing, id));
}

void delivery_probe(struct delivery *d)
{
    post(d, message_new(MESSAGE_PROBE));
}

void delivery_end_hold(struct delivery *d, struct str index)
{
    post(d, message_about(MESSAGE_END_HOLD, index, (struct str){0}, (struct str){0}));
}

void delivery_end_astray(struct delivery *d, struct str index)
{
    post(d, message_about(MESSAGE_END_ASTRAY, index, (struct str){0}, (struct str){0}));
}

void delivery_pause(struct delivery *d, struct str index, struct str why)
{
    post(d, message_about(MESSAGE_PAUSE, index, why, (struct str){0}));
}

void delivery_unpause(struct delivery *d, struct str index)
{
    post(d, message_about(MESSAGE_UNPAUSE, index, (struct str){0}, (struct str){0}));
}

void delivery_note_dead(struct delivery *d, struct str index, struct str routing, struct str id,
                        uint64_t version)
{
    struct message *m = message_about(MESSAGE_NOTE_DEAD, index, routing, id);

    m->version = version;
    post(d, m);
}

void delivery_discard_dead(struct delivery *d, struct str index, struct str routing,
                           struct str id, uint64_t version)
{
    struct message *m = message_about(MESSAGE_DISCARD_DEAD, index, routing, id);

    m->version = version;
    post(d, m);
}

bool delivery_find(struct delivery *d, struct str index, struct str id,
                   struct delivery_place *out, struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + FIND_MS;
    struct message *m = message_about(MESSAGE_FIND, index, (struct str){0}, id);
    struct place_question *f = m->question = mem_alloc(1, sizeof(*f));

    post(d, m);
    lock_acquire(&d->lock);
    while (!f->is_answered && !d->stopping && lock_wait_until(&d->lock, &d->turned, until_ms))
        ;

    const bool ok = f->is_answered;

    *out = f->place;
    f->is_left = true;
    lock_release(&d->lock);
    if (!ok)
        return err_set(err, ERR_RETRY, "delivery does not say where a document is");
    free(f);
    return true;
}

/* The drain of one index is Millrace's own, and ends for any other that is asked for. */
static void end_drain_of_index(struct delivery *d) NEEDS(d->lock)
{
    if (d->order.state == ORDER_NONE || d->order.partition != DRAIN_INDEX)
        return;
    d->order.cancel = d->order.state != ORDER_OVER;
    wake(d);
    while (d->order.state != ORDER_NONE && d->order.partition == DRAIN_INDEX && !d->stopping)
        lock_wait(&d->lock, &d->turned);
}

static enum drain_end drain(struct delivery *d, const struct drain_order *order)
{
    enum drain_end end;

    lock_acquire(&d->lock);
    if (order->partition != DRAIN_INDEX)
        end_drain_of_index(d);

    /* A drain whose caller the stop released may still be on in the thread. */
    const bool stops = d->stopping, may = !stops && d->order.state == ORDER_NONE;

    if (may)
        d->order = *order;
    lock_release(&d->lock);
    if (!may)
        return stops ? DRAIN_STOPPED : DRAIN_IN_PROGRESS;
    wake(d);
    lock_acquire(&d->lock);
    while (d->order.state != ORDER_OVER && !d->stopping)
        lock_wait(&d->lock, &d->turned);
    end = d->order.state == ORDER_OVER ? d->order.end : DRAIN_STOPPED;
    d->order.state = ORDER_NONE;
    pthread_cond_broadcast(&d->turned);
    lock_release(&d->lock);
    return end;
}

enum drain_end delivery_drain_partition(struct delivery *d, unsigned partition,
                                        int64_t timeout_ms)
{
    const struct drain_order order = {
        .state = ORDER_ASKED, .partition = partition, .timeout_ms = timeout_ms};

    return drain(d, &order);
}

enum drain_end delivery_drain_index(struct delivery *d, struct str index, int64_t timeout_ms)
{
    struct drain_order order = {
        .state = ORDER_ASKED, .partition = DRAIN_INDEX, .timeout_ms = timeout_ms};

    snprintf(order.index, sizeof(order.index), "%.*s", (int)index.len, index.ptr);
    return drain(d, &order);
}

bool delivery_drain(struct delivery *d, int64_t timeout_ms)
{
    return delivery_drain_partition(d, DRAIN_ALL, timeout_ms) == DRAIN_DONE;
}

void delivery_drain_cancel(struct delivery *d)
{
    lock_acquire(&d->lock);
    d->order.cancel = d->order.state == ORDER_ASKED || d->order.state == ORDER_GOING;
    lock_release(&d->lock);
    wake(d);
}

void delivery_set(struct delivery *d, const struct delivery_settings *settings)
{
    struct message *m = message_new(MESSAGE_SETTINGS);

    m->settings = *settings;
    lock_acquire(&d->lock);
    d->settings = *settings;
    *d->last = m;
    d->last = &m->next;
    lock_release(&d->lock);
    wake(d);
}

struct delivery_settings delivery_get(struct delivery *d)
{
    lock_acquire(&d->lock);

    const struct delivery_settings settings = d->settings;

    lock_release(&d->lock);
    return settings;
}

size_t delivery_repeats(const struct delivery *d)
{
    return delete_repeater_repeats(d->sender->repeater);
}

struct delivery_status delivery_status(struct delivery *d)
{
    lock_acquire(&d->lock);

    struct delivery_status status = d->status;

    lock_release(&d->lock);
    status.bytes_held = budget_held(d->budget);
    status.backlog = worker_backlog_most(d->backlog);
    status.blocked = worker_backlog_waiting(d->backlog) + budget_waiting(d->budget);
    return status;
}

void delivery_put_statistics(struct delivery *d, struct json_writer *w)
{
    delivery_metric_put_json(d->metric, w);
}

void delivery_each_index(struct delivery *d, index_counts_fn fn, void *ctx)
{
    delivery_metric_each(d->metric, clock_mono_ms(), fn, ctx);
}

void delivery_topic_figures(struct delivery *d, struct str topic, uint64_t *documents,
                            struct histogram *latency)
{
    delivery_metric_topic(d->metric, topic, documents, latency);
}

void delivery_bulk_figures(struct delivery *d, uint64_t *documents, struct histogram *took)
{
    delivery_metric_bulk(d->metric, documents, took);
}

void delivery_repaired(struct delivery *d, uint64_t n_changes)
{
    delivery_metric_count(d->metric, COUNT_REPAIRED, n_changes);
}

void delivery_metrics(struct delivery *d, struct buf *out)
{
    const struct delivery_status s = delivery_status(d);

    metric_put_u64(out, METRIC_DELIVERY_QUEUED, s.queued, STR("search"));
    metric_put_u64(out, METRIC_DELIVERY_BYTES, s.bytes_held, STR("search"));
    delivery_metric_put(d->metric, out);
}
