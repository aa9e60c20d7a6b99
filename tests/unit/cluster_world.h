/*
 * A simulated cluster around the shipped barrier: processes that run it, die and hang, a
 * coordination with sessions, ephemerals, one-shot watches and a lock's queue, links that
 * break, and a store that raises terms and refuses older ones.
 *
 * The judge is the store: what it accepted, and who was at work when somebody else took a
 * thing. Time is simulated; each process has a clock of its own rate.
 */
#ifndef TESTS_UNIT_CLUSTER_WORLD_H
#define TESTS_UNIT_CLUSTER_WORLD_H

#include "tests/unit/game.h"

#include "rebalance/cluster/barrier.h"
#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/node_data.h"
#include "src/base/buf.h"
#include "src/base/mem.h"

#include <inttypes.h>

#define WORLD_NODES_MAX  64
#define WORLD_THINGS_MAX 1024
#define TIMEOUT_MS       10000 /* of a session */
#define SUSPEND_MS       6000
#define TICK_MS          250 /* between two writes of a work */

/* What happens at a time. */
enum happening {
    AT_REQUEST, /* reaches the coordination */
    AT_EVENT,   /* reaches a process */
    AT_TIMER,   /* the machine's own */
    AT_WORK,    /* a work takes its thing, or ends */
    AT_EXPIRE,  /* a session without a sign for too long */
    AT_TICK,    /* works write */
    AT_THAW,
    AT_AWAKE, /* the client of a process that hung looks after its session */
    AT_LINK_UP,
    AT_START,
    AT_STORE_UP,
};

struct message {
    int64_t ms;
    uint64_t seq;
    enum happening what;
    size_t node;
    uint64_t life; /* of the process, or 0: any */
    uint64_t link; /* of the connection, or 0: any */
    uint64_t serial;
    size_t thing;
    bool is_lost; /* a request that is carried out or not, without an answer */
    struct barrier_event event;
    struct barrier_action request;
    struct buf node_text, thing_text, text;
    struct str *list;
};

enum work_state { WORK_NONE, WORK_TAKING, WORK_WORKS, WORK_ENDING };

struct work {
    enum work_state state;
    bool has_term, saves;
    uint64_t term, serial;
};

struct process {
    char id[32];
    bool is_alive, is_hung, link_is_down, was_cut;
    bool stays_away; /* it does not start any more */
    bool is_blind;   /* it does not reach the store */
    bool is_excused; /* it hung, or was left out: its late writes are the store's to refuse */
    int64_t thaw_ms, down_ms;
    uint64_t life, link, session; /* 0: none */
    bool session_lives, wants_lock;
    uint64_t contact; /* changes whenever it is lost or found */
    double rate;
    int64_t clock_ms, clock_at_ms;
    int64_t last_request_ms, last_event_ms;
    uint64_t timer;
    int64_t slow_stop_ms;
    struct barrier *machine;
    struct barrier_actions out;
    struct work *works;
    uint64_t revision; /* of the things that it knows */
    /* its ephemeral */
    bool has_node;
    uint64_t node_session;
    int64_t node_version;
    struct buf node_text;
    uint64_t watchers;
};

struct stored_thing {
    char name[32], group[32];
    bool exists;
    uint64_t term, accepted;
    size_t taker;
};

struct world {
    struct random random;
    int64_t now_ms;
    uint64_t seq, serial;
    struct message **heap;
    size_t n_heap, heap_cap;
    size_t n_nodes, n_things;
    struct process nodes[WORLD_NODES_MAX];
    struct stored_thing things[WORLD_THINGS_MAX];
    uint64_t revision;
    bool has_state;
    int64_t state_version;
    struct buf state_text;
    uint64_t state_watchers;
    size_t queue[WORLD_NODES_MAX * 2];
    size_t n_queue;
    bool store_is_away;
    bool is_mute;                          /* what is carried out has no answer */
    bool is_rough;                         /* answers are lost and repeated, and events late */
    bool is_state_deleted, is_lock_stolen; /* by foreign hands */
    /* what the judge counts */
    uint64_t n_requests, n_reads, n_bytes_most, n_granted, n_refused, n_ends, n_answers,
        n_timers;
    char waits[300];
};

/* Fails the game, or the example. */
static inline void world_must(bool holds, const char *what)
{
    if (holds)
        return;
    if (game_now->steps == NULL)
        fail_msg("not so: %s", what);
    game_fail(what, __FILE__, __LINE__);
}

