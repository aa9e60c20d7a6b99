#include "config.h"

#include "sync/delivery/delivery_parts.h"

#include "src/base/mem.h"
#include "src/http_client.h"
#include "src/metric.h"
#include "sync/delivery/mark.h"
#include "sync/delivery/sender.h"
#include "sync/delivery/touched.h"

#include <stdlib.h>
#include <string.h>

static void wake(struct delivery *d)
{
    if (__atomic_exchange_n(&d->is_asleep, false, __ATOMIC_SEQ_CST))
        http_client_wakeup(d->http);
}

static void post(struct delivery *d, struct message *m)
{
    pthread_mutex_lock(&d->lock);
    *d->last = m;
    d->last = &m->next;
    pthread_mutex_unlock(&d->lock);
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

/* Copies of the writes, as a list; *cost is what they hold. */
static struct write *copy_writes(const struct doc_write *writes, size_t n, size_t *cost)
{
    struct write *first = NULL, **last = &first;

    *cost = 0;
    for (size_t i = 0; i < n; i++) {
        struct write *w = write_new(&writes[i]);

        *cost += w->cost;
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

/* A caller begins to wait, for whatever it waits first. */
static void count_blocked(struct delivery *d, bool *is_counted)
{
    if (!*is_counted)
        delivery_metric_count(d->metric, COUNT_BLOCKED_CALLERS, 1);
    *is_counted = true;
}

static bool take_room(struct delivery *d, size_t cost, const struct stop *stop, bool *waited)
{
    if (budget_try(d->budget, cost))
        return true;
    count_blocked(d, waited);
    return budget_take(d->budget, cost, stop);
}

bool delivery_submit_until(struct delivery *d, const struct stop *stop,
                           const struct doc_write *writes, size_t n, struct err *err)
{
    struct mark_turn turn;
    struct message *m;
    bool waited = false;
    size_t cost;

    for (size_t i = 0; i < n; i++)
        if (!check(&writes[i], err))
            return false;
    if (n == 0)
        return true;
    m = message_new(MESSAGE_WRITES);
    m->writes = copy_writes(writes, n, &cost);
    if (!take_room(d, cost, stop, &waited)) {
        /* The references are still the caller's. */
        while (m->writes != NULL) {
            struct write *w = m->writes;

            m->writes = w->next;
            free(w);
        }
        free(m);
        return err_set(err, ERR_STOP, "what waits for delivery is given up");
    }
    pthread_mutex_lock(&d->lock);
    touched_note(d->watching, writes, n);
    pthread_mutex_unlock(&d->lock);
    mark_enter(d->mark, m->writes, &turn);
    post(d, m);
    /* They are delivery's from here on, however the wait ends. */
    if (mark_is_above(d->mark, &turn)) {
        count_blocked(d, &waited);
        mark_wait(d->mark, &turn, stop);
    }
    return true;
}

void delivery_watch(struct delivery *d, struct touched *t)
{
    pthread_mutex_lock(&d->lock);
    touched_link(&d->watching, t);
    pthread_mutex_unlock(&d->lock);
}

void delivery_unwatch(struct delivery *d, struct touched *t)
{
    pthread_mutex_lock(&d->lock);
    touched_unlink(&d->watching, t);
    pthread_mutex_unlock(&d->lock);
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

void delivery_end_astray(struct delivery *d, struct str index)
{
    post(d, message_about(MESSAGE_END_ASTRAY, index, (struct str){0}, (struct str){0}));
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

enum drain_end delivery_drain_partition(struct delivery *d, unsigned partition,
                                        int64_t timeout_ms)
{
    enum drain_end end;

    pthread_mutex_lock(&d->lock);

    /* The drain of whoever was let go by the stop may still be on in the thread. */
    const bool stops = d->stopping, may = !stops && d->order.state == ORDER_NONE;

    if (may)
        d->order = (struct drain_order){
            .state = ORDER_ASKED, .partition = partition, .timeout_ms = timeout_ms};
    pthread_mutex_unlock(&d->lock);
    if (!may)
        return stops ? DRAIN_STOPPED : DRAIN_IN_PROGRESS;
    wake(d);
    pthread_mutex_lock(&d->lock);
    while (d->order.state != ORDER_OVER && !d->stopping)
        pthread_cond_wait(&d->turned, &d->lock);
    end = d->order.state == ORDER_OVER ? d->order.end : DRAIN_STOPPED;
    d->order.state = ORDER_NONE;
    pthread_mutex_unlock(&d->lock);
    return end;
}

bool delivery_drain(struct delivery *d, int64_t timeout_ms)
{
    return delivery_drain_partition(d, DRAIN_ALL, timeout_ms) == DRAIN_DONE;
}

void delivery_drain_cancel(struct delivery *d)
{
    pthread_mutex_lock(&d->lock);
    d->order.cancel = d->order.state == ORDER_ASKED || d->order.state == ORDER_GOING;
    pthread_mutex_unlock(&d->lock);
    wake(d);
}

bool delivery_set(struct delivery *d, const struct delivery_settings *settings,
                  struct delivery_settings *before, struct err *err)
{
    struct message *m;

    if (!delivery_settings_check(settings, err))
        return false;
    m = message_new(MESSAGE_SETTINGS);
    m->settings = *settings;
    pthread_mutex_lock(&d->lock);
    *before = d->settings;
    d->settings = *settings;
    *d->last = m;
    d->last = &m->next;
    pthread_mutex_unlock(&d->lock);
    wake(d);
    return true;
}

struct delivery_settings delivery_get(struct delivery *d)
{
    pthread_mutex_lock(&d->lock);

    const struct delivery_settings settings = d->settings;

    pthread_mutex_unlock(&d->lock);
    return settings;
}

struct delivery_status delivery_status(struct delivery *d)
{
    pthread_mutex_lock(&d->lock);

    struct delivery_status status = d->status;

    pthread_mutex_unlock(&d->lock);
    status.bytes_held = budget_held(d->budget);
    status.blocked = mark_waiting(d->mark) + budget_waiting(d->budget);
    return status;
}

void delivery_put_statistics(struct delivery *d, struct json_writer *w)
{
    delivery_metric_put_json(d->metric, w);
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
