#include "config.h"

#include "sync/delivery/delivery.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/http_client.h"
#include "src/metric.h"
#include "src/search.h"
#include "sync/delivery/budget.h"
#include "sync/delivery/conflict.h"
#include "sync/delivery/delivery_settings.h"
#include "sync/delivery/draining.h"
#include "sync/delivery/loads.h"
#include "sync/delivery/mark.h"
#include "sync/delivery/request.h"
#include "sync/delivery/sender.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_WAIT_MS 1000

/* What other threads hand to the delivery thread, in order. */
enum message_kind {
    MESSAGE_WRITES = 0,
    MESSAGE_LOADED,
    MESSAGE_FORGET,
    MESSAGE_DROP,
    MESSAGE_PROBE,
    MESSAGE_NOTE_DEAD,
    MESSAGE_SETTINGS,
};

struct message {
    struct message *next;
    enum message_kind kind;
    enum outcome how;         /* FORGET */
    struct write *writes;     /* WRITES: linked by next */
    struct load_batch *batch; /* LOADED */
    uint64_t version;         /* NOTE_DEAD */
    struct delivery_settings settings;
    size_t index_len, routing_len, id_len;
    char names[]; /* FORGET, DROP, NOTE_DEAD: index, routing, id */
};

/* A drain that somebody waits for. */
enum order { ORDER_NONE = 0, ORDER_ASKED, ORDER_GOING, ORDER_OVER };

struct drain_order {
    enum order state;
    unsigned partition;
    int64_t timeout_ms;
    bool cancel;
    enum drain_end end; /* OVER */
};

struct delivery {
    struct budget *budget;
    struct mark *mark;
    struct delivery_metric *metric;
    struct http_client *http; /* the sender's */
    pthread_t thread;
    bool is_running; /* of whoever starts and stops */
    bool is_asleep;  /* atomic: the thread polls and must be woken */

    /* The delivery thread's while it runs. */
    struct sender *sender;
    struct draining draining;

    pthread_mutex_t lock;
    pthread_cond_t turned;

    /* All guarded by lock. */
    struct message *first;
    struct message **last;
    struct drain_order order;
    struct delivery_settings settings; /* in force, or on their way */
    bool stopping;
    struct delivery_status status;
};

static struct delivery_options with_defaults(const struct delivery_options *opt)
{
    struct delivery_options o = *opt;

#define DEFAULT(field, value) o.field = o.field == 0 ? (value) : o.field
    DEFAULT(workers, 10);
    DEFAULT(helpers, 10);
    DEFAULT(batch_min, 1);
    DEFAULT(batch_bytes, (size_t)8 << 20);
    DEFAULT(flush_interval_ms, 1000);
    DEFAULT(request_timeout_ms, 60000);
    DEFAULT(bytes_max, (size_t)64 << 20);
    DEFAULT(load_batch_max, 500);
    DEFAULT(loads_max, 2);
    DEFAULT(failing_ms, 30000);
    DEFAULT(high_water_mark, 10000);
    DEFAULT(failures, 3);
    DEFAULT(failure_window_ms, 5000);
    DEFAULT(reset_after_ms, 30000);
    DEFAULT(drain_timeout_ms, 60000);
    DEFAULT(drain_cancel_timeout_ms, 5000);
    DEFAULT(connections, 100);
#undef DEFAULT
    assert(o.batch_max == 0 || o.batch_min <= o.batch_max);
    return o;
}

/*
 * What is read, and the bodies of requests, must find room beside what was submitted, or there
 * would be none for the sending.
 */
static size_t submit_max(size_t bytes_max)
{
    return bytes_max - bytes_max / 4;
}

/* Where a batch is one document, every write waits for the index. */
static size_t waits_above(const struct delivery_options *opt)
{
    if (opt->high_water_mark == DELIVERY_MARK_ZERO)
        return 0;
    return opt->batch_min == 1 && opt->batch_max == 1 ? 0 : opt->high_water_mark;
}

struct delivery *delivery_new(struct search *search, const struct delivery_options *opt)
{
    const struct delivery_options o = with_defaults(opt);
    struct delivery *d = mem_alloc(1, sizeof(*d));

