#include "config.h"

#include "sync/delivery/sender.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/http_client.h"
#include "sync/delivery/late.h"

#include <assert.h>
#include <stdlib.h>

/* Documents asked for in a quarter of a window that are worth waiting for more. */
#define READS_FLOW 12
/* A read is seven statements for orders with customer, items and products, and where related rows
 * change, looking for their documents is as many: with so many a document costs less than a
 * twentieth of one. */
#define READS_WORTH   300
#define READS_LONGEST 5 /* windows */

#define AREAS_OFF_MS 600000

#define ROOM_SHARE     8 /* of the bytes, one part is to be free after a purge */
#define PURGED_TOLD_MS 1000

static uint64_t random_seed(void)
{
    uint64_t seed;

    random_bytes(&seed, sizeof(seed));
    return seed;
}

static struct outlet_options outlet_options_of(const struct delivery_options *opt)
{
    return (struct outlet_options){
        .workers = opt->workers,
        .width_max = opt->helpers,
        .batch_min = opt->batch_min,
        .batch_max = opt->batch_max,
        .batch_bytes = opt->batch_bytes,
        .flush_ms = opt->flush_interval_ms,
        .fuse = {.failures = opt->failures,
                 .window_ms = opt->failure_window_ms,
                 .reset_ms = opt->reset_after_ms},
    };
}

static void set_pace(const struct sender *s, struct outlet *o)
{
    pace_set(outlet_pace(o),
             &(struct pace_options){.window_ms = s->opt.read_window_ms,
                                    .longest_ms = READS_LONGEST * (int64_t)s->opt.read_window_ms,
                                    .flow = READS_FLOW,
                                    .worth = READS_WORTH,
                                    .enough = s->opt.load_batch_max});
}

static struct outlet *add_outlet(struct sender *s, const struct target *t)
{
    const struct outlet_options opt = outlet_options_of(&s->opt);
    const struct str index = str_from(t->index);
    struct outlet *o = outlet_new(index, &opt, random_seed());

    set_pace(s, o);
    outlet_set_metric(o, delivery_metric_index(s->metric, str_from(t->topic), index));
    outlets_add(&s->outlets, o);
    return o;
}

static struct outlet *outlet_of(struct sender *s, const struct target *t)
{
    struct outlet *o = outlets_find(&s->outlets, str_from(t->index));

    return o != NULL ? o : add_outlet(s, t);
}

/* A change is acknowledged: how long did it take? */
static void on_end(void *ctx, const struct write *w, const struct waiter *x, enum outcome how)
{
    struct sender *s = ctx;

    if (x->commit_ms == 0 || (how != OUTCOME_DELIVERED && how != OUTCOME_SUPERSEDED))
        return;

    const int64_t took_ms = s->now_wall_ms - x->commit_ms;

    histogram_add(outlet_metric(outlet_of(s, w->target))->latency,
                  took_ms < 0 ? 0 : (uint64_t)took_ms);
}

/* A write counted for its worker until now. */
static void on_gone(void *ctx, unsigned worker)
{
    struct sender *s = ctx;

    mark_leave(s->mark, worker);
}

struct sender *sender_new(const struct delivery_options *opt, struct http_client *http,
                          struct budget *budget, struct mark *mark,
                          struct delivery_metric *metric)
{
    struct sender *s = mem_alloc(1, sizeof(*s));

    s->opt = *opt;
    s->http = http;
    s->budget = budget;
    s->mark = mark;
    s->metric = metric;
    s->ends.on_end = on_end;
    s->ends.on_gone = on_gone;
    s->ends.ctx = s;
    s->table = document_table_new();
    outlets_init(&s->outlets);
    s->helpers.opt = &s->opt;
    s->standing.opt = &s->opt;
    s->standing.metric = metric;
    s->letters = letters_new(&s->opt, random_seed());
    s->relief = relief_new(&s->opt, mark, random_seed());
    s->late = late_new();
    list_init(&s->requests);
    list_init(&s->lookups);
    list_init(&s->loads);
    http_client_set_connections(s->http, s->opt.connections);
    sender_look_at_clock(s);
    return s;
}

/* What is REFUSED is on its way to the store: that makes no room in another lane. */
void sender_move(struct sender *s)
{
    struct document_cursor at = {0};
    struct document *doc;

    while ((doc = document_table_next(s->table, &at)) != NULL) {
        if (doc->state != DOCUMENT_REFUSED)
            mark_move(s->mark, doc->now);
        if (doc->later != NULL)
            mark_move(s->mark, doc->later);
    }
}

void sender_set(struct sender *s, const struct delivery_settings *settings)
{
    delivery_settings_put(settings, &s->opt);

    const struct outlet_options opt = outlet_options_of(&s->opt);

    for (size_t i = 0; i < s->outlets.n; i++) {
        outlet_set_options(s->outlets.items[i], &opt);
        set_pace(s, s->outlets.items[i]);
    }
    http_client_set_connections(s->http, s->opt.connections);
}

