#include "config.h"

#include "sync/delivery/sender.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/net/http_client.h"
#include "sync/delivery/document/delete_repeater.h"
#include "sync/delivery/outcome.h"

#include <assert.h>
#include <stdlib.h>

/* Reads requested in a quarter of a window that make it worth waiting for more. */
#define READS_FLOW 12
/*
 * A read takes seven statements for orders with customer, items and products.  Where related
 * rows change, finding their documents takes as many again.  With this many documents in a
 * read, each costs less than a twentieth of a statement.
 */
#define READS_WORTH   300
#define READS_LONGEST 5 /* windows */

#define ROOM_SHARE     8 /* 1/ROOM_SHARE of the bytes is to be free after a purge */
#define PURGED_TOLD_MS 1000

static uint64_t random_seed(void)
{
    uint64_t seed;

    random_bytes(&seed, sizeof(seed));
    return seed;
}

static struct index_queue_options index_queue_options_of(const struct delivery_settings *s)
{
    return (struct index_queue_options){
        .workers = s->workers,
        .width_max = s->helpers,
        .batch_min = s->batch_min,
        .batch_max = s->batch_max,
        .batch_bytes = s->batch_bytes,
        .flush_ms = s->flush_ms,
        .job_share = s->fan_out_share,
        .fuse = {.failures = s->failures,
                 .window_ms = s->failure_window_ms,
                 .reset_ms = s->reset_after_ms},
    };
}

static void set_pace(const struct sender *s, struct index_queue *o)
{
    const int64_t window_ms = s->opt.settings.read_window_ms;

    pace_set(index_queue_pace(o),
             &(struct pace_options){.window_ms = window_ms,
                                    .longest_ms = READS_LONGEST * window_ms,
                                    .flow = READS_FLOW,
                                    .worth = READS_WORTH,
                                    .enough = s->opt.settings.load_batch_max});
}

static struct index_queue *add_index_queue(struct sender *s, const struct target *t)
{
    const struct index_queue_options opt = index_queue_options_of(&s->opt.settings);
    const struct str index = str_from(t->index);
    struct index_queue *o = index_queue_new(index, &opt, random_seed());

    set_pace(s, o);
    index_queue_set_allowance(o, budget_allowance(s->budget, index));
    index_queue_set_metric(o, delivery_metric_index(s->metric, str_from(t->topic), index));
    index_queues_add(&s->index_queues, o);
    return o;
}

static struct index_queue *index_queue_of(struct sender *s, const struct target *t)
{
    struct index_queue *o = index_queues_find(&s->index_queues, str_from(t->index));

    return o != NULL ? o : add_index_queue(s, t);
}

/* A change was acknowledged: record its latency. */
static void on_end(void *ctx, const struct write *w, const struct waiter *x, enum outcome how)
{
    struct sender *s = ctx;

    if (x->commit_ms == 0 || (how != OUTCOME_DELIVERED && how != OUTCOME_SUPERSEDED))
        return;

    const int64_t took_ms = s->now_wall_ms - x->commit_ms;

    histogram_add(index_queue_metric(index_queue_of(s, w->target))->latency,
                  took_ms < 0 ? 0 : (uint64_t)took_ms);
}

/* A write no longer counts for its worker. */
static void on_gone(void *ctx, unsigned worker)
{
    struct sender *s = ctx;

    worker_backlog_leave(s->backlog, worker);
}

struct sender *sender_new(const struct delivery_options *opt, struct http_client *http,
                          struct budget *budget, struct worker_backlog *backlog,
                          struct delivery_metric *metric)
{
    struct sender *s = mem_alloc(1, sizeof(*s));

    s->opt = *opt;
    s->http = http;
    s->budget = budget;
    s->backlog = backlog;
    s->metric = metric;
    s->ends.on_end = on_end;
    s->ends.on_gone = on_gone;
    s->ends.ctx = s;
    s->table = document_table_new();
    index_queues_init(&s->index_queues);
    s->helpers.settings = &s->opt.settings;
    s->health.opt = &s->opt;
    s->health.metric = metric;
    s->letters = letters_new(&s->opt, random_seed());
    s->shedding = load_shedding_new(&s->opt, backlog, random_seed());
    s->repeater = delete_repeater_new();
    list_init(&s->requests);
    list_init(&s->lookups);
    list_init(&s->loads);
    http_client_set_connections(s->http, s->opt.settings.connections);
    sender_look_at_clock(s);
    return s;
}

/* Skips REFUSED documents: they are on their way to the store, so moving them makes no room. */
void sender_move(struct sender *s)
{
    struct document_cursor at = {0};
    struct document *doc;

    while ((doc = document_table_next(s->table, &at)) != NULL) {
        if (doc->state != DOCUMENT_REFUSED)
            worker_backlog_move(s->backlog, doc->now);
        if (doc->later != NULL)
            worker_backlog_move(s->backlog, doc->later);
    }
}

void sender_set(struct sender *s, const struct delivery_settings *settings)
{
    s->opt.settings = *settings;

    const struct index_queue_options opt = index_queue_options_of(&s->opt.settings);

    for (size_t i = 0; i < s->index_queues.n; i++) {
        index_queue_set_options(s->index_queues.items[i], &opt);
        set_pace(s, s->index_queues.items[i]);
    }
    http_client_set_connections(s->http, s->opt.settings.connections);
}

