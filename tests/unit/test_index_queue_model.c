/*
 * The index queue of an index beside a model (tests/unit/game.h, index_queue_model.h).
 *
 * Writes arrive, batches go, are answered in every way there is, in any order, split, searched
 * for what is malformed, parked, purged, forgotten; the index fails, is held, heals; settings
 * change.  After each step the index queue says of itself what the model counts, and what goes,
 * and when, is what the model says.  Each document is in one place, what is sent of it never
 * gets older, and a write without an answer is repeated as it was.  In the end everything has
 * gone, each write once.
 */
#include "config.h"

#include "tests/unit/index_queue_answers.h"

#define STEPS 400

static void check_sent(struct world *w, const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const unsigned id = id_of(b->docs[i]);
        const uint64_t version = b->docs[i]->now->version;

        must(b->docs[i]->state == DOCUMENT_IN_FLIGHT);
        must(version >= w->delivered[id]);
        must(w->lost[id] == 0 || w->lost[id] == version);
    }
}

/* ---- what happens ---- */

static void arrive(struct world *w)
{
    static const enum doc_op ops[] = {DOC_INDEX, DOC_INDEX, DOC_DELETE, DOC_REFRESH};
    static char large[400];
    const enum doc_op op = ops[below(w, ARRAY_LEN(ops))];
    struct document *doc;
    struct write *x;
    char id[8];
    bool to_place;

    memset(large, 'x', sizeof(large) - 1);
    snprintf(id, sizeof(id), "%zu", below(w, IDS));
    x = a_write(w->targets[below(w, TARGETS)], op, id, ++w->version,
                op != DOC_INDEX ? ""
                : chance(w, 30) ? large
                                : "{}");
    x->strict = op == DOC_INDEX && chance(w, 20);
    x->gathered = chance(w, op == DOC_REFRESH || x->strict ? 50 : 5);
    game_say("%s of %s", op == DOC_REFRESH ? "refresh" : "write", id);
    w->n_in++;
    doc = document_table_arrive(w->table, w->index_queue, counted(x, &w->tickets), &w->ends,
                                &to_place);
    if (to_place)
        place(w, doc, false);
    else
        resize(w, doc);
}

/* What no engine takes never goes. */
static void put_aside(struct world *w, struct batch *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        if (b->bisect == NULL && w->lost[id_of(b->docs[i])] == 0 && chance(w, 5))
            end(w, b->docs[i], OUTCOME_DEAD);
        else
            b->docs[n++] = b->docs[i];
    index_queue_shrink_batch(w->index_queue, b, n);
}

static void send(struct world *w, bool draining, bool calm)
{
    const bool goes = should_go(w, w->now_ms, draining);
    const bool part = goes && part_should_go(w, w->now_ms, draining);
    struct batch *b = &w->batches[w->n_batches];
    struct queue expected = {0};
    size_t bytes = 0, n_jobs = 0, job_bytes = 0;

    must(index_queue_next_batch(w->index_queue, w->now_ms, draining, b) == goes);
    if (!goes)
        return;
    if (part) {
        take_part(w, &expected);
    } else {
        w->lost_went = false;
        take_lanes(w, b->serial, &expected);
    }
    game_say("a batch of %zu", b->n);
    must(b->n == expected.n && ++w->n_batches < MANY);
    for (size_t i = 0; i < b->n; i++) {
        must(b->docs[i] == expected.docs[i]);
        bytes += bulk_size(b->docs[i]->now);
        n_jobs += is_for_job(b->docs[i]);
        job_bytes += is_for_job(b->docs[i]) ? bulk_size(b->docs[i]->now) : 0;
    }
    must(b->bytes == bytes && b->n_jobs == n_jobs && b->job_bytes == job_bytes);
    must(b->has_stream == (n_jobs < b->n));
    if (n_jobs > 0)
        guests_begin(&w->guests);
    must(b->n_lost == (w->lost_went ? b->n : 0));
    must(b->probe == (index_queue_held(w->index_queue) != HOLD_NONE));
    check_sent(w, b);
    fuse_begin(&index_queue_gate(w->index_queue)->fuse, w->now_ms);
    if (!calm)
        put_aside(w, b);
}

/* ---- reads ---- */

static void read_some(struct world *w)
{
    const struct document *first = first_of(w, &w->loads);
    const size_t max = 1 + below(w, 4);
    struct document *docs[4];
    size_t n;

    if (index_queue_reads_at(w->index_queue) > w->now_ms)
        return;
    must((first == NULL) == (index_queue_load_target(w->index_queue) == NULL));
    must(first == NULL || index_queue_load_target(w->index_queue) == first->now->target);
    n = index_queue_next_load(w->index_queue, max, docs);
    game_say("%zu are read", n);
    check_load(w, max, docs, n);
    for (size_t i = 0; i < n; i++)
        put(&w->loading, docs[i], false);
}