void sender_look_at_clock(struct sender *s)
{
    s->now_ms = clock_mono_ms();
    s->standing.now_ms = s->now_ms;
    s->now_wall_ms = clock_wall_ms();
}

void sender_free(struct sender *s)
{
    assert(list_is_empty(&s->requests) && list_is_empty(&s->lookups));
    assert(list_is_empty(&s->loads));
    http_client_free(s->http);
    document_table_free(s->table, &s->ends);
    outlets_fini(&s->outlets);
    letters_free(s->letters);
    relief_free(s->relief);
    late_free(s->late);
    bulk_response_free(&s->response);
    free(s);
}

static struct relief_outlets all_outlets(const struct sender *s)
{
    return (struct relief_outlets){s->outlets.items, s->outlets.n};
}

static void ask_for_read(const struct sender *s, struct outlet *o, const struct write *w)
{
    const struct outlet_level level = outlet_level(o);
    const bool alone =
        level.ready + level.load_wait + level.in_flight == 0 && s->n_loads == 0;

    pace_ask(outlet_pace(o), s->now_ms,
             w->gathered ? PACE_GATHERED : alone ? PACE_ALONE : PACE_AMONG);
}

void sender_accept(struct sender *s, struct write *w)
{
    struct outlet *o = outlet_of(s, w->target);
    const struct relief_outlets all = all_outlets(s);
    bool to_place;

    relief_worker(s->relief, &all, w->worker, s->now_ms);
    outlet_set_target(o, w->target);
    late_raise(s->late, w, s->now_ms);
    if (w->area > 0 && !outlet_takes_areas(o, s->now_ms))
        write_widen(w);

    if (w->op == DOC_REFRESH)
        ask_for_read(s, o, w);

    struct document *doc = document_table_arrive(s->table, o, w, &s->ends, &to_place);

    if (to_place)
        outlet_place(o, doc, s->now_ms);
    else
        outlet_resize(o, doc);
}

static void end(struct sender *s, struct document *doc, enum outcome how)
{
    if (document_end(doc, how, &s->ends))
        outlet_place(doc->outlet, doc, s->now_ms);
    else
        document_table_remove(s->table, doc);
}

void sender_end(struct sender *s, struct document *doc, enum outcome how)
{
    if ((how == OUTCOME_DELIVERED || how == OUTCOME_SUPERSEDED) && doc->now->area == 0)
        letters_written(s->letters, doc->now, s->now_ms);
    end(s, doc, how);
}

void sender_leave(struct sender *s, struct document *doc)
{
    end(s, doc, OUTCOME_DELIVERED);
}