static inline uint64_t world_below(struct world *w, uint64_t n)
{
    return random_below(&w->random, n);
}

static inline bool world_chance(struct world *w, unsigned percent)
{
    return world_below(w, 100) < percent;
}

/* ---- the heap of what happens ---- */

static inline bool is_before(const struct message *a, const struct message *b)
{
    return a->ms != b->ms ? a->ms < b->ms : a->seq < b->seq;
}

static inline void world_push(struct world *w, struct message *m, int64_t ms)
{
    size_t at = w->n_heap++;

    m->ms = ms;
    m->seq = ++w->seq;
    if (w->n_heap > w->heap_cap) {
        w->heap_cap = w->heap_cap == 0 ? 256 : w->heap_cap * 2;
        w->heap = mem_resize(w->heap, w->heap_cap, sizeof(struct message *));
    }
    for (; at > 0 && is_before(m, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = m;
}

static inline struct message *world_pop(struct world *w)
{
    struct message *first = w->heap[0], *last = w->heap[--w->n_heap];
    size_t at = 0;

    for (size_t child; (child = 2 * at + 1) < w->n_heap; at = child) {
        if (child + 1 < w->n_heap && is_before(w->heap[child + 1], w->heap[child]))
            child++;
        if (!is_before(w->heap[child], last))
            break;
        w->heap[at] = w->heap[child];
    }
    if (w->n_heap > 0)
        w->heap[at] = last;
    return first;
}

static inline void message_free(struct message *m)
{
    buf_free(&m->node_text);
    buf_free(&m->thing_text);
    buf_free(&m->text);
    free(m->list);
    free(m);
}

static inline struct message *message_new(enum happening what, size_t node)
{
    struct message *m = mem_alloc(1, sizeof(*m));

    m->what = what;
    m->node = node;
    return m;
}

/* ---- processes: clocks, events, timers ---- */

static inline int64_t clock_of(struct world *w, const struct process *p)
{
    return p->clock_ms + (int64_t)((double)(w->now_ms - p->clock_at_ms) * p->rate);
}

static inline struct str world_id(const struct process *p)
{
    return str_from(p->id);
}

static inline size_t node_of_id(const struct world *w, struct str id)
{
    for (size_t i = 0; i < w->n_nodes; i++)
        if (str_equal(str_from(w->nodes[i].id), id))
            return i;
    return SIZE_MAX;
}

/* A copy of the event goes to the process, behind those that went before. */
static inline struct message *send_event(struct world *w, size_t node,
                                         const struct barrier_event *e, uint64_t link,
                                         int64_t delay)
{
    struct process *p = &w->nodes[node];
    struct message *m = message_new(AT_EVENT, node);
    int64_t ms = w->now_ms + delay;

    m->event = *e;
    buf_append(&m->node_text, e->node);
    buf_append(&m->thing_text, e->thing);
    buf_append(&m->text, e->text);
    m->life = p->life;
    m->link = link;
    ms = ms > p->last_event_ms ? ms : p->last_event_ms;
    p->last_event_ms = ms;
    world_push(w, m, ms);
    return m;
}

static inline int64_t delay_of(struct world *w)
{
    return w->is_rough && world_chance(w, 5) ? (int64_t)world_below(w, 1500)
                                             : (int64_t)world_below(w, 10);
}

/* From the coordination. */
static inline void tell(struct world *w, size_t node, const struct barrier_event *e)
{
    const struct process *p = &w->nodes[node];

    if (!p->is_alive || p->link_is_down)
        return;
    (void)send_event(w, node, e, p->link, delay_of(w));
    if (w->is_rough && world_chance(w, 2) && e->kind != BARRIER_NODES &&
        e->kind != BARRIER_CONNECTED && e->kind != BARRIER_LOST)
        (void)send_event(w, node, e, p->link, delay_of(w));
}

static inline void tell_nodes(struct world *w, size_t node)
{
    const struct process *p = &w->nodes[node];
    struct message *m;

    if (!p->is_alive || p->link_is_down || !p->session_lives)
        return;
    m = send_event(w, node, &(struct barrier_event){.kind = BARRIER_NODES}, p->link,
                   delay_of(w));
    m->list = mem_alloc(w->n_nodes, sizeof(*m->list));
    for (size_t i = 0; i < w->n_nodes; i++)
        if (w->nodes[i].has_node)
            m->list[m->event.n++] = world_id(&w->nodes[i]);
    m->event.list = m->list;
    w->n_reads++;
}

static inline void tell_all_nodes(struct world *w)
{
    for (size_t i = 0; i < w->n_nodes; i++)
        tell_nodes(w, i);
}

static inline void wake_watchers(struct world *w, uint64_t *watchers,
                                 const struct barrier_event *e)
{
    for (size_t i = 0; i < w->n_nodes; i++)
        if ((*watchers >> i & 1) != 0)
            tell(w, i, e);
    *watchers = 0;
}

static inline void node_changed(struct world *w, size_t node)
{
    wake_watchers(w, &w->nodes[node].watchers,
                  &(struct barrier_event){.kind = BARRIER_NODE_CHANGED,
                                          .node = world_id(&w->nodes[node])});
}

static inline void state_changed(struct world *w)
{
    wake_watchers(w, &w->state_watchers,
                  &(struct barrier_event){.kind = BARRIER_STATE_CHANGED});
}

/* ---- the coordination ---- */

static inline void grant_first(struct world *w)
{
    if (w->n_queue > 0) {
        w->n_granted++;
        tell(w, w->queue[0], &(struct barrier_event){.kind = BARRIER_LOCK_GRANTED});
    }
}

static inline void leave_queue(struct world *w, size_t node)
{
    for (size_t i = 0; i < w->n_queue; i++) {
        if (w->queue[i] != node)
            continue;
        memmove(w->queue + i, w->queue + i + 1, (w->n_queue - i - 1) * sizeof(*w->queue));
        w->n_queue--;
        if (i == 0)
            grant_first(w);
        return;
    }
}

/* A repeated wish finds its own place again. */
static inline void enter_queue(struct world *w, size_t node)
{
    for (size_t i = 0; i < w->n_queue; i++) {
        if (w->queue[i] == node) {
            if (i == 0)
                grant_first(w);
            return;
        }
    }
    w->queue[w->n_queue++] = node;
    if (w->n_queue == 1)
        grant_first(w);
}

static inline void delete_node(struct world *w, size_t node)
{
    if (!w->nodes[node].has_node)
        return;
    w->nodes[node].has_node = false;
    node_changed(w, node);
    tell_all_nodes(w);
}

static inline void end_session(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];

    if (!p->session_lives)
        return;
    p->session_lives = false;
    for (size_t i = 0; i < w->n_nodes; i++)
        w->nodes[i].watchers &= ~(UINT64_C(1) << node);
    w->state_watchers &= ~(UINT64_C(1) << node);
    leave_queue(w, node);
    if (p->node_session == p->session)
        delete_node(w, node);
}

static inline void create_node(struct world *w, size_t node, struct str text)
{
    struct process *p = &w->nodes[node];
    const bool was_there = p->has_node;

    p->has_node = true;
    p->node_session = p->session;
    p->node_version = 0;
    buf_clear(&p->node_text);
    buf_append(&p->node_text, text);
    node_changed(w, node);
    if (!was_there)
        tell_all_nodes(w);
}

static inline enum barrier_answer write_node(struct world *w, size_t node, struct str text,
                                             int64_t version)
{
    struct process *p = &w->nodes[node];

    if (!p->has_node)
        return BARRIER_GONE;
    if (p->node_version != version)
        return BARRIER_DIFFERS;
    p->node_version++;
    buf_clear(&p->node_text);
    buf_append(&p->node_text, text);
    node_changed(w, node);
    return BARRIER_OK;
}

/* Nodes that the state leaves out are fenced by the store, and only by it. */
static inline void excuse_left_out(struct world *w)
{
    struct cluster_state s = {0};
    struct err err;

    if (cluster_state_parse(&s, buf_str(&w->state_text), &err))
        for (size_t i = 0; i < s.left_out.n; i++)
            for (size_t k = 0; k < w->n_nodes; k++)
                if (str_equal(s.left_out.list[i], world_id(&w->nodes[k])))
                    w->nodes[k].is_excused = true;
    cluster_state_free(&s);
}

static inline enum barrier_answer write_state(struct world *w, struct str text, int64_t version)
{
    if (version != (w->has_state ? w->state_version : -1))
        return BARRIER_DIFFERS;
    w->state_version = w->has_state ? w->state_version + 1 : 0;
    w->has_state = true;
    buf_clear(&w->state_text);
    buf_append(&w->state_text, text);
    excuse_left_out(w);
    state_changed(w);
    return BARRIER_OK;
}

static inline void answer(struct world *w, size_t node, const struct barrier_event *e)
{
    if (!w->is_mute)
        tell(w, node, e);
}

static inline void read_node(struct world *w, const struct message *m)
{
    const size_t node = node_of_id(w, buf_str(&m->node_text));
    struct barrier_event e = {.kind = BARRIER_NODE,
                              .version = -1,
                              .node = buf_str(&m->node_text),
                              .token = m->serial};
    const struct process *p = node == SIZE_MAX ? NULL : &w->nodes[node];

    w->n_reads++;
    if (p != NULL && p->has_node && (node != m->node || p->node_session == p->session)) {
        e.text = buf_str(&p->node_text);
        e.version = p->node_version;
        w->nodes[node].watchers |= UINT64_C(1) << m->node;
    }
    w->n_bytes_most = e.text.len > w->n_bytes_most ? e.text.len : w->n_bytes_most;
    answer(w, m->node, &e);
}

static inline void read_state(struct world *w, const struct message *m)
{
    const struct barrier_event e = {.kind = BARRIER_STATE,
                                    .token = m->serial,
                                    .version = w->has_state ? w->state_version : -1,
                                    .text = w->has_state ? buf_str(&w->state_text)
                                                         : (struct str){NULL, 0}};

    w->n_reads++;
    w->n_bytes_most = e.text.len > w->n_bytes_most ? e.text.len : w->n_bytes_most;
    w->state_watchers |= UINT64_C(1) << m->node;
    answer(w, m->node, &e);
}

static inline void carry_out_write(struct world *w, const struct message *m)
{
    const enum barrier_action_kind kind = m->request.kind;
    struct barrier_event e = {.kind = kind == BARRIER_WRITE_STATE ? BARRIER_STATE_WRITTEN
                                                                  : BARRIER_WRITTEN,
                              .node = buf_str(&m->node_text),
                              .answer = BARRIER_OK};
    const bool is_unknown = w->is_rough && world_chance(w, 2);
    size_t node = m->node;

    if (!is_unknown || world_chance(w, 50)) {
        if (kind == BARRIER_WRITE_STATE) {
            e.answer = write_state(w, buf_str(&m->text), m->request.version);
            e.version = w->state_version;
        } else if (kind == BARRIER_REGISTER) {
            create_node(w, node, buf_str(&m->text));
            e.version = 0;
        } else {
            node = node_of_id(w, buf_str(&m->node_text));
            e.answer = write_node(w, node, buf_str(&m->text), m->request.version);
            e.version = w->nodes[node].node_version;
        }
    }
    if (is_unknown)
        e.answer = BARRIER_UNKNOWN;
    answer(w, m->node, &e);
}

static inline void carry_out(struct world *w, const struct message *m)
{
    const struct process *p = &w->nodes[m->node];

    if (m->life != p->life || !p->session_lives)
        return;
    if (m->link != p->link && !m->is_lost)
        return;
    w->n_requests++;
    w->is_mute = m->link != p->link;
    switch (m->request.kind) {
    case BARRIER_READ: read_node(w, m); break;
    case BARRIER_READ_STATE: read_state(w, m); break;
    case BARRIER_REGISTER:
    case BARRIER_WRITE:
    case BARRIER_WRITE_STATE: carry_out_write(w, m); break;
    case BARRIER_ENTER: enter_queue(w, m->node); break;
    case BARRIER_LEAVE: leave_queue(w, m->node); break;
    case BARRIER_START:
    case BARRIER_STOP:
    case BARRIER_HALT:
    case BARRIER_ANSWER: break;
    }
    w->is_mute = false;
}

/* ---- works and the store ---- */

static inline size_t thing_of(const struct world *w, struct str name)
{
    for (size_t i = 0; i < w->n_things; i++)
        if (str_equal(str_from(w->things[i].name), name))
            return i;
    abort();
}

static inline void schedule_work(struct world *w, size_t node, size_t thing, int64_t delay)
{
    struct message *m = message_new(AT_WORK, node);
    struct work *k = &w->nodes[node].works[thing];

    m->life = w->nodes[node].life;
    m->thing = thing;
    m->serial = k->serial = ++w->serial;
    world_push(w, m, w->now_ms + delay);
}

static inline void tell_work(struct world *w, size_t node, size_t thing,
                             enum barrier_event_kind kind)
{
    (void)send_event(
        w, node,
        &(struct barrier_event){.kind = kind, .thing = str_from(w->things[thing].name)}, 0, 0);
}

/* Nobody who can know better may still be at work on what another one takes. */
static inline void judge_take(struct world *w, size_t node, size_t thing)
{
    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct process *p = &w->nodes[i];
        const bool works = i != node && p->is_alive && p->works[thing].has_term;

        if (works)
            game_say("node %zu takes %s, which node %zu works on", node, w->things[thing].name,
                     i);
        world_must(!works || p->is_excused || w->nodes[node].is_excused,
                   "nobody works on a thing that another node takes");
    }
}