void sender_look_at_clock(struct sender *s)
{
    s->now_ms = clock_mono_ms();
    s->health.now_ms = s->now_ms;
    s->now_wall_ms = clock_wall_ms();
}

void sender_free(struct sender *s)
{
    assert(list_is_empty(&s->requests) && list_is_empty(&s->lookups));
    assert(list_is_empty(&s->loads));
    http_client_free(s->http);
    document_table_free(s->table, &s->ends);
    index_queues_fini(&s->index_queues);
    letters_free(s->letters);
    load_shedding_free(s->shedding);
    delete_repeater_free(s->repeater);
    bulk_response_free(&s->response);
    free(s);
}

static struct load_shedding_index_queues all_index_queues(const struct sender *s)
{
    return (struct load_shedding_index_queues){s->index_queues.items, s->index_queues.n};
}

static void ask_for_read(const struct sender *s, struct index_queue *o, const struct write *w)
{
    const struct index_queue_level level = index_queue_level(o);
    const bool alone = level.ready + level.load_wait + level.in_flight == 0 && s->n_loads == 0;

    pace_ask(index_queue_pace(o), s->now_ms,
             w->gathered ? PACE_GATHERED
             : alone     ? PACE_ALONE
                         : PACE_AMONG);
}

void sender_accept(struct sender *s, struct write *w)
{
    struct index_queue *o = index_queue_of(s, w->target);
    const struct load_shedding_index_queues all = all_index_queues(s);
    bool to_place;

    load_shedding_worker(s->shedding, &all, w->worker, s->now_ms);
    index_queue_set_target(o, w->target);
    delete_repeater_raise(s->repeater, w, s->now_ms);
    if (w->area > 0 && !index_queue_takes_areas(o, s->now_ms))
        write_widen(w);

    if (w->op == DOC_REFRESH)
        ask_for_read(s, o, w);

    struct document *doc = document_table_arrive(s->table, o, w, &s->ends, &to_place);

    if (to_place)
        index_queue_place(o, doc, s->now_ms);
    else
        index_queue_resize(o, doc);
}

size_t sender_repeats(const struct sender *s)
{
    return delete_repeater_repeats(s->repeater);
}

void sender_forget(struct sender *s, struct str index, enum outcome how)
{
    const struct index_queue *o = index_queues_find(&s->index_queues, index);
    struct document_cursor at = {0};
    struct document *doc;

    if (o == NULL)
        return;
    while ((doc = document_table_next(s->table, &at)) != NULL) {
        /* A REFUSED document has its outcome, which is being stored. */
        if (doc->index_queue != o || doc->state == DOCUMENT_REFUSED)
            continue;
        if (doc->state != DOCUMENT_IN_FLIGHT && doc->state != DOCUMENT_LOADING)
            index_queue_remove(doc->index_queue, doc);
        if (!document_forget(doc, how, &s->ends))
            document_table_remove(s->table, doc);
    }
}

void sender_drop(struct sender *s, struct str index)
{
    struct index_queue *o = index_queues_find(&s->index_queues, index);
    struct document *doc;

    if (o == NULL)
        return;
    index_queue_drop(o);
    letters_drop(s->letters, index);
    while ((doc = letters_take(s->letters, index)) != NULL)
        outcome_end(s, doc, OUTCOME_DEFERRED);
    sender_forget(s, index, OUTCOME_DEFERRED);
    index_health_drop(&s->health, o);
    budget_drop(index_queue_allowance(o));
}

/* Spares an index that takes nothing: its documents are what it is tried with. */
void sender_put_back(struct sender *s, struct str index, struct str routing, struct str id)
{
    struct index_queue *o = index_queues_find(&s->index_queues, index);
    struct document *doc =
        o == NULL
            ? NULL
            : document_table_find(s->table, o, write_hash(index, routing, id), routing, id);

    if (doc == NULL || !doc->may_go || doc->attempts == 0 || gate_is_blown(index_queue_gate(o)))
        return;
    index_queue_remove(o, doc);
    if (doc->now->stored && !doc->now->ambiguous)
        outcome_end(s, doc, OUTCOME_DEFERRED);
    else
        load_shedding_purge(s->shedding, doc);
}

/*
 * Drop what came back, or came later, for an index that is gone.  Reopen its gate, which empty
 * parts of a bisection must still pass.
 */
static void forget_gone(struct sender *s)
{
    for (size_t i = 0; i < s->index_queues.n; i++) {
        struct index_queue *o = s->index_queues.items[i];
        const struct index_queue_level level = index_queue_level(o);

        if (!index_queue_is_gone(o) || level.ready + level.load_wait + level.parked == 0)
            continue;
        sender_forget(s, index_queue_index(o), OUTCOME_DEFERRED);
        gate_drop(index_queue_gate(o), s->now_ms);
    }
}

void sender_probe(struct sender *s)
{
    for (size_t i = 0; i < s->index_queues.n; i++)
        gate_probe(index_queue_gate(s->index_queues.items[i]), s->now_ms);
}

