/*
 * The barrier and the placement in a simulated cluster (cluster_world.h): random schedules of
 * death, hang, cut links, lost, late and repeated answers, people's wishes and foreign hands.
 * When the faults end, everything has one owner within a minute, and stays there.
 *
 * MILLRACE_SEED begins with another seed, MILLRACE_STEPS plays longer (1,000,000; a schedule of
 * N faults counts N times WEIGHT).
 */
#include "config.h"

#include "tests/unit/cluster_world.h"

#include <time.h>

#define FAULTS_MAX 14
#define WEIGHT     20

#define SESSIONS_MORE 12 /* rebalances after the last fault, besides one for each node */

static struct world world;

/* ---- faults ---- */

static size_t any_node(struct world *w, struct random *r)
{
    return random_below(r, w->n_nodes);
}

static void do_kill(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);
    const int64_t ms = (int64_t)random_below(r, random_below(r, 2) == 0 ? 1000 : 20000);

    game_say("node %zu dies, and starts in %" PRId64 " ms", node, ms);
    kill_process(w, node);
    world_push(w, message_new(AT_START, node), w->now_ms + ms);
}

static void do_kill_all(struct world *w, struct random *r)
{
    game_say("all nodes die");
    for (size_t i = 0; i < w->n_nodes; i++) {
        kill_process(w, i);
        world_push(w, message_new(AT_START, i), w->now_ms + (int64_t)random_below(r, 3000));
    }
}

/* The first node stays, so that somebody is left. */
static void do_end(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);

    if (node == 0)
        return;
    game_say("node %zu dies for ever", node);
    kill_process(w, node);
    w->nodes[node].stays_away = true;
}

static void do_leave(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);

    game_say("node %zu ends, and its session with it", node);
    kill_process(w, node);
    end_session(w, node);
    world_push(w, message_new(AT_START, node), w->now_ms + (int64_t)random_below(r, 9000));
}

static void do_hang(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);
    const int64_t ms = (int64_t)random_below(r, random_below(r, 2) == 0 ? 3000 : 25000);

    game_say("node %zu hangs for %" PRId64 " ms", node, ms);
    hang(w, node, ms);
}

static void do_cut(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);
    const int64_t ms = (int64_t)random_below(r, random_below(r, 2) == 0 ? 3000 : 25000);

    game_say("node %zu is cut off for %" PRId64 " ms", node, ms);
    cut(w, node, ms);
}

static void do_cut_all(struct world *w, struct random *r)
{
    const int64_t ms = (int64_t)random_below(r, 20000);

    game_say("the coordination is away for %" PRId64 " ms", ms);
    for (size_t i = 0; i < w->n_nodes; i++)
        cut(w, i, ms + (int64_t)random_below(r, 500));
}

static void do_slow_stop(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);

    game_say("node %zu will be slow to stop", node);
    w->nodes[node].slow_stop_ms = 1000 + (int64_t)random_below(r, 20000);
    if (random_below(r, 4) == 0)
        w->nodes[node].slow_stop_ms *= 20;
}

static void do_store_away(struct world *w, struct random *r)
{
    game_say("the store is away");
    w->store_is_away = true;
    world_push(w, message_new(AT_STORE_UP, 0), w->now_ms + (int64_t)random_below(r, 25000));
}

static void do_things(struct world *w, struct random *r)
{
    const size_t thing = random_below(r, w->n_things);

    w->things[thing].exists = !w->things[thing].exists;
    w->revision++;
    game_say("%s %s", w->things[thing].name, w->things[thing].exists ? "comes" : "goes");
    for (size_t i = 0; i < w->n_nodes; i++)
        if (w->nodes[i].is_alive && !w->nodes[i].is_hung && random_below(r, 4) > 0)
            give_things(w, i);
}

static void do_delete_node(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);

    game_say("somebody deletes node %zu", node);
    w->nodes[node].is_excused = true;
    delete_node(w, node);
}

/*
 * Whoever takes both the lock from a leader and the number of its session away lets two lead in
 * one session.  What they do then is the store's to refuse, as the terms still rise there.
 */
static void excuse_all(struct world *w)
{
    for (size_t i = 0; w->is_state_deleted && w->is_lock_stolen && i < w->n_nodes; i++)
        w->nodes[i].is_excused = true;
}