static inline void take(struct world *w, size_t node, size_t thing)
{
    struct stored_thing *t = &w->things[thing];
    struct work *k = &w->nodes[node].works[thing];

    if (w->store_is_away || w->nodes[node].is_blind) {
        schedule_work(w, node, thing, 500);
        return;
    }
    judge_take(w, node, thing);
    k->term = ++t->term;
    k->has_term = true;
    k->state = WORK_WORKS;
    t->taker = node;
    tell_work(w, node, thing, BARRIER_STARTED);
}

/* False: the store refuses. */
static inline bool store_write(struct world *w, size_t node, size_t thing)
{
    struct stored_thing *t = &w->things[thing];
    const struct work *k = &w->nodes[node].works[thing];

    if (w->store_is_away)
        return true; /* it waits */
    if (k->term < t->term) {
        w->n_refused++;
        world_must(w->nodes[node].is_excused || w->nodes[t->taker].is_excused,
                   "who is refused hung, or was left out");
        return false;
    }
    world_must(k->term >= t->accepted, "terms never fall");
    t->accepted = k->term;
    return true;
}

static inline void work_goes_on(struct world *w, const struct message *m)
{
    struct work *k = &w->nodes[m->node].works[m->thing];

    if (k->serial != m->serial)
        return;
    if (k->state == WORK_TAKING) {
        take(w, m->node, m->thing);
    } else if (k->state == WORK_ENDING) {
        if (k->saves && k->has_term)
            (void)store_write(w, m->node, m->thing);
        *k = (struct work){.serial = k->serial};
        tell_work(w, m->node, m->thing, BARRIER_STOPPED);
    }
}