    d->budget = budget_new(submit_max(o.bytes_max));
    d->http = search_new_client(search);
    d->metric = delivery_metric_new(search);
    d->mark = mark_new(o.workers, waits_above(&o));
    d->sender = sender_new(&o, d->http, d->budget, d->mark, d->metric);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->turned, NULL);
    d->last = &d->first;
    d->settings = delivery_settings_of(&o);
    return d;
}

/* --- the delivery thread --- */

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
    if (settings->workers != d->sender->opt.workers)
        draining_widen(&d->draining);
    budget_set_max(d->budget, submit_max(settings->bytes_max));
    sender_set(d->sender, settings);
    mark_set(d->mark, settings->workers, waits_above(&d->sender->opt));
}

static void handle(struct delivery *d, const struct message *m)
{
    struct sender *s = d->sender;
    const struct str index = {m->names, m->index_len};
    const struct str routing = {m->names + m->index_len, m->routing_len};
    const struct str id = {m->names + m->index_len + m->routing_len, m->id_len};

    switch (m->kind) {
    case MESSAGE_WRITES: handle_writes(d, m->writes); break;
    case MESSAGE_LOADED: loads_take(s, m->batch); break;
    case MESSAGE_FORGET: forget(d, index, m->how); break;
    case MESSAGE_DROP: drop_index(d, index); break;
    case MESSAGE_SETTINGS: change_settings(d, &m->settings); break;
    case MESSAGE_PROBE: sender_probe(s); break;
    case MESSAGE_NOTE_DEAD: letters_note(s->letters, index, routing, id, m->version); break;
    }
}

/* Everything that came, and the order of who waits. */
static struct message *take_messages(struct delivery *d, struct drain_order *order)
{
    pthread_mutex_lock(&d->lock);

    struct message *first = d->first;

    d->first = NULL;
    d->last = &d->first;
    d->sender->stopping = d->stopping;
    *order = d->order;
    d->order.cancel = false;
    if (d->order.state == ORDER_ASKED)
        d->order.state = ORDER_GOING;
    pthread_mutex_unlock(&d->lock);
    return first;
}

static int64_t later(int64_t good_ms, struct outlet *o)
{
    const int64_t its_ms = outlet_gate(o)->good_ms;

    return outlet_is_told(o) || its_ms < good_ms ? good_ms : its_ms;
}

static void count_documents(const struct sender *s, struct delivery_status *out)
{
    for (size_t i = 0; i < s->n_outlets; i++) {
        const struct outlet_level level = outlet_level(s->outlets[i]);

        out->queued += level.ready + level.load_wait + level.parked;
        out->in_flight += level.in_flight;
        out->good_ms = later(out->good_ms, s->outlets[i]);
    }
    out->loading = loads_documents(s);
}

static void tell(struct delivery *d)
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

    count_documents(s, &now);
    pthread_mutex_lock(&d->lock);
    now.stuck = d->first == NULL && sender_is_stuck(s);
    d->status = now;
    pthread_mutex_unlock(&d->lock);
}

/* Somebody wants everything out that came before, or has waited long enough for that. */
static void obey(struct delivery *d, const struct drain_order *order)
{
    if (order->state == ORDER_ASKED &&
        !draining_begin(&d->draining, d->sender, order->partition, order->timeout_ms))
        assert(false);
    if (order->cancel)
        draining_cancel(&d->draining, d->sender);
}

static void look_at_drain(struct delivery *d)
{
    const enum drain_end end = draining_turn(&d->draining, d->sender);

    if (end == DRAIN_GOING)
        return;
    pthread_mutex_lock(&d->lock);
    d->order.state = ORDER_OVER;
    d->order.end = end;
    pthread_cond_broadcast(&d->turned);
    pthread_mutex_unlock(&d->lock);
}

/* Say that we sleep, then look again: who hands something over after that wakes us. */
static int64_t time_to_sleep(struct delivery *d)
{
    __atomic_store_n(&d->is_asleep, true, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&d->lock);

    const bool has_work = d->first != NULL || d->stopping || d->order.cancel ||
                          d->order.state == ORDER_ASKED;

    pthread_mutex_unlock(&d->lock);
    if (has_work)
        return 0;
    return loads_wait_ms(
        d->sender,
        sender_wait_ms(d->sender, draining_wait_ms(&d->draining, d->sender, IDLE_WAIT_MS)));
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
    look_at_drain(d);
    loads_turn(s);
    request_turn(s);
    sender_settle(s);
    tell(d);
}

