/*
 * Three indexes, their queues, a mark and what makes room: what happens to writes from when
 * they arrive until they are answered (test_relief_model.c).
 */
#ifndef TESTS_UNIT_LOAD_SHEDDING_MODEL_H
#define TESTS_UNIT_LOAD_SHEDDING_MODEL_H

#include "tests/unit/game.h"
#include "tests/unit/writes.h"

#include "sync/delivery/document/document_table.h"
#include "sync/delivery/index/drain.h"
#include "sync/delivery/index/index_queues.h"
#include "sync/delivery/index/load_shedding.h"
#include "sync/delivery/index/worker_backlog.h"

#define INDEXES     3
#define IDS         40
#define WORKERS_MAX 5
#define BATCHES_MAX 32

/* A request that is to be answered. */
struct flight {
    struct index_queue *index_queue;
    struct batch batch;
    int64_t sent_ms;
};

struct world {
    struct delivery_options opt;
    struct index_queue *index_queues[INDEXES];
    struct target *targets[INDEXES];
    struct document_table *table;
    struct worker_backlog *mark;
    struct load_shedding *shedding;
    struct drain drain;
    struct write *apart, **last_apart; /* what arrives during a drain */
    struct flight flights[BATCHES_MAX];
    size_t n_flights;
    struct write_ends ends;
    struct ticket_counters tickets;
    struct random random;
    uint64_t version;
    int64_t now_ms;
    size_t n_stored, n_purged;
    bool store_is_away;
};

static inline size_t below(struct world *w, size_t n)
{
    return random_below(&w->random, n);
}

static inline bool chance(struct world *w, unsigned percent)
{
    return below(w, 100) < percent;
}

static inline void on_gone(void *ctx, unsigned worker)
{
    struct world *w = ctx;

    worker_backlog_leave(w->mark, worker);
}

static inline bool on_purged(void *ctx, const struct purged_note *notes, size_t n,
                             struct err *err)
{
    struct world *w = ctx;

    if (w->store_is_away)
        return err_set(err, ERR_RETRY, "the store is away");
    for (size_t i = 0; i < n; i++)
        must(notes[i].key.len > 0);
    w->n_stored += n;
    return true;
}

static inline struct index_queues all(struct world *w)
{
    return (struct index_queues){.items = w->index_queues, .n = INDEXES};
}

static inline struct index_queue_options index_queue_options_of(const struct world *w)
{
    return (struct index_queue_options){
        .workers = w->opt.settings.workers,
        .width_max = 4,
        .batch_min = 1,
        .batch_bytes = 1 << 20,
        .flush_ms = 1,
        .fuse = {.failures = 3, .window_ms = 20, .reset_ms = 50}};
}

/* ---- what arrives ---- */

static inline void accept(struct world *w, struct write *x)
{
    const struct index_queues index_queues = all(w);
    const size_t index = (size_t)(x->target->index[0] - 'a');
    struct document *doc;
    bool to_place;

    load_shedding_worker(w->shedding, &index_queues, x->worker, w->now_ms);
    doc = document_table_arrive(w->table, w->index_queues[index], x, &w->ends, &to_place);
    if (to_place)
        index_queue_place(w->index_queues[index], doc, w->now_ms);
    else
        index_queue_resize(w->index_queues[index], doc);
}

static inline void submit(struct world *w)
{
    static const enum doc_op ops[] = {DOC_INDEX, DOC_INDEX, DOC_DELETE, DOC_REFRESH};
    const size_t index = below(w, INDEXES);
    const enum doc_op op = ops[below(w, ARRAY_LEN(ops))];
    struct worker_backlog_turn turn;
    struct write *x;
    char id[16];

    snprintf(id, sizeof(id), "%zu", below(w, IDS));
    x = counted(a_write(w->targets[index], op, id, ++w->version, "{}"), &w->tickets);
    x->strict = op != DOC_REFRESH && chance(w, 30);
    worker_backlog_enter(w->mark, x, &turn);
    game_say("%s of %s/%s", op == DOC_REFRESH ? "refresh" : "write", w->targets[index]->index,
             id);
    if (!drain_covers(&w->drain, x->worker)) {
        accept(w, x);
        return;
    }
    *w->last_apart = x;
    w->last_apart = &x->next;
}