static inline void tick(struct world *w)
{
    for (size_t i = 0; i < w->n_nodes; i++) {
        struct process *p = &w->nodes[i];

        for (size_t t = 0; p->is_alive && !p->is_hung && t < w->n_things; t++) {
            if (p->works[t].state != WORK_WORKS || store_write(w, i, t))
                continue;
            p->works[t] = (struct work){.serial = ++w->serial};
            tell_work(w, i, t, BARRIER_REFUSED);
        }
    }
}

static inline void start_work(struct world *w, size_t node, size_t thing)
{
    struct work *k = &w->nodes[node].works[thing];

    world_must(k->state == WORK_NONE, "what is started is not at work");
    *k = (struct work){.state = WORK_TAKING};
    schedule_work(w, node, thing, (int64_t)world_below(w, w->is_rough ? 300 : 20));
}

static inline void end_work(struct world *w, size_t node, size_t thing, bool saves)
{
    struct process *p = &w->nodes[node];
    struct work *k = &p->works[thing];
    int64_t ms = (int64_t)world_below(w, saves ? 400 : 30);

    w->n_ends++;
    if (k->state == WORK_NONE) { /* it was refused just now */
        *k = (struct work){.state = WORK_ENDING};
        ms = 0;
    }
    if (saves && p->slow_stop_ms > 0) {
        ms = p->slow_stop_ms;
        p->slow_stop_ms = 0;
    }
    k->state = WORK_ENDING;
    k->saves = saves;
    schedule_work(w, node, thing, ms);
}