static void *run(void *arg)
{
    struct delivery *d = arg;

    do {
        turn(d);
        http_client_poll(d->http, time_to_sleep(d));
        __atomic_store_n(&d->is_asleep, false, __ATOMIC_SEQ_CST);
    } while (!d->sender->stopping);
    return NULL;
}

void delivery_start(struct delivery *d)
{
    assert(!d->is_running);
    d->is_running = true;
    d->thread = thread_start("delivery", run, d);
}

/* --- the others --- */

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

bool delivery_submit_until(struct delivery *d, const struct stop *stop,
                           const struct doc_write *writes, size_t n, struct err *err)
{
    struct mark_turn turn;
    struct message *m;
    size_t cost;

    for (size_t i = 0; i < n; i++)
        if (!check(&writes[i], err))
            return false;
    if (n == 0)
        return true;
    m = message_new(MESSAGE_WRITES);
    m->writes = copy_writes(writes, n, &cost);
    if (!budget_take(d->budget, cost, stop)) {
        /* The references are still the caller's. */
        while (m->writes != NULL) {
            struct write *w = m->writes;

            m->writes = w->next;
            free(w);
        }
        free(m);
        return err_set(err, ERR_STOP, "what waits for delivery is given up");
    }
    mark_enter(d->mark, m->writes, &turn);
    post(d, m);
    /* They are delivery's from here on, however the wait ends. */
    if (mark_wait(d->mark, &turn, stop))
        delivery_metric_count(d->metric, COUNT_BLOCKED_CALLERS, 1);
    return true;
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

void delivery_probe(struct delivery *d)
{
    post(d, message_new(MESSAGE_PROBE));
}

void delivery_note_dead(struct delivery *d, struct str index, struct str routing, struct str id,
                        uint64_t version)
{
    struct message *m = message_about(MESSAGE_NOTE_DEAD, index, routing, id);

    m->version = version;
    post(d, m);
}

enum drain_end delivery_drain_partition(struct delivery *d, unsigned partition,
                                        int64_t timeout_ms)
{
    enum drain_end end = DRAIN_IN_PROGRESS;

    pthread_mutex_lock(&d->lock);

    const bool may = d->order.state == ORDER_NONE;

    if (may)
        d->order = (struct drain_order){
            .state = ORDER_ASKED, .partition = partition, .timeout_ms = timeout_ms};
    pthread_mutex_unlock(&d->lock);
    if (!may)
        return end;
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

void delivery_stop(struct delivery *d)
{
    budget_close(d->budget);
    mark_close(d->mark);
    pthread_mutex_lock(&d->lock);
    d->stopping = true;
    pthread_cond_broadcast(&d->turned);
    pthread_mutex_unlock(&d->lock);
    http_client_wakeup(d->http);
    if (d->is_running)
        pthread_join(d->thread, NULL);
    d->is_running = false;
}

/* What came after the thread had ended. */
static void drop(struct message *m, struct write_ends *ends)
{
    if (m->kind == MESSAGE_LOADED)
        loads_drop(m->batch);
    while (m->writes != NULL) {
        struct write *w = m->writes;

        m->writes = w->next;
        write_abandon(w, ends);
    }
    free(m);
}

void delivery_free(struct delivery *d)
{
    struct message *next;

    if (d == NULL)
        return;
    if (!d->stopping)
        delivery_stop(d);
    for (struct message *m = d->first; m != NULL; m = next) {
        next = m->next;
        drop(m, &d->sender->ends);
    }
    draining_give_up(&d->draining, d->sender);
    request_give_up_all(d->sender);
    conflict_give_up_all(d->sender);
    sender_free(d->sender);
    budget_free(d->budget);
    mark_free(d->mark);
    delivery_metric_free(d->metric);
    pthread_cond_destroy(&d->turned);
    pthread_mutex_destroy(&d->lock);
    free(d);
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