static inline void end(struct world *w, struct document *doc, enum outcome how)
{
    if (document_end(doc, how, &w->ends))
        index_queue_place(doc->index_queue, doc, w->now_ms);
    else
        document_table_remove(w->table, doc);
}

/* ---- requests ---- */

static inline void send(struct world *w, struct index_queue *o)
{
    struct flight *f = &w->flights[w->n_flights];

    must(w->n_flights < BATCHES_MAX);
    if (!index_queue_next_batch(o, w->now_ms, drain_is_on(&w->drain), &f->batch))
        return;
    game_say("a batch of %zu to %.*s", f->batch.n, STR_ARG(index_queue_index(o)));
    fuse_begin(&index_queue_gate(o)->fuse, w->now_ms);
    f->index_queue = o;
    f->sent_ms = w->now_ms;
    w->n_flights++;
}

static inline void come_back(struct world *w, struct index_queue *o, struct document *doc)
{
    if (chance(w, 30))
        index_queue_park(o, index_queue_open_parking(o, w->now_ms + 5), doc);
    else
        index_queue_place_first(o, doc, w->now_ms);
}

static inline void answer_items(struct world *w, struct flight *f)
{
    for (size_t i = 0; i < f->batch.n; i++) {
        struct document *doc = f->batch.docs[i];
        const size_t what = below(w, 10);

        if (what < 6) {
            end(w, doc, OUTCOME_DELIVERED);
            continue;
        }
        if (what < 8)
            document_not_applied(doc, &w->ends);
        else
            document_lost_answer(doc);
        come_back(w, f->index_queue, doc);
    }
    if (f->batch.bisect != NULL)
        f->batch.bisect->is_accepted = true;
}

static inline void split(struct flight *f, size_t from, size_t to)
{
    struct bisect *bisect = f->batch.bisect == NULL ? NULL : bisect_open(f->batch.bisect);

    index_queue_split(f->index_queue, &f->batch, from, to, bisect);
}

static inline void give_back(struct world *w, struct flight *f, bool is_lost)
{
    struct batch *b = &f->batch;

    for (size_t i = b->n; i-- > 0;) {
        if (is_lost)
            document_lost_answer(b->docs[i]);
        else
            document_not_applied(b->docs[i], &w->ends);
        if (b->bisect == NULL)
            index_queue_place_first(f->index_queue, b->docs[i], w->now_ms);
    }
    if (b->bisect != NULL)
        split(f, 0, b->n);
}

static inline void split_in_two(struct world *w, struct flight *f)
{
    for (size_t i = 0; i < f->batch.n; i++)
        document_not_applied(f->batch.docs[i], &w->ends);
    split(f, 0, f->batch.n / 2);
    split(f, f->batch.n / 2, f->batch.n);
}

static inline void give_up(struct world *w, struct flight *f)
{
    struct batch *b = &f->batch;

    for (size_t i = 0; i < b->n; i++) {
        document_not_applied(b->docs[i], &w->ends);
        index_queue_place(f->index_queue, b->docs[i], w->now_ms);
    }
    index_queue_unsplit(f->index_queue, b->bisect, w->now_ms);
    b->bisect->is_given_up = true;
}

/* It is malformed, as a whole. */
static inline void refuse(struct world *w, struct flight *f)
{
    struct batch *b = &f->batch;

    if (b->bisect == NULL)
        b->bisect = bisect_new(b->n);
    if (bisect_is_hopeless(b->bisect) || chance(w, 10))
        give_up(w, f);
    else if (b->n > 1)
        split_in_two(w, f);
    else if (b->n == 1)
        bisect_refuse(b->bisect, b->docs[0]);
}