/* ---- the driver: performs actions ---- */

static inline void send_request(struct world *w, size_t node, const struct barrier_action *a)
{
    struct process *p = &w->nodes[node];
    struct message *m = message_new(AT_REQUEST, node);
    int64_t ms = w->now_ms + delay_of(w);

    m->request = *a;
    buf_append(&m->node_text, a->kind == BARRIER_REGISTER ? world_id(p) : a->node);
    buf_append(&m->text, a->text);
    m->serial = a->token;
    m->life = p->life;
    m->link = p->link;
    m->is_lost = world_chance(w, 50);
    ms = ms > p->last_request_ms ? ms : p->last_request_ms;
    p->last_request_ms = ms;
    if (p->link_is_down)
        message_free(m);
    else
        world_push(w, m, ms);
}

static inline void perform(struct world *w, size_t node, const struct barrier_action *a)
{
    struct process *p = &w->nodes[node];

    if (a->kind == BARRIER_ENTER || a->kind == BARRIER_LEAVE)
        p->wants_lock = a->kind == BARRIER_ENTER;
    switch (a->kind) {
    case BARRIER_ENTER:
    case BARRIER_LEAVE:
    case BARRIER_REGISTER:
    case BARRIER_READ:
    case BARRIER_READ_STATE:
    case BARRIER_WRITE:
    case BARRIER_WRITE_STATE: send_request(w, node, a); break;
    case BARRIER_START: start_work(w, node, thing_of(w, a->thing)); break;
    case BARRIER_STOP: end_work(w, node, thing_of(w, a->thing), true); break;
    case BARRIER_HALT: end_work(w, node, thing_of(w, a->thing), false); break;
    case BARRIER_ANSWER: w->n_answers++; break;
    }
}

