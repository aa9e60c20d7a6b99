/*
 * Random games of three indexes, a mark and what makes room: whatever happens, every write is
 * counted once, what may be purged is known exactly, nothing stays above the mark that could go,
 * and every ticket ends, as purged only when its key was stored.
 */
#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "src/base/random.h"
#include "sync/delivery/document_table.h"
#include "sync/delivery/mark.h"
#include "sync/delivery/outlet.h"
#include "sync/delivery/relief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEXES     3
#define IDS         40
#define WORKERS_MAX 5

struct world {
    struct delivery_options opt;
    struct outlet *outlets[INDEXES];
    struct target *targets[INDEXES];
    struct document_table *table;
    struct mark *mark;
    struct relief *relief;
    struct write_ends ends;
    struct ticket_counters tickets;
    struct random random;
    uint64_t version;
    int64_t now_ms;
    size_t n_stored, n_purged;
    bool store_is_away;
};

static bool chance(struct world *w, unsigned percent)
{
    return random_below(&w->random, 100) < percent;
}

static size_t below(struct world *w, size_t n)
{
    return random_below(&w->random, n);
}

static void on_gone(void *ctx, unsigned worker)
{
    struct world *w = ctx;

    mark_leave(w->mark, worker);
}

static bool on_purged(void *ctx, const struct purged_note *notes, size_t n, struct err *err)
{
    struct world *w = ctx;

    if (w->store_is_away)
        return err_set(err, ERR_RETRY, "the store is away");
    for (size_t i = 0; i < n; i++)
        assert_true(notes[i].key.len > 0);
    w->n_stored += n;
    return true;
}

static struct relief_outlets all(struct world *w)
{
    return (struct relief_outlets){w->outlets, INDEXES};
}

static struct outlet_options outlet_options_of(const struct world *w)
{
    return (struct outlet_options){.workers = w->opt.workers,
                                   .width_max = 4,
                                   .batch_min = 1,
                                   .batch_bytes = 1 << 20,
                                   .flush_ms = 1,
                                   .fuse = {.failures = 3, .window_ms = 1, .reset_ms = 1}};
}

/* ---- what happens ---- */

static void submit(struct world *w)
{
    static const enum doc_op ops[] = {DOC_INDEX, DOC_INDEX, DOC_DELETE, DOC_REFRESH};
    const size_t index = below(w, INDEXES);
    const enum doc_op op = ops[below(w, 4)];
    char id[16];
    struct mark_turn turn;
    struct document *doc;
    bool to_place;

    snprintf(id, sizeof(id), "%zu", below(w, IDS));

    struct write *x = counted(a_write(w->targets[index], op, id, ++w->version, "{}"), &w->tickets);

    x->strict = op == DOC_INDEX && chance(w, 30);
    mark_enter(w->mark, x, &turn);

    const struct relief_outlets outlets = all(w);

    relief_worker(w->relief, &outlets, x->worker, w->now_ms);
    doc = document_table_arrive(w->table, w->outlets[index], x, &w->ends, &to_place);
    if (to_place)
        outlet_place(w->outlets[index], doc, w->now_ms);
    else
        outlet_resize(w->outlets[index], doc);
}

static void end(struct world *w, struct document *doc, enum outcome how)
{
    if (document_end(doc, how, &w->ends))
        outlet_place(doc->outlet, doc, w->now_ms);
    else
        document_table_remove(w->table, doc);
}

static void answer(struct world *w, struct outlet *o, struct document *doc, bool calm)
{
    const size_t what = calm ? 0 : below(w, 10);

    if (what < 6) {
        end(w, doc, OUTCOME_DELIVERED);
        return;
    }
    if (what < 8)
        document_not_applied(doc, &w->ends);
    else
        document_lost_answer(doc);
    if (chance(w, 30))
        outlet_park(o, outlet_open_parking(o, w->now_ms + 5), doc);
    else
        outlet_place_first(o, doc, w->now_ms);
}