/* Whoever deletes the state deletes what people asked for, too. */
static void do_delete_state(struct world *w, struct random *r)
{
    (void)r;
    game_say("somebody deletes the state");
    w->has_state = false;
    w->is_state_deleted = true;
    excuse_all(w);
    buf_clear(&w->state_text);
    state_changed(w);
}

static void do_damage(struct world *w, struct random *r)
{
    const size_t node = any_node(w, r);
    struct process *p = &w->nodes[node];

    if (!p->has_node)
        return;
    game_say("somebody damages the data of node %zu", node);
    w->nodes[node].is_excused = true;
    (void)write_node(w, node, STR("{\"id\":"), p->node_version);
}

static void do_steal_lock(struct world *w, struct random *r)
{
    (void)r;
    if (w->n_queue == 0)
        return;
    game_say("somebody deletes the lock of node %zu", w->queue[0]);
    w->is_lock_stolen = true;
    excuse_all(w);
    tell(w, w->queue[0], &(struct barrier_event){.kind = BARRIER_LOCK_LOST});
    leave_queue(w, w->queue[0]);
}

static void do_ask(struct world *w, struct random *r)
{
    static const char *const words[] = {"rebalance", "evacuate", "admit", "move"};
    const size_t node = any_node(w, r), of = any_node(w, r);
    struct barrier_event e = {.kind = BARRIER_ASKED,
                              .ask = (enum barrier_ask)random_below(r, ARRAY_LEN(words)),
                              .node = world_id(&w->nodes[of])};

    e.thing = str_from(w->things[random_below(r, w->n_things)].name);
    if (e.ask == BARRIER_ASK_MOVE && random_below(r, 2) == 0)
        e.node = STR("");
    if (!w->nodes[node].is_alive || w->nodes[node].is_hung)
        return;
    game_say("somebody asks node %zu: %s, node %zu, %s", node, words[e.ask], of, e.thing.ptr);
    give(w, node, &e);
}

static const struct {
    void (*act)(struct world *w, struct random *r);
    unsigned weight;
} faults[] = {
    {do_kill, 8},       {do_kill_all, 1}, {do_end, 2},         {do_leave, 4},
    {do_hang, 6},       {do_cut, 8},      {do_cut_all, 1},     {do_slow_stop, 3},
    {do_store_away, 1}, {do_things, 3},   {do_delete_node, 1}, {do_delete_state, 1},
    {do_damage, 1},     {do_ask, 5},      {do_steal_lock, 1},
};

static void do_fault(struct world *w, struct random *r)
{
    unsigned all = 0, at;

    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        all += faults[i].weight;
    at = (unsigned)random_below(r, all);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        if (at < faults[i].weight) {
            faults[i].act(w, r);
            return;
        }
        at -= faults[i].weight;
    }
}

/* ---- the judge, when the faults have ended ---- */

static bool is_admitted(const struct cluster_state *s, const struct process *p)
{
    return p->is_alive && !name_set_has(&s->evacuated, world_id(p));
}

static size_t group_max(const struct world *w)
{
    size_t most = 1;

    for (size_t i = 0; i < w->n_things; i++) {
        size_t n = 0;

        for (size_t k = 0; k < w->n_things; k++)
            n += w->things[k].exists && w->things[i].group[0] != '\0' &&
                 strcmp(w->things[i].group, w->things[k].group) == 0;
        most = n > most ? n : most;
    }
    return most;
}

static void judge_evenness(const struct world *w, const struct cluster_state *s,
                           const size_t *n_owned)
{
    size_t least = SIZE_MAX, most = 0;

    for (size_t i = 0; i < w->n_nodes; i++) {
        if (!is_admitted(s, &w->nodes[i])) {
            must(n_owned[i] == 0);
            continue;
        }
        least = n_owned[i] < least ? n_owned[i] : least;
        most = n_owned[i] > most ? n_owned[i] : most;
    }
    if (s->moves.n == 0 && most > 0)
        must(most - least <= group_max(w));
}