static inline void set_timer(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];
    struct message *m = message_new(AT_TIMER, node);
    const int64_t left = barrier_due(p->machine) - clock_of(w, p);

    m->life = p->life;
    m->serial = ++p->timer;
    world_push(w, m, w->now_ms + (left > 0 ? (int64_t)((double)left / p->rate) + 1 : 1));
}

static inline void give(struct world *w, size_t node, struct barrier_event *e)
{
    struct process *p = &w->nodes[node];

    e->now_ms = clock_of(w, p);
    barrier_take(p->machine, e, &p->out);
    for (size_t i = 0; i < p->out.n; i++)
        perform(w, node, &p->out.list[i]);
    set_timer(w, node);
}

static inline void give_things(struct world *w, size_t node)
{
    struct barrier_thing *things = mem_alloc(w->n_things, sizeof(*things));
    struct barrier_event e = {
        .kind = BARRIER_THINGS, .things = things, .revision = w->revision};

    for (size_t i = 0; i < w->n_things; i++)
        if (w->things[i].exists)
            things[e.n++] = (struct barrier_thing){.name = str_from(w->things[i].name),
                                                   .group = str_from(w->things[i].group)};
    w->nodes[node].revision = w->revision;
    give(w, node, &e);
    free(things);
}

/* ---- lives, links, sessions ---- */

static inline void lose_contact(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];
    struct message *m = message_new(AT_EXPIRE, node);

    m->serial = ++p->contact;
    world_push(w, m, w->now_ms + TIMEOUT_MS + (int64_t)world_below(w, 1000));
}

static inline void driver_connects(struct world *w, size_t node, bool is_new)
{
    struct process *p = &w->nodes[node];
    const struct barrier_action lock = {.kind = p->wants_lock ? BARRIER_ENTER : BARRIER_LEAVE};

    p->link++;
    p->was_cut = false;
    tell(w, node, &(struct barrier_event){.kind = BARRIER_CONNECTED, .is_new = is_new});
    tell_nodes(w, node);
    if (!is_new)
        send_request(w, node, &lock);
}

static inline void connect_anew(struct world *w, size_t node, bool tells)
{
    struct process *p = &w->nodes[node];

    p->session = ++w->serial;
    p->session_lives = true;
    p->wants_lock = false;
    p->link++;
    if (tells) /* by the client itself, so it is never lost */
        (void)send_event(w, node, &(struct barrier_event){.kind = BARRIER_LOST}, 0, 0);
    driver_connects(w, node, true);
}

static inline void start_process(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];
    const struct barrier_options options = {.id = world_id(p),
                                            .name = world_id(p),
                                            .version = STR("1"),
                                            .suspend_ms = SUSPEND_MS,
                                            .stop_limit_ms = 8000,
                                            .start_limit_ms = 8000,
                                            .settle_ms = 300,
                                            .stagger_ms = 100};

    if (p->is_alive || p->stays_away)
        return;
    if (p->session_lives) /* of the life before: it goes away when it expires */
        end_session(w, node);
    p->is_alive = true;
    p->is_hung = p->link_is_down = p->was_cut = p->is_excused = false;
    p->life = ++w->serial;
    p->contact++;
    p->rate = w->is_rough ? 0.95 + (double)world_below(w, 100) / 1000 : 1;
    p->clock_ms = (int64_t)world_below(w, 1000000);
    p->clock_at_ms = w->now_ms;
    p->last_event_ms = p->last_request_ms = w->now_ms;
    p->slow_stop_ms = 0;
    p->machine = barrier_new(&options);
    memset(p->works, 0, w->n_things * sizeof(*p->works));
    give_things(w, node);
    connect_anew(w, node, false);
}