static void loaded(struct world *w, bool calm)
{
    const bool fails = !calm && chance(w, 20), found = chance(w, 70);
    struct document *doc;

    if (w->loading.n == 0)
        return;
    doc = pull(&w->loading, below(w, w->loading.n));
    game_say("%u is %s", id_of(doc), fails ? "not read" : "read");
    index_queue_end_load(w->index_queue, 1);
    if (doc->forgotten) {
        end(w, doc, OUTCOME_DEFERRED);
        return;
    }
    if (fails)
        document_not_loaded(doc, &w->ends);
    else
        document_loaded(doc, w->version, found ? STR("{}") : (struct str){0}, &w->ends);
    if (!fails || chance(w, 50)) {
        place(w, doc, false);
        return;
    }

    struct parked *p = a_parking(w);

    index_queue_park(w->index_queue, p->parking, doc);
    put(&p->docs, doc, false);
}

/* ---- what is taken out ---- */

static void purge_lost(struct world *w)
{
    const unsigned worker =
        chance(w, 50) ? INDEX_QUEUE_ANY : (unsigned)below(w, w->opt.workers);
    const size_t n = index_queue_purgeable(w->index_queue, SHARE_LOST, worker),
                 n_lost = count_lost(w);
    struct document *doc = index_queue_take_oldest(w->index_queue, SHARE_LOST, worker);

    must((doc == NULL) == (n == 0));
    if (doc == NULL)
        return;
    game_say("%u, which was lost, is purged", id_of(doc));
    must(worker == INDEX_QUEUE_ANY || worker == doc->hash % w->opt.workers);
    leave(w, doc);
    must(count_lost(w) == n_lost - 1);
    document_purge(doc);
    end(w, doc, OUTCOME_PURGED);
}

static void purge(struct world *w)
{
    const unsigned worker =
        chance(w, 50) ? INDEX_QUEUE_ANY : (unsigned)below(w, w->opt.workers);
    const size_t n = index_queue_purgeable(w->index_queue, SHARE_ALL, worker);
    struct document *doc = index_queue_take_oldest(w->index_queue, SHARE_ALL, worker);
    size_t lane;

    must((doc == NULL) == (n == 0));
    if (doc == NULL)
        return;
    lane = doc->hash % w->opt.workers;
    game_say("%u is purged", id_of(doc));
    must(worker == INDEX_QUEUE_ANY || worker == lane);
    must(document_may_be_purged(doc));

    const struct document *expected = oldest_of(w, lane);

    must(expected == NULL || expected == doc);
    leave(w, doc);
    document_purge(doc);
    end(w, doc, OUTCOME_PURGED);
}

static void forget(struct world *w, struct document *doc)
{
    game_say("%u is forgotten", id_of(doc));

    const unsigned id = id_of(doc);

    index_queue_remove(w->index_queue, doc);
    leave(w, doc);
    if (document_forget(doc, OUTCOME_DEFERRED, &w->ends))
        return;
    w->lost[id] = 0;
    document_table_remove(w->table, doc);
}

static void forget_one(struct world *w)
{
    struct document_cursor at = {0};
    struct document *doc;

    while ((doc = document_table_next(w->table, &at)) != NULL && id_of(doc) % 5 != 0)
        ;
    if (doc != NULL)
        forget(w, doc);
}

static void forget_all(struct world *w)
{
    struct document_cursor at = {0};
    struct document *doc;

    while ((doc = document_table_next(w->table, &at)) != NULL)
        if (doc->state != DOCUMENT_IN_FLIGHT && doc->state != DOCUMENT_LOADING)
            forget(w, doc);
}

/* ---- what else changes ---- */

static void withhold(struct world *w)
{
    const size_t what = below(w, 4);

    w->withheld = what == 0   ? INDEX_QUEUE_ALL
                  : what == 1 ? (unsigned)below(w, w->opt.workers)
                              : INDEX_QUEUE_NONE;
    game_say("withheld: %u", w->withheld);
    index_queue_withhold(w->index_queue, w->withheld);
}