static void judge_owners(struct world *w, const struct cluster_state *s)
{
    size_t n_owned[WORLD_NODES_MAX] = {0}, n_admitted = 0;

    for (size_t i = 0; i < w->n_nodes; i++)
        n_admitted += is_admitted(s, &w->nodes[i]);
    for (size_t t = 0; t < w->n_things; t++) {
        const size_t owner = world_owner(w, t);

        if (!w->things[t].exists || n_admitted == 0) {
            for (size_t i = 0; i < w->n_nodes; i++)
                must(w->nodes[i].works[t].state == WORK_NONE);
            continue;
        }
        if (owner == SIZE_MAX)
            game_say("%s has no owner, or two", w->things[t].name);
        must(owner != SIZE_MAX);
        n_owned[owner]++;
        for (size_t k = 0; k < t; k++)
            if (w->things[k].exists && w->things[t].group[0] != '\0' &&
                strcmp(w->things[t].group, w->things[k].group) == 0)
                must(world_owner(w, k) == owner);
    }
    judge_evenness(w, s, n_owned);
}

static void judge(struct world *w)
{
    const uint64_t session = world_session(w);
    struct cluster_state s = {0};
    uint64_t n_requests, n_ends;
    size_t n_alive = 0;
    struct err err;

    for (size_t i = 0; i < w->n_nodes; i++)
        n_alive += w->nodes[i].is_alive;
    if (!world_settle(w, 90000)) {
        snprintf(game_now->wrong, sizeof(game_now->wrong), "not normal: %s", w->waits);
        siglongjmp(game_now->failed, 1);
    }
    must(cluster_state_parse(&s, buf_str(&w->state_text), &err));
    must(s.members.n == n_alive && !s.is_running);
    must(world_session(w) <= session + w->n_nodes + SESSIONS_MORE);
    judge_owners(w, &s);
    world_run(w, 2000); /* what was on its way */
    n_requests = w->n_requests;
    n_ends = w->n_ends;
    world_run(w, 30000);
    must(w->n_requests == n_requests && w->n_ends == n_ends);
    must(world_is_normal(w) && w->n_queue == 0);
    cluster_state_free(&s);
}

static void play(struct game *g)
{
    struct random r;
    size_t n_groups;

    world_fini(&world);
    random_init(&r, g->seed);
    world_init(&world, random_next(&r), 1 + random_below(&r, 8), 1 + random_below(&r, 9));
    n_groups = random_below(&r, 3);
    for (size_t i = 0; i < world.n_things; i++)
        if (n_groups > 0 && random_below(&r, 2) == 0)
            snprintf(world.things[i].group, sizeof(world.things[i].group), "g%zu",
                     (size_t)random_below(&r, n_groups));
    world.is_rough = random_below(&r, 4) > 0;
    for (size_t i = 0; i < world.n_nodes; i++)
        world_push(&world, message_new(AT_START, i),
                   world.now_ms + (int64_t)random_below(&r, 4000));
    for (size_t n = 0; game_next(g, &r); n++) {
        random_init(&world.random, random_next(&r));
        if (random_below(&r, 3) > 0)
            world_run(&world, (int64_t)random_below(&r, 1500)); /* in the middle of the last */
        else
            world_run(&world, (int64_t)random_below(&r, 25000));
        do_fault(&world, &r);
    }
    world_run(&world, 5000);
    game_say("the faults end at %" PRId64 " ms", world.now_ms);
    world_heal(&world);
    world_run(&world, TIMEOUT_MS + 4000); /* until all know who is back, and who is not */
    judge(&world);
}

static void everything_has_one_owner_when_the_faults_end(void **state)
{
    (void)state;
    games_play_heavy(play, FAULTS_MAX, WEIGHT);
    world_fini(&world);
    memset(&world, 0, sizeof(world));
}

/* ---- examples ---- */

static void begin(size_t n_nodes, size_t n_started, size_t n_things)
{
    static struct game g;

    g.tells = false;
    game_now = &g;
    world_init(&world, 7, n_nodes, n_things);
    for (size_t i = 0; i < n_started; i++)
        start_process(&world, i);
    world_run(&world, 1000);
    assert_true(world_settle(&world, 5000));
    world_run(&world, 1000); /* what was on its way */
    world.n_requests = world.n_reads = world.n_granted = world.n_ends = 0;
}

static void finish(void)
{
    assert_int_equal(world.n_refused, 0);
    world_fini(&world);
    memset(&world, 0, sizeof(world));
}

static size_t owned_by(size_t node)
{
    size_t n = 0;

    for (size_t t = 0; t < world.n_things; t++)
        n += world_owner(&world, t) == node;
    return n;
}

static void ask(size_t node, enum barrier_ask what, struct str of, struct str thing)
{
    give(&world, node,
         &(struct barrier_event){
             .kind = BARRIER_ASKED, .ask = what, .node = of, .thing = thing});
}

