/*
 * Random games of three indexes, a mark and what makes room (tests/unit/game.h).
 *
 * Writes arrive, are read, sent and answered in every way, alone, in halves, or in search of
 * what is malformed; indexes are held, fail and heal; drains keep apart what arrives; settings
 * change. Whatever happens, every write is counted once, for the worker that it is of; what may
 * be purged is known exactly; nothing stays above the mark that could go, and no more goes;
 * every ticket ends, as purged only when its key was stored.
 */
#include "config.h"

#include "tests/unit/load_shedding_model.h"

#include "src/base/log.h"

#define STEPS 600

/* ---- drains, settings, holds ---- */

static struct drain_left left_of(struct world *w)
{
    const unsigned partition = w->drain.partition;
    struct document_cursor at = {0};
    struct drain_left left = {0};
    const struct document *doc;

    while ((doc = document_table_next(w->table, &at)) != NULL) {
        if (partition != DRAIN_ALL && doc->hash % w->opt.settings.workers != partition)
            continue;
        left.n++;
        left.n_in_flight += doc->state == DOCUMENT_IN_FLIGHT;
        left.n_blown +=
            doc->state != DOCUMENT_REFUSED && gate_is_blown(index_queue_gate(doc->index_queue));
    }
    return left;
}

static void follow(struct world *w)
{
    struct write *x = w->apart;

    w->apart = NULL;
    w->last_apart = &w->apart;
    for (struct write *next; x != NULL; x = next) {
        next = x->next;
        x->next = NULL;
        accept(w, x);
    }
}

static void turn_drain(struct world *w)
{
    const unsigned lane =
        w->drain.partition == DRAIN_ALL ? INDEX_QUEUE_ALL : w->drain.partition;
    const struct drain_left left = left_of(w);

    if (!drain_is_on(&w->drain))
        return;

    const enum drain_end how = drain_look(&w->drain, &left, w->now_ms);

    for (size_t i = 0; i < INDEXES; i++)
        index_queue_withhold(w->index_queues[i], w->drain.state == DRAIN_STATE_CANCELLING
                                                     ? lane
                                                     : INDEX_QUEUE_NONE);
    if (how == DRAIN_GOING)
        return;
    game_say("the drain is %s", drain_end_word(how));
    follow(w);
}

static void begin_drain(struct world *w)
{
    const unsigned partition =
        chance(w, 50) ? DRAIN_ALL : (unsigned)below(w, w->opt.settings.workers);

    if (drain_begin(&w->drain, partition, w->now_ms, (int64_t)below(w, 100), 10))
        game_say("a drain of %u begins", partition);
}

static void move_all(struct world *w)
{
    struct document_cursor at = {0};
    struct document *doc;

    while ((doc = document_table_next(w->table, &at)) != NULL) {
        if (doc->state != DOCUMENT_REFUSED)
            worker_backlog_move(w->mark, doc->now);
        if (doc->later != NULL)
            worker_backlog_move(w->mark, doc->later);
    }
    for (struct write *x = w->apart; x != NULL; x = x->next)
        worker_backlog_move(w->mark, x);
}

static void change_workers(struct world *w)
{
    w->opt.settings.workers = 1 + (unsigned)below(w, WORKERS_MAX);
    game_say("%u workers", w->opt.settings.workers);

    const struct index_queue_options opt = index_queue_options_of(w);

    for (size_t i = 0; i < INDEXES; i++)
        index_queue_set_options(w->index_queues[i], &opt);
    worker_backlog_set(w->mark, w->opt.settings.workers, w->opt.settings.high_water_mark);
    move_all(w);
    w->drain.partition = DRAIN_ALL;
}

static void turn_hold(struct world *w, struct index_queue *o)
{
    struct gate *gate = index_queue_gate(o);
    struct err why;

    game_say("%.*s is held, or no more", STR_ARG(index_queue_index(o)));
    if (gate->hold != HOLD_NONE) {
        (void)gate_release(gate);
        return;
    }
    err_set(&why, ERR_RETRY, "closed");
    (void)fuse_close(&gate->fuse, w->now_ms);
    (void)gate_hold(gate, HOLD_BLOCK, &why, w->now_ms);
}