static struct index_queue_options some_options(struct world *w)
{
    return (struct index_queue_options){.workers = 1 + (unsigned)below(w, WORKERS_MAX),
                                        .width_max = 1 + (unsigned)below(w, 4),
                                        .batch_min = 1 + (unsigned)below(w, 6),
                                        .batch_max =
                                            chance(w, 50) ? 0 : 6 + (unsigned)below(w, 10),
                                        .batch_bytes = 200 + below(w, 5000),
                                        .flush_ms = 1 + (int64_t)below(w, 200),
                                        .job_share = (unsigned)below(w, 91),
                                        .fuse = {.failures = 1 + (unsigned)below(w, 4),
                                                 .window_ms = 1 + (int64_t)below(w, 100),
                                                 .reset_ms = 1 + (int64_t)below(w, 300)}};
}

static void set(struct world *w)
{
    const struct index_queue_options opt = some_options(w);

    game_say("other settings, %u workers", opt.workers);
    index_queue_set_options(w->index_queue, &opt);
    if (opt.workers != w->opt.workers)
        move_to_lanes(w, opt.workers);
    w->opt = opt;
}

static void be_other_guests(struct world *w)
{
    const struct guests_options opt = {chance(w, 70), 1 + (unsigned)below(w, 4),
                                       100 + below(w, 2000)};

    game_say("guests: %s, %u requests", opt.polite ? "polite" : "greedy", opt.requests_max);
    guests_set(&w->guests, &opt);
    guests_turn(&w->guests, w->now_ms);
}

static void hold(struct world *w)
{
    struct gate *gate = index_queue_gate(w->index_queue);
    struct err why;

    game_say("held, or no more");
    if (gate->hold != HOLD_NONE) {
        (void)gate_release(gate);
        return;
    }
    err_set(&why, ERR_RETRY, "closed");
    (void)fuse_close(&gate->fuse, w->now_ms);
    (void)gate_hold(gate, chance(w, 50) ? HOLD_BLOCK : HOLD_GUARD, &why, w->now_ms);
}

/* ---- what must hold ---- */

static void check_counts(const struct world *w)
{
    const struct index_queue_level level = index_queue_level(w->index_queue);
    size_t ready = count_ready(w), parked = 0, in_flight = 0, all_may_go = 0;
    size_t all_lost_may_go = 0;

    for (size_t i = 0; i < w->opt.workers; i++) {
        all_may_go += purgeable(w, i);
        must(index_queue_purgeable(w->index_queue, SHARE_ALL, (unsigned)i) == purgeable(w, i));
        all_lost_may_go += lost_purgeable(w, i);
        must(index_queue_purgeable(w->index_queue, SHARE_LOST, (unsigned)i) ==
             lost_purgeable(w, i));
    }
    for (size_t i = 0; i < w->n_parked; i++)
        parked += w->parked[i].docs.n;
    for (size_t i = 0; i < w->n_batches; i++)
        in_flight += w->batches[i].n;
    must(index_queue_purgeable(w->index_queue, SHARE_ALL, INDEX_QUEUE_ANY) == all_may_go);
    must(index_queue_purgeable(w->index_queue, SHARE_LOST, INDEX_QUEUE_ANY) == all_lost_may_go);
    must(level.lost == count_lost(w));
    must(level.ready == ready);
    must(level.load_wait == count(&w->loads));
    must(level.loading == w->loading.n);
    must(level.parked == parked);
    must(level.in_flight == in_flight);
    must(level.requests == w->n_batches);
    must(document_table_count(w->table) ==
         ready + count(&w->loads) + w->loading.n + parked + in_flight + w->n_kept);
}

static bool is_due(const struct world *w, int64_t at_ms)
{
    for (size_t i = 0; i < w->n_parked; i++)
        if (w->parked[i].due_ms <= at_ms)
            return true;
    return false;
}

/* It says how long it takes until something can be done, not more and not less. */
static void check_wait(const struct world *w)
{
    const int64_t wait_ms = index_queue_wait_ms(w->index_queue, w->now_ms, true, 1000);
    const int64_t at_ms = w->now_ms + wait_ms;

    must(wait_ms >= 0 && wait_ms <= 1000);
    must(wait_ms == 1000 || should_go(w, at_ms, false) || is_due(w, at_ms));
    must(wait_ms == 0 || !(should_go(w, at_ms - 1, false) || is_due(w, at_ms - 1)));
}

static void check_reads(const struct world *w)
{
    const int64_t at_ms = index_queue_reads_at(w->index_queue);

    if (count(&w->loads) == 0 || w->withheld == INDEX_QUEUE_ALL)
        must(at_ms == GATE_NEVER_MS);
    else if (!is_blown(w))
        must(at_ms == 0);
    else if (!has_only_lost(w) || w->loading.n > 0)
        must(at_ms == GATE_NEVER_MS);
    else
        must(at_ms == gate_opens_at(index_queue_gate(w->index_queue), (unsigned)w->n_batches));
}