static void a_node_that_joins_interrupts_nothing_that_stays(void **state)
{
    (void)state;
    begin(4, 3, 9);
    start_process(&world, 3);
    world_run(&world, 1500);
    assert_true(world_settle(&world, 5000));
    assert_int_equal(owned_by(3), 2);
    assert_int_equal(world.n_ends, 2);
    finish();
}

static void a_dead_node_is_replaced_two_seconds_after_its_session(void **state)
{
    (void)state;
    begin(3, 3, 9);
    kill_process(&world, 0);
    world_run(&world, TIMEOUT_MS + 1000 + 2000);
    assert_int_equal(owned_by(1) + owned_by(2), 9);
    assert_int_equal(world.n_ends, 0);
    assert_int_equal(world.n_granted, 1);
    finish();
}

static void a_node_that_hangs_is_replaced_and_comes_back_with_nothing(void **state)
{
    (void)state;
    begin(3, 3, 9);
    hang(&world, 0, 20000);
    world_run(&world, TIMEOUT_MS + 1000 + 2000);
    assert_int_equal(owned_by(0), 0);
    for (size_t t = 0; t < 9; t++)
        assert_int_not_equal(world.things[t].taker, 0);
    world_run(&world, 9000);
    assert_true(world_settle(&world, 5000));
    assert_int_equal(owned_by(0), 3);
    assert_int_equal(owned_by(1) + owned_by(2), 6);
    world.n_refused = 0; /* what it wrote when it woke */
    finish();
}

static void whoever_does_not_stop_in_time_is_left_out_until_it_has(void **state)
{
    struct buf text = {0};

    (void)state;
    begin(3, 3, 9);
    world.nodes[1].slow_stop_ms = 15000;
    ask(0, BARRIER_ASK_EVACUATE, STR("n01"), STR(""));
    world_run(&world, 4000);
    assert_true(barrier_waits_for(world.nodes[0].machine, &text));
    assert_non_null(strstr(text.ptr, "waits for n01 to stop what it gives away"));
    world_run(&world, 7000);
    assert_int_equal(owned_by(1), 0);
    for (size_t t = 0; t < 9; t++)
        assert_int_not_equal(world.things[t].taker, 1);
    assert_true(world_settle(&world, 20000));
    world_run(&world, 2000);
    assert_int_equal(world_session(&world), barrier_session(world.nodes[1].machine));
    assert_int_equal(owned_by(0) + owned_by(2), 9);
    buf_free(&text);
    world.n_refused = 0;
    finish();
}

static void whoever_cannot_start_what_it_gets_is_asked_ever_more_rarely(void **state)
{
    struct buf text = {0};
    uint64_t session;

    (void)state;
    begin(3, 2, 9);
    world.nodes[2].is_blind = true;
    session = world_session(&world);
    start_process(&world, 2);
    world_run(&world, 12000);
    assert_int_equal(owned_by(0) + owned_by(1), 9);
    assert_true(barrier_waits_for(world.nodes[2].machine, &text));
    assert_non_null(strstr(text.ptr, "s, as it could not start what it was given"));
    world_run(&world, 600000);
    assert_true(world_session(&world) <= session + 2 * 8); /* with and without it */
    assert_true(world.n_ends <= 8 * 9);
    world.nodes[2].is_blind = false;
    world_run(&world, 20 * 8000);
    assert_true(world_settle(&world, 5000));
    assert_int_equal(owned_by(2), 3);
    buf_free(&text);
    finish();
}

static void whoever_could_not_start_does_not_rest_once_it_is_alone(void **state)
{
    (void)state;
    begin(3, 2, 9);
    world.nodes[2].is_blind = true;
    start_process(&world, 2);
    world_run(&world, 150000);
    world.nodes[2].is_blind = false;
    for (size_t i = 0; i < 2; i++) {
        kill_process(&world, i);
        end_session(&world, i);
    }
    world_run(&world, 3000);
    assert_int_equal(owned_by(2), 9);
    finish();
}

/* It failed over, and lost the last change of the definitions. */
static void a_store_that_lost_its_last_revision_does_not_stop_the_cluster(void **state)
{
    (void)state;
    begin(3, 3, 9);
    world.revision--;
    for (size_t i = 0; i < 3; i++)
        give_things(&world, i);
    world_run(&world, 2000);
    kill_process(&world, 0);
    world_run(&world, 2 * 8000 + 5000);
    assert_true(world_settle(&world, 5000));
    assert_int_equal(owned_by(1) + owned_by(2), 9);
    assert_non_null(strstr(world.state_text.ptr, "\"revision\":0"));
    finish();
}

