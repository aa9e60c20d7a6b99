#include "config.h"

#include "sync/delivery/sender.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/net/http_client.h"
#include "sync/delivery/document/delete_repeater.h"
#include "sync/delivery/entries.h"
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
/* A read of documents like those before should not have to leave any. */
#define READS_BYTES (LOAD_BYTES / 4 * 3)

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

static struct guests_options guests_options_of(const struct delivery_settings *s)
{
    return (struct guests_options){.polite = s->builds == BUILDS_POLITE,
                                   .requests_max = s->helpers,
                                   .bytes_max = s->batch_bytes};
}

static void set_pace(const struct sender *s, struct index_queue *o)
{
    const int64_t window_ms = s->opt.settings.read_window_ms;

    pace_set(index_queue_pace(o),
             &(struct pace_options){.window_ms = window_ms,
                                    .longest_ms = READS_LONGEST * window_ms,
                                    .flow = READS_FLOW,
                                    .worth = READS_WORTH,
                                    .enough = s->opt.settings.load_batch_max,
                                    .bytes = READS_BYTES});
}

static struct index_queue *add_index_queue(struct sender *s, struct target *t)
{
    const struct index_queue_options opt = index_queue_options_of(&s->opt.settings);
    const struct str index = str_from(t->index);
    struct index_queue *o = index_queue_new(index, &opt, random_seed());

    set_pace(s, o);
    index_queue_set_guests(o, &s->guests);
    index_queue_set_allowance(o, budget_allowance(s->budget, index));
    index_queue_set_metric(o, delivery_metric_index(s->metric, str_from(t->topic), index));
    index_queues_add(&s->index_queues, o);
    index_queue_set_target(o, t);

    const struct err *why = map_find(s->paused, index);

    if (why != NULL)
        index_health_pause(&s->health, o, why);
    return o;
}

static struct index_queue *index_queue_of(struct sender *s, struct target *t)
{
    struct index_queue *o = index_queues_find(&s->index_queues, str_from(t->index));

    return o != NULL ? o : add_index_queue(s, t);
}

/* A change was acknowledged: record its latency. */
static void on_end(void *ctx, const struct write *w, const struct waiter *x, enum outcome how)
{
    struct sender *s = MAGIC_CAST(sender, ctx);

    if (x->commit_ms == 0 || (how != OUTCOME_DELIVERED && how != OUTCOME_SUPERSEDED))
        return;

    const int64_t took_ms = s->now_wall_ms - x->commit_ms;

    histogram_add(index_queue_metric(index_queue_of(s, w->target))->latency,
                  took_ms < 0 ? 0 : (uint64_t)took_ms);
}

/* A write no longer counts for its worker. */
static void on_gone(void *ctx, unsigned worker)
{
    struct sender *s = MAGIC_CAST(sender, ctx);

    worker_backlog_leave(s->backlog, worker);
}

struct sender *sender_new(const struct delivery_options *opt, struct http_client *http,
                          struct budget *budget, struct worker_backlog *backlog,
                          struct delivery_metric *metric)
{
    const struct guests_options guests = guests_options_of(&opt->settings);
    struct sender *s = mem_alloc(1, sizeof(*s));

    s->magic = MAGIC_sender;
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
    guests_init(&s->guests, &guests);
    s->health.opt = &s->opt;
    s->health.metric = metric;
    s->letters = letters_new(&s->opt, random_seed());
    s->shedding = load_shedding_new(&s->opt, backlog, random_seed());
    s->repeater = delete_repeater_new();
    s->paused = map_new();
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
    const struct guests_options guests = guests_options_of(&s->opt.settings);

    guests_set(&s->guests, &guests);
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
    map_free(s->paused, free);
    bulk_response_free(&s->response);
    MAGIC_END(sender, s);
    free(s);
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
    bool to_place;

    load_shedding_worker(s->shedding, &s->index_queues, w->worker, s->now_ms);
    index_queue_set_target(o, w->target);
    delete_repeater_raise(s->repeater, w, s->now_ms);
    if (w->area > 0 && !index_queue_takes_areas(o, s->now_ms))
        write_widen(w);

    if (!w->gathered)
        neighbours_note_stream(&s->neighbours, s->now_ms);
    entries_note_source(s, w);
    if (w->op == DOC_REFRESH)
        ask_for_read(s, o, w);

    struct document *doc = document_table_arrive(s->table, o, w, &s->ends, &to_place);

    if (to_place)
        index_queue_place(o, doc, s->now_ms);
    else
        index_queue_resize(o, doc);
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

void sender_probe(struct sender *s)
{
    for (size_t i = 0; i < s->index_queues.n; i++)
        gate_probe(index_queue_gate(s->index_queues.items[i]), s->now_ms);
}

void sender_end_astray(struct sender *s, struct str index)
{
    struct index_queue *o = index_queues_find(&s->index_queues, index);

    if (o != NULL)
        gate_end_astray(index_queue_gate(o));
}

void sender_end_hold(struct sender *s, struct str index)
{
    struct index_queue *o = index_queues_find(&s->index_queues, index);

    if (o != NULL)
        index_health_end_hold(&s->health, o);
}

void sender_pause(struct sender *s, struct str index, struct str why)
{
    struct index_queue *o = index_queues_find(&s->index_queues, index);
    struct err *paused = mem_alloc(1, sizeof(*paused));

    err_set_code(paused, ERR_STOP, DELIVERY_PAUSED, 0, "%" STR_FMT, STR_ARG(why));
    free(map_put(s->paused, index, paused));
    if (o != NULL)
        index_health_pause(&s->health, o, paused);
}

void sender_unpause(struct sender *s, struct str index)
{
    struct index_queue *o = index_queues_find(&s->index_queues, index);

    free(map_remove(s->paused, index));
    if (o != NULL)
        index_health_unpause(&s->health, o);
}