static void count_one(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void count_result(const struct document *doc, enum document_result result)
{
    static const enum metric_op ops[] = {[DOC_INDEX] = METRIC_INDEX,
                                         [DOC_REFRESH] = METRIC_INDEX,
                                         [DOC_DELETE] = METRIC_DELETE,
                                         [DOC_UPDATE] = METRIC_UPDATE};

    index_metric_count(outlet_metric(doc->outlet), ops[doc->now->op], result);
}

/* So long after its answer was lost a copy of a write may still come. */
static int64_t late_ms(const struct sender *s)
{
    return 2 * (int64_t)s->opt.request_timeout_ms;
}

void sender_lose(struct sender *s, struct document *doc)
{
    late_note(s->late, doc->now, s->now_ms, s->now_ms + late_ms(s));
    document_lost_answer(doc);
}

/*
 * doc, a delete that is done, is to be repeated.  Where many are, its key goes to the store: as of
 * what had no answer its row is read again when no copy can come any more.
 */
static bool is_purged_to_repeat(struct sender *s, struct document *doc)
{
    if (!late_is_full(s->late) || !relief_can_purge(s->relief) || doc->now->key_len == 0)
        return false;
    document_lost_answer(doc);
    relief_purge(s->relief, doc);
    return true;
}

void sender_deliver(struct sender *s, struct document *doc)
{
    struct target_counters *count = &doc->now->target->count;

    count_one(doc->now->op == DOC_DELETE ? &count->deleted : &count->indexed);
    delivery_metric_count(s->metric, COUNT_INDEXED, 1);
    count_result(doc, RESULT_OK);
    if (doc->now->op == DOC_DELETE && late_may_come(s->late, doc->now, s->now_ms)) {
        if (is_purged_to_repeat(s, doc))
            return;
        late_repeat(s->late, doc->now, s->now_ms + late_ms(s), &s->ends);
    }
    sender_end(s, doc, OUTCOME_DELIVERED);
}

void sender_supersede(struct sender *s, struct document *doc)
{
    count_one(&doc->now->target->count.superseded);
    count_result(doc, RESULT_STALE);
    sender_end(s, doc, OUTCOME_SUPERSEDED);
}

void sender_count_retry(const struct document *doc)
{
    count_one(&doc->now->target->count.retried);
    count_result(doc, RESULT_RETRIED);
}

void sender_forget(struct sender *s, struct str index, enum outcome how)
{
    const struct outlet *o = outlets_find(&s->outlets, index);
    struct document_cursor at = {0};
    struct document *doc;

    if (o == NULL)
        return;
    while ((doc = document_table_next(s->table, &at)) != NULL) {
        /* What is REFUSED has an outcome, which is being stored. */
        if (doc->outlet != o || doc->state == DOCUMENT_REFUSED)
            continue;
        if (doc->state != DOCUMENT_IN_FLIGHT && doc->state != DOCUMENT_LOADING)
            outlet_remove(doc->outlet, doc);
        if (!document_forget(doc, how, &s->ends))
            document_table_remove(s->table, doc);
    }
}

void sender_drop(struct sender *s, struct str index)
{
    struct outlet *o = outlets_find(&s->outlets, index);
    struct document *doc;

    if (o == NULL)
        return;
    outlet_drop(o);
    letters_drop(s->letters, index);
    while ((doc = letters_take(s->letters, index)) != NULL)
        sender_end(s, doc, OUTCOME_DEFERRED);
    sender_forget(s, index, OUTCOME_DEFERRED);
    standing_drop(&s->standing, o);
}

/* What an index that takes nothing has is what it is tried with. */
void sender_put_back(struct sender *s, struct str index, struct str routing, struct str id)
{
    struct outlet *o = outlets_find(&s->outlets, index);
    struct document *doc =
        o == NULL ? NULL
                  : document_table_find(s->table, o, write_hash(index, routing, id), routing, id);

    if (doc == NULL || !doc->may_go || doc->attempts == 0 || gate_is_blown(outlet_gate(o)))
        return;
    outlet_remove(o, doc);
    if (doc->now->stored && !doc->now->ambiguous)
        end(s, doc, OUTCOME_DEFERRED);
    else
        relief_purge(s->relief, doc);
}

/* What came back, or came later, for an index that is gone.  What was said of it does not close
 * its gate, through which the empty parts of a bisection go. */
static void forget_gone(struct sender *s)
{
    for (size_t i = 0; i < s->outlets.n; i++) {
        struct outlet *o = s->outlets.items[i];
        const struct outlet_level level = outlet_level(o);

        if (!outlet_is_gone(o) || level.ready + level.load_wait + level.parked == 0)
            continue;
        sender_forget(s, outlet_index(o), OUTCOME_DEFERRED);
        gate_drop(outlet_gate(o), s->now_ms);
    }
}

void sender_probe(struct sender *s)
{
    for (size_t i = 0; i < s->outlets.n; i++)
        gate_probe(outlet_gate(s->outlets.items[i]), s->now_ms);
}

void sender_end_astray(struct sender *s, struct str index)
{
    struct outlet *o = outlets_find(&s->outlets, index);

    if (o != NULL)
        standing_end_astray(&s->standing, o);
}

void sender_widen(struct sender *s, struct document *doc, const struct err *why)
{
    struct outlet *o = doc->outlet;

    index_metric_count(outlet_metric(o), METRIC_UPDATE, RESULT_WHOLE);
    if (why != NULL && outlet_takes_areas(o, s->now_ms)) {
        outlet_refuse_areas(o, s->now_ms + AREAS_OFF_MS);
        log_failure(LOG_WARN, why,
                    "the search engine does not run the script that updates areas: documents "
                    "are written whole for a while",
                    KV("index", outlet_index(o)));
    }
    document_widen(doc, &s->ends);
    outlet_place(o, doc, s->now_ms);
}

void sender_refuse(struct sender *s, struct document *doc, int status, struct str reason)
{
    if (doc->now->area > 0) {
        sender_widen(s, doc, NULL);
        return;
    }
    if (outlet_is_gone(doc->outlet)) { /* whoever took its place has the row */
        sender_end(s, doc, OUTCOME_DEFERRED);
        return;
    }
    document_refuse(doc);
    letters_refuse(s->letters, doc, status, reason);
    if (letters_are_full(s->letters) != NULL && !letters_know(s->letters, doc->now))
        standing_hold(&s->standing, doc->outlet, HOLD_STOP, letters_are_full(s->letters));
}

/* Who cannot have its dead letters kept takes nothing, until there is room again. */
static void look_at_letters(struct sender *s, bool were_full)
{
    const struct err *full = letters_are_full(s->letters);

    if (were_full && full == NULL)
        sender_probe(s);
    if (!were_full && full != NULL)
        standing_hold(&s->standing, letters_first(s->letters)->outlet, HOLD_STOP, full);
}

/* Loaders may have read more than there was room for; that is why read bytes are forced. */
void sender_settle(struct sender *s)
{
    const size_t taken = s->ends.taken, freed = s->ends.freed;

    s->ends.taken = s->ends.freed = 0;
    if (taken > freed)
        budget_force(s->budget, taken - freed);
    else if (freed > taken)
        budget_give_back(s->budget, freed - taken);
}

/* So many bytes more are held than should be, once whoever submits waits for room. */
static size_t bytes_over(const struct sender *s)
{
    const size_t max = budget_max(s->budget);
    const size_t held = budget_held(s->budget) + s->ends.taken;
    const size_t gone = s->ends.freed + relief_bytes(s->relief);

    return held < gone + max ? 0 : held - gone - (max - max / ROOM_SHARE);
}

static void tell_purged(struct sender *s, struct outlet *o)
{
    struct outlet_purged *p = outlet_purged(o);

    if (p->n == 0 || s->now_ms < p->told_ms + PURGED_TOLD_MS)
        return;
    if (s->opt.event != NULL)
        s->opt.event(s->opt.ctx, DELIVERY_PURGED, outlet_target(o), p->n, NULL);
    *p = (struct outlet_purged){.told_ms = s->now_ms};
}

/* Room is made where an index that takes nothing fills the queues. */
static void relieve(struct sender *s)
{
    const struct relief_outlets all = all_outlets(s);
    struct document *doc;

    relief_turn(s->relief, &all, bytes_over(s), s->now_ms);
    while ((doc = relief_next(s->relief)) != NULL) {
        outlet_purged(doc->outlet)->n++;
        delivery_metric_count(s->metric, COUNT_PURGED, 1);
        sender_end(s, doc, OUTCOME_PURGED);
    }
    for (size_t i = 0; i < s->outlets.n; i++)
        tell_purged(s, s->outlets.items[i]);
}

static void repeat_deletes(struct sender *s)
{
    struct mark_turn turn; /* it may not wait */
    struct write *w;

    while ((w = late_next(s->late, s->now_ms)) != NULL) {
        mark_enter(s->mark, w, &turn);
        sender_accept(s, w);
    }
}

void sender_turn(struct sender *s)
{
    struct document *doc;

    s->outlets.turn++;
    forget_gone(s);
    for (size_t i = 0; i < s->outlets.n; i++) {
        standing_look(&s->standing, s->outlets.items[i]);
        outlet_turn(s->outlets.items[i], s->now_ms);
    }

    const bool were_full = letters_are_full(s->letters) != NULL;

    while ((doc = letters_next(s->letters, s->now_ms)) != NULL) {
        count_one(&doc->now->target->count.dead);
        delivery_metric_count(s->metric, COUNT_FAILED_DOCUMENTS, 1);
        count_result(doc, RESULT_DEAD);
        sender_end(s, doc, OUTCOME_DEAD);
    }
    look_at_letters(s, were_full);
    letters_turn(s->letters, s->now_ms);
    relieve(s);
    repeat_deletes(s);
    sender_settle(s);
}

bool sender_may_send(const struct sender *s)
{
    const size_t held = budget_held(s->budget) + s->ends.taken;

    if (!helpers_are_free(&s->helpers))
        return false;
    return s->helpers.n_requests == 0 || held <= s->opt.bytes_max + s->ends.freed;
}

bool sender_may_send_to(const struct sender *s, const struct outlet *o)
{
    return helpers_may_send_to(&s->helpers, o, s->outlets.n == 1);
}

int64_t sender_wait_ms(const struct sender *s, int64_t max_ms)
{
    const bool can_send = sender_may_send(s);
    int64_t wait_ms = letters_wait_ms(s->letters, s->now_ms,
                                      relief_wait_ms(s->relief, s->now_ms, max_ms));

    wait_ms = late_wait_ms(s->late, s->now_ms, wait_ms);

    for (size_t i = 0; i < s->outlets.n; i++)
        wait_ms = outlet_wait_ms(s->outlets.items[i], s->now_ms,
                                 can_send && sender_may_send_to(s, s->outlets.items[i]), wait_ms);
    return wait_ms;
}

bool sender_is_stuck(const struct sender *s)
{
    size_t n_held = letters_kept_back(s->letters, 1, 0);

    for (size_t i = 0; i < s->outlets.n; i++) {
        const struct outlet_level level = outlet_level(s->outlets.items[i]);

        if (outlet_is_told(s->outlets.items[i]) && level.requests == 0)
            n_held += level.ready + level.load_wait + level.parked;
    }
    return n_held == document_table_count(s->table);
}