static void send(struct world *w, struct outlet *o, bool calm)
{
    struct batch b;

    if (gate_is_blown(outlet_gate(o)) || !outlet_next_batch(o, w->now_ms, true, &b))
        return;
    for (size_t i = 0; i < b.n; i++)
        answer(w, o, b.docs[i], calm);
    outlet_end_batch(o, &b);
}

static void read_some(struct world *w, struct outlet *o, bool calm)
{
    struct document *docs[4];
    const size_t n = gate_is_blown(outlet_gate(o)) ? 0 : outlet_next_load(o, 4, docs);

    for (size_t i = 0; i < n; i++) {
        const bool found = chance(w, 70);

        if (!calm && chance(w, 20))
            document_not_loaded(docs[i], &w->ends);
        else
            document_loaded(docs[i], docs[i]->now->version, found ? STR("{}") : (struct str){0},
                            &w->ends);
        outlet_place(o, docs[i], w->now_ms);
    }
}

static void change_workers(struct world *w)
{
    w->opt.workers = 1 + (unsigned)below(w, WORKERS_MAX);

    const struct outlet_options opt = outlet_options_of(w);

    for (size_t i = 0; i < INDEXES; i++)
        outlet_set_options(w->outlets[i], &opt);
    mark_set(w->mark, w->opt.workers, w->opt.high_water_mark);
}

static void make_room(struct world *w)
{
    const struct relief_outlets outlets = all(w);
    struct document *doc;

    relief_turn(w->relief, &outlets, chance(w, 10) ? below(w, 2000) : 0, w->now_ms);
    while ((doc = relief_next(w->relief)) != NULL) {
        w->n_purged++;
        end(w, doc, OUTCOME_PURGED);
    }
}

static void turn_hold(struct world *w, struct outlet *o)
{
    struct err why;

    if (gate_is_blown(outlet_gate(o))) {
        (void)gate_release(outlet_gate(o));
        return;
    }
    err_set(&why, ERR_RETRY, "closed");
    (void)gate_hold(outlet_gate(o), HOLD_BLOCK, &why, w->now_ms);
}

/* ---- what must hold ---- */

static void check_counts(struct world *w)
{
    size_t n_writes = 0, n_counted = 0, may_go[INDEXES] = {0};
    struct document_cursor at = {0};
    const struct document *doc;

    while ((doc = document_table_next(w->table, &at)) != NULL) {
        n_writes += 1 + (doc->later != NULL);
        for (size_t i = 0; i < INDEXES; i++)
            may_go[i] += doc->outlet == w->outlets[i] && document_may_be_purged(doc);
    }
    for (unsigned i = 0; i < mark_workers(w->mark); i++)
        n_counted += mark_count(w->mark, i);
    assert_int_equal(n_writes, n_counted);
    for (size_t i = 0; i < INDEXES; i++) {
        size_t sum = 0;

        for (unsigned k = 0; k < w->opt.workers; k++)
            sum += outlet_purgeable(w->outlets[i], k);
        assert_int_equal(sum, may_go[i]);
        assert_int_equal(outlet_purgeable(w->outlets[i], OUTLET_ANY), may_go[i]);
    }
    assert_true(w->n_stored >= w->n_purged);
}

/* What is to be tried now keeps what it is tried with. */
static bool takes_nothing(const struct world *w, struct outlet *o)
{
    const struct gate *gate = outlet_gate(o);

    return gate_is_blown(gate) && gate_opens_at(gate, outlet_level(o).requests) > w->now_ms;
}

/* What could go has gone, where a worker was handed too much. */
static void check_mark(struct world *w)
{
    if (w->opt.purge == PURGE_OFF || w->store_is_away)
        return;
    /* What waited behind a purged change comes up; other workers than before have its lane. */
    for (unsigned i = 0; i < 3 * IDS; i++)
        make_room(w);
    if (relief_bytes(w->relief) > 0) /* what is on its way to the store counts as gone */
        return;
    for (unsigned worker = 0; worker < w->opt.workers; worker++) {
        if (mark_count(w->mark, worker) <= w->opt.high_water_mark)
            continue;
        for (size_t i = 0; i < INDEXES; i++)
            assert_true(!takes_nothing(w, w->outlets[i]) ||
                        outlet_purgeable(w->outlets[i], worker) == 0);
    }
}