/* Its session and ephemeral live on until they expire, or the process comes back. */
static inline void kill_process(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];

    if (!p->is_alive)
        return;
    p->is_alive = p->is_hung = p->link_is_down = false;
    barrier_free(p->machine);
    p->machine = NULL;
    memset(p->works, 0, w->n_things * sizeof(*p->works));
    if (p->session_lives)
        lose_contact(w, node);
}

static inline void hang(struct world *w, size_t node, int64_t ms)
{
    struct process *p = &w->nodes[node];
    struct message *m;

    if (!p->is_alive || p->is_hung)
        return;
    p->is_hung = p->is_excused = true;
    p->thaw_ms = w->now_ms + ms;
    m = message_new(AT_THAW, node);
    m->life = p->life;
    world_push(w, m, p->thaw_ms);
    if (!p->link_is_down)
        lose_contact(w, node);
}

static inline void suspend(struct world *w, size_t node, int64_t heard_ms, int64_t delay)
{
    (void)send_event(w, node,
                     &(struct barrier_event){.kind = BARRIER_SUSPENDED, .heard_ms = heard_ms},
                     w->nodes[node].link, delay);
}

/* What was on its way before comes first, and may be old. */
static inline void thaw(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];
    struct message *m = message_new(AT_AWAKE, node);

    p->is_hung = false;
    if (!p->link_is_down)
        p->contact++;
    m->life = p->life;
    world_push(w, m, w->now_ms + (int64_t)world_below(w, 300));
}

static inline void awake(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];

    if (p->is_hung || p->link_is_down)
        return;
    if (!p->session_lives)
        connect_anew(w, node, true);
    else if (p->was_cut)
        driver_connects(w, node, false);
}

static inline void cut(struct world *w, size_t node, int64_t ms)
{
    struct process *p = &w->nodes[node];
    struct message *m;

    if (!p->is_alive || p->is_hung || p->link_is_down)
        return;
    p->link++;
    p->link_is_down = p->was_cut = true;
    p->down_ms = w->now_ms;
    suspend(w, node, clock_of(w, p), (int64_t)world_below(w, TIMEOUT_MS * 2 / 3));
    lose_contact(w, node);
    m = message_new(AT_LINK_UP, node);
    m->life = p->life;
    world_push(w, m, w->now_ms + ms);
}

static inline void link_up(struct world *w, size_t node)
{
    struct process *p = &w->nodes[node];

    if (!p->link_is_down)
        return;
    p->link_is_down = false;
    if (p->is_hung)
        return;
    p->contact++;
    if (p->session_lives)
        driver_connects(w, node, false);
    else
        connect_anew(w, node, true);
}

/* ---- time ---- */

static inline void give_event(struct world *w, struct message *m)
{
    const struct process *p = &w->nodes[m->node];

    if (m->link != 0 && m->link != p->link)
        return;
    m->event.node = buf_str(&m->node_text);
    m->event.thing = buf_str(&m->thing_text);
    m->event.text = buf_str(&m->text);
    give(w, m->node, &m->event);
}

static inline bool is_of_process(const struct message *m)
{
    return m->what == AT_EVENT || m->what == AT_TIMER || m->what == AT_WORK;
}

/* Returns true if the message is kept. */
static inline bool happen(struct world *w, struct message *m)
{
    struct process *p = &w->nodes[m->node];

    if (is_of_process(m) && (!p->is_alive || m->life != p->life))
        return false;
    if (is_of_process(m) && p->is_hung) {
        world_push(w, m, p->thaw_ms);
        return true;
    }
    switch (m->what) {
    case AT_REQUEST: carry_out(w, m); break;
    case AT_EVENT: give_event(w, m); break;
    case AT_TIMER:
        w->n_timers += m->serial == p->timer;
        if (m->serial == p->timer)
            give(w, m->node, &(struct barrier_event){.kind = BARRIER_TIME});
        break;
    case AT_WORK: work_goes_on(w, m); break;
    case AT_EXPIRE:
        if (m->serial == p->contact)
            end_session(w, m->node);
        break;
    case AT_TICK:
        tick(w);
        world_push(w, m, w->now_ms + TICK_MS);
        return true;
    case AT_THAW:
        if (p->is_alive && p->life == m->life && p->is_hung)
            thaw(w, m->node);
        break;
    case AT_AWAKE:
        if (p->is_alive && p->life == m->life)
            awake(w, m->node);
        break;
    case AT_LINK_UP:
        if (p->is_alive && p->life == m->life)
            link_up(w, m->node);
        break;
    case AT_START: start_process(w, m->node); break;
    case AT_STORE_UP: w->store_is_away = false; break;
    }
    return false;
}