static void turn_pause(struct index_queue *o)
{
    struct gate *gate = index_queue_gate(o);
    struct err why;

    err_set(&why, ERR_STOP, "the cluster is upgraded");
    game_say("%.*s is paused, or no more", STR_ARG(index_queue_index(o)));
    if (gate->is_paused)
        gate_unpause(gate);
    else
        gate_pause(gate, &why);
}

/* ---- what must hold ---- */

static bool any_is_paused(const struct world *w)
{
    for (size_t i = 0; i < INDEXES; i++)
        if (index_queue_gate(w->index_queues[i])->is_paused)
            return true;
    return false;
}

/* By worker: what is on its way to the store, and what is above the mark without it. */
struct room {
    size_t going[WORKERS_MAX], over[WORKERS_MAX];
};

static struct room look(const struct world *w)
{
    struct document_cursor at = {0};
    const struct document *doc;
    struct room room = {0};

    while ((doc = document_table_next(w->table, &at)) != NULL)
        if (doc->state == DOCUMENT_REFUSED && !doc->now->aside)
            room.going[doc->now->worker]++;
    for (unsigned i = 0; i < w->opt.settings.workers; i++) {
        const size_t n = worker_backlog_count(w->mark, i) - room.going[i];

        room.over[i] =
            n > w->opt.settings.high_water_mark ? n - w->opt.settings.high_water_mark : 0;
    }
    return room;
}

static void make_room(struct world *w, size_t bytes_over)
{
    const struct index_queues index_queues = all(w);
    const struct room before = look(w);
    struct document *doc;

    load_shedding_turn(w->shedding, &index_queues,
                       &(struct load_shedding_need){.bytes_over = bytes_over}, w->now_ms);

    const struct room now = look(w);

    for (size_t i = 0; i < INDEXES; i++)
        must(!index_queue_gate(w->index_queues[i])->is_paused ||
             index_queue_purgeable(w->index_queues[i], SHARE_ALL, INDEX_QUEUE_ANY) == 0);
    for (unsigned i = 0; i < w->opt.settings.workers && bytes_over == 0 && !any_is_paused(w);
         i++)
        must(w->opt.settings.purge != PURGE_ONE ||
             now.going[i] <= before.going[i] + before.over[i]);
    while ((doc = load_shedding_next(w->shedding)) != NULL) {
        w->n_purged++;
        end(w, doc, OUTCOME_PURGED);
    }
}

static void check_counts(struct world *w)
{
    size_t counts[WORKERS_MAX] = {0}, may_go[INDEXES] = {0};
    struct document_cursor at = {0};
    const struct document *doc;

    while ((doc = document_table_next(w->table, &at)) != NULL) {
        counts[doc->now->worker] += !doc->now->aside;
        if (doc->later != NULL)
            counts[doc->later->worker] += !doc->later->aside;
        for (size_t i = 0; i < INDEXES; i++)
            may_go[i] += doc->index_queue == w->index_queues[i] && !doc->is_part &&
                         document_may_be_purged(doc);
    }
    for (const struct write *x = w->apart; x != NULL; x = x->next)
        counts[x->worker]++;
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        must(worker_backlog_count(w->mark, i) == counts[i]);
    for (size_t i = 0; i < INDEXES; i++) {
        size_t sum = 0;

        for (unsigned k = 0; k < w->opt.settings.workers; k++)
            sum += index_queue_purgeable(w->index_queues[i], SHARE_ALL, k);
        must(sum == may_go[i]);
        must(index_queue_purgeable(w->index_queues[i], SHARE_ALL, INDEX_QUEUE_ANY) ==
             may_go[i]);
    }
    must(w->n_stored >= w->n_purged);
}

/* What is to be tried now keeps what it is tried with. */
static bool takes_nothing(const struct world *w, struct index_queue *o)
{
    const struct gate *gate = index_queue_gate(o);

    return gate_is_blown(gate) &&
           gate_opens_at(gate, index_queue_level(o).requests) > w->now_ms;
}

/* What could go has gone, where a worker was handed too much. */
static void check_mark(struct world *w)
{
    if (w->opt.settings.purge == PURGE_OFF || w->store_is_away)
        return;
    /* What waited behind a purged change comes up, and what stands aside makes no room. */
    for (size_t n = SIZE_MAX; n != w->n_purged;) {
        n = w->n_purged;
        make_room(w, 0);
    }
    if (load_shedding_bytes(w->shedding) >
        0) /* what is on its way to the store counts as gone */
        return;

    const struct room room = look(w);

    for (unsigned worker = 0; worker < w->opt.settings.workers; worker++)
        for (size_t i = 0; room.over[worker] > 0 && i < INDEXES; i++)
            must(!takes_nothing(w, w->index_queues[i]) ||
                 index_queue_purgeable(w->index_queues[i], SHARE_ALL, worker) == 0);
}