static void step(struct world *w)
{
    const size_t what = below(w, 100);
    struct outlet *o = w->outlets[below(w, INDEXES)];

    w->now_ms++;
    outlet_turn(o, w->now_ms);
    if (what < 60)
        submit(w);
    else if (what < 74)
        send(w, o, false);
    else if (what < 84)
        read_some(w, o, false);
    else if (what < 94)
        make_room(w);
    else if (what < 96)
        turn_hold(w, o);
    else if (what < 97)
        change_workers(w);
    else if (what < 98)
        w->store_is_away = !w->store_is_away;
    else
        w->opt.purge = (enum purge_strategy)below(w, N_PURGE_STRATEGIES);
    check_counts(w);
    if (chance(w, 20))
        check_mark(w);
}

static void calm_down(struct world *w)
{
    w->store_is_away = false;
    for (size_t i = 0; i < INDEXES; i++)
        (void)gate_release(outlet_gate(w->outlets[i]));
    for (unsigned n = 0; document_table_count(w->table) > 0; n++) {
        assert_true(n < 10000);
        w->now_ms += 20000;
        make_room(w);
        for (size_t i = 0; i < INDEXES; i++) {
            outlet_turn(w->outlets[i], w->now_ms);
            send(w, w->outlets[i], true);
            read_some(w, w->outlets[i], true);
        }
    }
}

static void check_end(struct world *w)
{
    uint64_t n_done = 0;

    for (unsigned i = 0; i < N_OUTCOMES; i++)
        n_done += w->tickets.done[i];
    assert_int_equal(n_done, w->tickets.read);
    assert_int_equal(w->n_purged, w->n_stored);
    assert_true(w->tickets.done[OUTCOME_PURGED] >= w->n_purged); /* one stands for several */
    for (unsigned i = 0; i < mark_workers(w->mark); i++)
        assert_int_equal(mark_count(w->mark, i), 0);
    assert_int_equal(relief_bytes(w->relief), 0);
}

static void play(uint64_t seed, unsigned steps)
{
    struct world w = {.table = document_table_new(), .now_ms = 1000};
    static const char *const names[INDEXES] = {"a_v1", "b_v1", "c_v1"};

    random_init(&w.random, seed);
    w.opt = (struct delivery_options){.workers = 1 + (unsigned)below(&w, WORKERS_MAX),
                                      .high_water_mark = 1 + below(&w, 12),
                                      .ctx = &w,
                                      .purged = on_purged};
    w.ends = (struct write_ends){.on_gone = on_gone, .ctx = &w};
    w.mark = mark_new(w.opt.workers, w.opt.high_water_mark);
    w.relief = relief_new(&w.opt, w.mark, seed);
    for (size_t i = 0; i < INDEXES; i++) {
        const struct outlet_options opt = outlet_options_of(&w);

        w.outlets[i] = outlet_new(str_from(names[i]), &opt, seed);
        w.targets[i] = a_target(names[i]);
    }
    for (unsigned i = 0; i < steps; i++)
        step(&w);
    calm_down(&w);
    check_end(&w);
    document_table_free(w.table, &w.ends);
    for (size_t i = 0; i < INDEXES; i++) {
        outlet_free(w.outlets[i]);
        target_unref(w.targets[i]);
    }
    relief_free(w.relief);
    mark_free(w.mark);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void whatever_happens_writes_are_counted_once_and_end(void **state)
{
    const uint64_t seed = number_from("MILLRACE_SEED", 20240607);
    const uint64_t steps = number_from("MILLRACE_STEPS", 1000000);
    uint64_t done = 0;

    (void)state;
    for (uint64_t s = seed; done < steps; s++) {
        const unsigned n = 5 + (unsigned)(s * s % 2000);

        print_message("MILLRACE_SEED=%llu MILLRACE_STEPS=%u\n", (unsigned long long)s, n);
        play(s, n);
        done += n;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_writes_are_counted_once_and_end),
    };
    return cmocka_run_group_tests_name("relief_model", tests, NULL, NULL);
}