static void a_node_that_is_cut_off_stops_before_its_session_can_expire(void **state)
{
    (void)state;
    begin(3, 3, 9);
    world.n_timers = 0;
    cut(&world, 0, 60000);
    world_run(&world, SUSPEND_MS - 100);
    assert_int_equal(owned_by(0), 3);
    world_run(&world, 1000);
    assert_int_equal(owned_by(0), 0);
    assert_int_equal(owned_by(1) + owned_by(2), 6);
    world_run(&world, TIMEOUT_MS - SUSPEND_MS - 900 + 1000 + 2000);
    assert_int_equal(owned_by(1) + owned_by(2), 9);
    world_run(&world, 60000);
    assert_int_equal(owned_by(0), 3);
    assert_true(world.n_timers < 3 * 40); /* it does not spin */
    finish();
}

static void people_evacuate_admit_and_move(void **state)
{
    struct buf text = {0};

    (void)state;
    begin(2, 2, 4);
    ask(1, BARRIER_ASK_EVACUATE, STR("n00"), STR(""));
    world_run(&world, 2000);
    assert_int_equal(owned_by(1), 4);
    ask(1, BARRIER_ASK_EVACUATE, STR("n01"), STR(""));
    world_run(&world, 2000);
    assert_int_equal(owned_by(0) + owned_by(1), 0);
    assert_true(barrier_waits_for(world.nodes[0].machine, &text));
    assert_non_null(strstr(text.ptr, "no node is admitted"));
    ask(1, BARRIER_ASK_ADMIT, STR("n00"), STR(""));
    world_run(&world, 2000);
    assert_int_equal(owned_by(0), 4);
    ask(1, BARRIER_ASK_ADMIT, STR("n01"), STR(""));
    world_run(&world, 2000);
    assert_int_equal(owned_by(0), 2);
    ask(0, BARRIER_ASK_MOVE, STR("n01"), str_from(world.things[3].name));
    ask(0, BARRIER_ASK_REBALANCE, STR(""), STR("")); /* while the other is written */
    world_run(&world, 2000);
    assert_int_equal(world_owner(&world, 3), 1);
    assert_int_equal(world.n_answers, 6);
    buf_free(&text);
    finish();
}

static void fifty_nodes_and_a_thousand_topics_rebalance_without_a_herd(void **state)
{
    int64_t began_ms;

    (void)state;
    begin(50, 49, 1000);
    began_ms = world.now_ms;
    start_process(&world, 49);
    world_run(&world, 500);
    assert_true(world_settle(&world, 1000));
    print_message("%" PRId64 " ms, %" PRIu64 " requests, %" PRIu64 " reads, %" PRIu64
                  " times the lock, %" PRIu64 " bytes at most\n",
                  world.now_ms - began_ms, world.n_requests, world.n_reads, world.n_granted,
                  world.n_bytes_most);
    assert_int_equal(owned_by(49), 20);
    assert_int_equal(world.n_ends, 20);
    assert_true(world.n_requests < 50 * 20);
    assert_int_equal(world.n_granted, 1);
    assert_true(world.n_bytes_most < 64 * 1024);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_joins_interrupts_nothing_that_stays),
        cmocka_unit_test(a_dead_node_is_replaced_two_seconds_after_its_session),
        cmocka_unit_test(a_node_that_hangs_is_replaced_and_comes_back_with_nothing),
        cmocka_unit_test(whoever_does_not_stop_in_time_is_left_out_until_it_has),
        cmocka_unit_test(whoever_cannot_start_what_it_gets_is_asked_ever_more_rarely),
        cmocka_unit_test(whoever_could_not_start_does_not_rest_once_it_is_alone),
        cmocka_unit_test(a_store_that_lost_its_last_revision_does_not_stop_the_cluster),
        cmocka_unit_test(a_node_that_is_cut_off_stops_before_its_session_can_expire),
        cmocka_unit_test(people_evacuate_admit_and_move),
        cmocka_unit_test(fifty_nodes_and_a_thousand_topics_rebalance_without_a_herd),
        cmocka_unit_test(everything_has_one_owner_when_the_faults_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