/* ---- games ---- */

static void turn_store(struct world *w)
{
    w->store_is_away = !w->store_is_away;
    game_say("the store is %s", w->store_is_away ? "away" : "there");
}

static void step(struct world *w)
{
    const size_t what = below(w, 1000);
    struct index_queue *o = w->index_queues[below(w, INDEXES)];

    w->now_ms++;
    index_queue_turn(o, w->now_ms);
    if (what < 500)
        submit(w);
    else if (what < 640)
        send(w, o);
    else if (what < 770)
        answer(w, false);
    else if (what < 840)
        read_some(w, o, false);
    else if (what < 930)
        make_room(w, chance(w, 10) ? below(w, 2000) : 0);
    else if (what < 945)
        turn_hold(w, o);
    else if (what < 950)
        turn_pause(o);
    else if (what < 965)
        change_workers(w);
    else if (what < 975)
        begin_drain(w);
    else if (what < 990)
        turn_store(w);
    else
        w->opt.settings.purge = (enum purge_strategy)below(w, N_PURGE_STRATEGIES);
    turn_drain(w);
    check_counts(w);
    if (chance(w, 5))
        check_mark(w);
}

static void calm_down(struct world *w)
{
    w->store_is_away = false;
    for (size_t i = 0; i < INDEXES; i++)
        gate_drop(index_queue_gate(w->index_queues[i]), w->now_ms);
    for (unsigned n = 0; document_table_count(w->table) + w->n_flights > 0 || w->apart != NULL;
         n++) {
        must(n < 10000);
        w->now_ms += 20000;
        make_room(w, 0);
        turn_drain(w);
        for (size_t i = 0; i < INDEXES; i++) {
            index_queue_turn(w->index_queues[i], w->now_ms);
            send(w, w->index_queues[i]);
            answer(w, true);
            read_some(w, w->index_queues[i], true);
        }
    }
}

static void check_end(struct world *w)
{
    uint64_t n_done = 0;

    for (unsigned i = 0; i < N_OUTCOMES; i++)
        n_done += w->tickets.done[i];
    must(n_done == w->tickets.read);
    must(w->n_purged == w->n_stored);
    must(w->apart == NULL);
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        must(worker_backlog_count(w->mark, i) == 0);
    must(load_shedding_bytes(w->shedding) == 0);
}

static void play(struct game *g)
{
    struct world w = {.table = document_table_new(), .now_ms = 1000};
    static const char *const names[INDEXES] = {"a_v1", "b_v1", "c_v1"};

    random_init(&w.random, g->seed);
    w.last_apart = &w.apart;
    w.opt =
        (struct delivery_options){.settings = {.workers = 1 + (unsigned)below(&w, WORKERS_MAX),
                                               .high_water_mark = 1 + below(&w, 12)},
                                  .ctx = &w,
                                  .purged = on_purged};
    w.ends = (struct write_ends){.on_gone = on_gone, .ctx = &w};
    w.mark = worker_backlog_new(w.opt.settings.workers, w.opt.settings.high_water_mark);
    w.shedding = load_shedding_new(&w.opt, w.mark, g->seed);
    for (size_t i = 0; i < INDEXES; i++) {
        const struct index_queue_options opt = index_queue_options_of(&w);

        w.index_queues[i] = index_queue_new(str_from(names[i]), &opt, g->seed);
        w.targets[i] = a_target(names[i]);
    }
    while (game_next(g, &w.random))
        step(&w);
    random_init(&w.random, g->seed);
    calm_down(&w);
    check_end(&w);
    document_table_free(w.table, &w.ends);
    for (size_t i = 0; i < INDEXES; i++) {
        index_queue_free(w.index_queues[i]);
        target_unref(w.targets[i]);
    }
    load_shedding_free(w.shedding);
    worker_backlog_free(w.mark);
}

static void whatever_happens_writes_are_counted_once_and_end(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    games_play(play, STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_writes_are_counted_once_and_end),
    };

    return cmocka_run_group_tests_name("load_shedding_model", tests, NULL, NULL);
}