static inline void end_bisect(struct world *w, struct bisect *b)
{
    const bool guarded = b->is_given_up || chance(w, 30);

    for (size_t i = 0; i < b->n_refused; i++) {
        struct document *doc = b->refused[i];

        if (guarded) {
            document_not_applied(doc, &w->ends);
            index_queue_place(doc->index_queue, doc, w->now_ms);
        } else {
            end(w, doc, OUTCOME_DEAD);
        }
    }
    bisect_free(b);
}

static inline void fail_all(struct world *w, struct flight *f, bool is_busy)
{
    struct gate *gate = index_queue_gate(f->index_queue);

    give_back(w, f, !is_busy);
    gate_failed(gate, f->sent_ms, w->now_ms, -1);
    if (is_busy)
        (void)fuse_good(&gate->fuse, f->sent_ms);
    else if (gate->hold == HOLD_NONE)
        (void)fuse_count_failure(&gate->fuse, FAILURE_ANSWER, f->sent_ms, w->now_ms);
}

static inline void answer(struct world *w, bool calm)
{
    if (w->n_flights == 0)
        return;

    const size_t at = below(w, w->n_flights), what = calm ? 0 : 1 + below(w, 99);
    struct flight f = w->flights[at];

    game_say("answer %zu to a batch of %zu from %.*s", what, f.batch.n,
             STR_ARG(index_queue_index(f.index_queue)));
    w->flights[at] = w->flights[--w->n_flights];
    for (size_t i = 0; calm && i < f.batch.n; i++)
        end(w, f.batch.docs[i], OUTCOME_DELIVERED);
    if (!calm && what < 45)
        answer_items(w, &f);
    else if (what >= 45 && what < 75)
        fail_all(w, &f, what >= 65);
    else if (what >= 75 && what < 87 && f.batch.n > 1)
        split_in_two(w, &f);
    else if (!calm)
        refuse(w, &f);
    if (what < 45 || what >= 75) {
        gate_good(index_queue_gate(f.index_queue), f.sent_ms);
        (void)fuse_good(&index_queue_gate(f.index_queue)->fuse, f.sent_ms);
    }

    struct bisect *bisect = f.batch.bisect;

    index_queue_end_batch(f.index_queue, &f.batch);
    if (bisect != NULL && bisect_close(bisect))
        end_bisect(w, bisect);
}

/* ---- reads ---- */

static inline void read_one(struct world *w, struct document *doc, bool calm)
{
    const size_t what = calm ? 0 : below(w, 10);

    if (what < 6)
        document_loaded(doc, doc->now->version, chance(w, 70) ? STR("{}") : (struct str){0},
                        &w->ends);
    else if (what < 7)
        document_is_elsewhere(doc, &w->ends);
    else
        document_not_loaded(doc, &w->ends);
    /* Only when the stream has come further. */
    if (what == 9 && doc->state == DOCUMENT_LOAD_WAIT)
        write_stand_aside(doc->now, &w->ends);
    if (doc->state == DOCUMENT_LOAD_WAIT && chance(w, 30))
        index_queue_park(doc->index_queue,
                         index_queue_open_parking(doc->index_queue, w->now_ms + 5), doc);
    else
        index_queue_place(doc->index_queue, doc, w->now_ms);
}

static inline void read_some(struct world *w, struct index_queue *o, bool calm)
{
    struct document *docs[4];
    const size_t n =
        index_queue_reads_at(o) > w->now_ms ? 0 : index_queue_next_load(o, 4, docs);

    game_say("%zu of %.*s are read", n, STR_ARG(index_queue_index(o)));
    for (size_t i = 0; i < n; i++)
        read_one(w, docs[i], calm);
    index_queue_end_load(o, n);
}

#endif