static inline void world_run(struct world *w, int64_t ms)
{
    const int64_t end = w->now_ms + ms;

    while (w->n_heap > 0 && w->heap[0]->ms <= end) {
        struct message *m = world_pop(w);

        w->now_ms = m->ms;
        if (!happen(w, m))
            message_free(m);
    }
    w->now_ms = end;
}

/* ---- the whole ---- */

static inline void world_init(struct world *w, uint64_t seed, size_t n_nodes, size_t n_things)
{
    memset(w, 0, sizeof(*w));
    random_init(&w->random, seed);
    w->n_nodes = n_nodes;
    w->n_things = n_things;
    w->revision = 1;
    w->now_ms = 1000;
    for (size_t i = 0; i < n_nodes; i++) {
        w->nodes[i].works = mem_alloc(n_things, sizeof(struct work));
        snprintf(w->nodes[i].id, sizeof(w->nodes[i].id), "n%02u", (unsigned)i % 100);
    }
    for (size_t i = 0; i < n_things; i++) {
        snprintf(w->things[i].name, sizeof(w->things[i].name), "topic/t%04u",
                 (unsigned)i % 10000);
        w->things[i].exists = true;
    }
    world_push(w, message_new(AT_TICK, 0), w->now_ms + TICK_MS);
}

static inline void world_fini(struct world *w)
{
    while (w->n_heap > 0)
        message_free(world_pop(w));
    free(w->heap);
    for (size_t i = 0; i < w->n_nodes; i++) {
        barrier_free(w->nodes[i].machine);
        barrier_actions_free(&w->nodes[i].out);
        free(w->nodes[i].works);
        buf_free(&w->nodes[i].node_text);
    }
    buf_free(&w->state_text);
}

/* Returns the newest session of the state. */
static inline uint64_t world_session(const struct world *w)
{
    struct cluster_state s = {0};
    struct err err;
    uint64_t session = 0;

    if (cluster_state_parse(&s, buf_str(&w->state_text), &err))
        session = s.session;
    cluster_state_free(&s);
    return session;
}

/* Every fault ends: what died starts, but for what stays away; what hangs goes on, links and
 * store are whole. */
static inline void world_heal(struct world *w)
{
    w->is_rough = false;
    w->store_is_away = false;
    for (size_t i = 0; i < w->n_nodes; i++) {
        if (w->nodes[i].is_hung)
            world_run(w, w->nodes[i].thaw_ms - w->now_ms);
        link_up(w, i);
        start_process(w, i);
        if (w->nodes[i].is_alive && w->nodes[i].revision != w->revision)
            give_things(w, i);
    }
}

/* Returns the node that owns the thing for the store, and works on it; SIZE_MAX: none. */
static inline size_t world_owner(const struct world *w, size_t thing)
{
    size_t owner = SIZE_MAX;

    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct process *p = &w->nodes[i];

        if (!p->is_alive || p->works[thing].state == WORK_NONE)
            continue;
        if (owner != SIZE_MAX || p->works[thing].state != WORK_WORKS ||
            p->works[thing].term != w->things[thing].term)
            return SIZE_MAX;
        owner = i;
    }
    return owner;
}

/* False, with w->waits: a node is not normal, and says why. */
static inline bool world_is_normal(struct world *w)
{
    struct buf text = {0};
    bool normal = true;

    for (size_t i = 0; normal && i < w->n_nodes; i++) {
        const struct process *p = &w->nodes[i];

        if (p->is_alive && !barrier_is_normal(p->machine)) {
            normal = false;
            if (!barrier_waits_for(p->machine, &text))
                buf_append(&text, STR("it does not say why"));
            snprintf(w->waits, sizeof(w->waits), "%s %s", p->id, text.ptr);
        }
    }
    buf_free(&text);
    return normal;
}

/* Runs until all are normal, at most so long. Returns whether they are. */
static inline bool world_settle(struct world *w, int64_t ms)
{
    const int64_t end = w->now_ms + ms;

    while (!world_is_normal(w)) {
        if (w->now_ms >= end)
            return false;
        world_run(w, 100);
    }
    return true;
}

#endif