void sender_end_astray(struct sender *s, struct str index)
{
    struct index_queue *o = index_queues_find(&s->index_queues, index);

    if (o != NULL)
        index_health_end_astray(&s->health, o);
}

/* Hold the index whose dead letters find no room.  Probe all once there is room again. */
static void look_at_letters(struct sender *s, bool were_full)
{
    const struct err *full = letters_are_full(s->letters);

    if (were_full && full == NULL)
        sender_probe(s);
    if (!were_full && full != NULL)
        index_health_hold(&s->health, letters_first(s->letters)->index_queue, HOLD_STOP, full);
}

/* Loaders may read more than there was room for, so the bytes of results are taken by force. */
void sender_settle(struct sender *s)
{
    if (s->ends.taken + s->ends.freed > 0)
        budget_settle(s->budget);
    s->ends.taken = s->ends.freed = 0;
}

/* The room that blocked submitters need. */
static struct load_shedding_need needed(struct sender *s)
{
    sender_settle(s);
    return (struct load_shedding_need){
        .bytes_over = budget_excess(s->budget, load_shedding_bytes(s->shedding),
                                    budget_max(s->budget) / ROOM_SHARE),
        .large = budget_waits_for_large(s->budget)};
}

static void tell_purged(struct sender *s, struct index_queue *o)
{
    struct index_queue_purged *p = index_queue_purged(o);

    if (p->n == 0 || s->now_ms < p->told_ms + PURGED_TOLD_MS)
        return;
    if (s->opt.event != NULL)
        s->opt.event(s->opt.ctx, DELIVERY_PURGED, index_queue_target(o), p->n, NULL);
    *p = (struct index_queue_purged){.told_ms = s->now_ms};
}

/* Make room if an index that takes nothing fills the queues. */
static void relieve(struct sender *s)
{
    const struct load_shedding_index_queues all = all_index_queues(s);
    const struct load_shedding_need need = needed(s);
    struct document *doc;

    load_shedding_turn(s->shedding, &all, &need, s->now_ms);
    while ((doc = load_shedding_next(s->shedding)) != NULL)
        outcome_purge(s, doc);
    for (size_t i = 0; i < s->index_queues.n; i++)
        tell_purged(s, s->index_queues.items[i]);
}

static void repeat_deletes(struct sender *s)
{
    struct worker_backlog_turn turn; /* the delivery thread may not wait */
    struct write *w;

    while ((w = delete_repeater_next(s->repeater, s->now_ms)) != NULL) {
        worker_backlog_enter(s->backlog, w, &turn);
        sender_accept(s, w);
    }
}

void sender_turn(struct sender *s)
{
    struct document *doc;

    forget_gone(s);
    for (size_t i = 0; i < s->index_queues.n; i++) {
        index_health_look(&s->health, s->index_queues.items[i]);
        index_queue_turn(s->index_queues.items[i], s->now_ms);
    }

    const bool were_full = letters_are_full(s->letters) != NULL;

    while ((doc = letters_next(s->letters, s->now_ms)) != NULL)
        outcome_bury(s, doc);
    look_at_letters(s, were_full);
    letters_turn(s->letters, s->now_ms);
    relieve(s);
    repeat_deletes(s);
    sender_settle(s);
}

bool sender_may_send(const struct sender *s)
{
    return helpers_are_free(&s->helpers);
}

/* Results of reads and bodies of requests use the bytes that submitters leave. */
bool sender_has_room(const struct sender *s, const struct index_queue *o)
{
    return budget_has_room(index_queue_allowance(o),
                           s->opt.settings.bytes_max - budget_max(s->budget));
}

bool sender_may_send_to(const struct sender *s, const struct index_queue *o)
{
    const bool goes_without = index_queue_level(o).requests == 0 && s->n_without_room == 0;

    return helpers_may_send_to(&s->helpers, o, s->index_queues.n == 1) &&
           (goes_without || sender_has_room(s, o));
}

int64_t sender_wait_ms(const struct sender *s, int64_t max_ms)
{
    const bool can_send = sender_may_send(s);
    int64_t wait_ms = letters_wait_ms(s->letters, s->now_ms,
                                      load_shedding_wait_ms(s->shedding, s->now_ms, max_ms));

    wait_ms = delete_repeater_wait_ms(s->repeater, s->now_ms, wait_ms);

    for (size_t i = 0; i < s->index_queues.n; i++)
        wait_ms = index_queue_wait_ms(
            s->index_queues.items[i], s->now_ms,
            can_send && sender_may_send_to(s, s->index_queues.items[i]), wait_ms);
    return wait_ms;
}

bool sender_is_stuck(const struct sender *s)
{
    size_t n_held = letters_kept_back(s->letters, 1, 0);

    for (size_t i = 0; i < s->index_queues.n; i++) {
        const struct index_queue_level level = index_queue_level(s->index_queues.items[i]);

        if (index_queue_is_told(s->index_queues.items[i]) && level.requests == 0)
            n_held += level.ready + level.load_wait + level.parked;
    }
    return n_held == document_table_count(s->table);
}