static uint64_t n_done(const struct world *w)
{
    uint64_t n = 0;

    for (size_t i = 0; i < N_OUTCOMES; i++)
        n += w->tickets.done[i];
    return n;
}

static void check(const struct world *w)
{
    struct document_cursor at = {0};
    size_t n_writes = 0;

    for (const struct document *doc; (doc = document_table_next(w->table, &at)) != NULL;)
        n_writes += 1 + (doc->later != NULL);
    must(w->n_in == w->n_gone + n_writes);
    must(w->tickets.read == w->n_in);
    must(n_done(w) <= w->n_in);
    check_counts(w);
    check_wait(w);
    check_reads(w);
}

/* ---- games ---- */

static void step(struct world *w)
{
    static const int64_t times_ms[] = {0, 0, 0, 1, 5, 20, 50, 1000};
    const size_t what = below(w, 1000);

    w->now_ms += times_ms[below(w, ARRAY_LEN(times_ms))];
    turn(w);
    if (what < 400)
        arrive(w);
    else if (what < 600)
        send(w, chance(w, 10), false);
    else if (what < 770)
        answer(w, false);
    else if (what < 850)
        read_some(w);
    else if (what < 920)
        loaded(w, false);
    else if (what < 940)
        purge(w);
    else if (what < 950)
        purge_lost(w);
    else if (what < 960)
        forget_one(w);
    else if (what < 975)
        withhold(w);
    else if (what < 984)
        set(w);
    else if (what < 990)
        be_other_guests(w);
    else
        hold(w);
    check(w);
}

/* Everything has gone within a bounded time, once all goes well. */
static void calm_down(struct world *w)
{
    index_queue_withhold(w->index_queue, w->withheld = INDEX_QUEUE_NONE);
    (void)gate_release(index_queue_gate(w->index_queue));
    for (unsigned n = 0; document_table_count(w->table) + w->n_batches > 0; n++) {
        must(n < 1000);
        w->now_ms += 1000;
        turn(w);
        send(w, true, true);
        answer(w, true);
        read_some(w);
        loaded(w, true);
        check(w);
    }
    must(w->n_gone == w->n_in);
    must(n_done(w) == w->n_in);
}

/* Its index is gone: nothing goes, nothing is waited for, and all is forgotten. */
static void give_up_index(struct world *w)
{
    unsigned n = 0;

    game_say("the index is gone");
    index_queue_withhold(w->index_queue, w->withheld = INDEX_QUEUE_NONE);
    index_queue_drop(w->index_queue);
    gate_drop(index_queue_gate(w->index_queue), w->now_ms);
    while (document_table_count(w->table) + w->n_batches + w->n_parts > 0) {
        must(++n < 1000);
        w->now_ms += 1000;
        forget_all(w);
        check(w);
        answer(w, n > 10);
        loaded(w, true);
        turn(w);
        send(w, true, true);
    }
    w->now_ms += 1000;
    turn(w);
    must(index_queue_wait_ms(w->index_queue, w->now_ms, true, 1000) == 1000);
    must(n_done(w) == w->n_in);
}

static void on_gone(void *ctx, unsigned worker)
{
    (void)worker;
    ((struct world *)ctx)->n_gone++;
}

static void play(struct game *g)
{
    struct world w = {
        .now_ms = 1000000, .table = document_table_new(), .withheld = INDEX_QUEUE_NONE};

    random_init(&w.random, g->seed);
    w.opt = some_options(&w);
    w.index_queue = index_queue_new(STR("orders_v2"), &w.opt, g->seed);
    guests_init(&w.guests, &(struct guests_options){true, 1 + (unsigned)below(&w, 4), 1000});
    index_queue_set_guests(w.index_queue, &w.guests);
    w.ends = (struct write_ends){.on_gone = on_gone, .ctx = &w};
    for (size_t i = 0; i < TARGETS; i++)
        w.targets[i] = a_target("orders_v2");
    while (game_next(g, &w.random))
        step(&w);
    random_init(&w.random, g->seed);
    if (chance(&w, 20))
        give_up_index(&w);
    calm_down(&w);
    document_table_free(w.table, &w.ends);
    index_queue_free(w.index_queue);
    for (size_t i = 0; i < TARGETS; i++)
        target_unref(w.targets[i]);
}

static void whatever_happens_what_goes_is_what_the_model_says(void **state)
{
    (void)state;
    games_play(play, STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_what_goes_is_what_the_model_says),
    };

    return cmocka_run_group_tests_name("index_queue_model", tests, NULL, NULL);
}
