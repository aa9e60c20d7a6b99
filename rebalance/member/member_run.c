#include "config.h"

#include "rebalance/coordination/coordination.h"
#include "rebalance/member/member_parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

#include <string.h>

#define LOCK     STR("rebalance")
#define STATE    MEMBER_STATE
#define STORE    STR("store")
#define REST_MS  1000 /* at most, between looks at the coordination */
#define AGAIN_MS 300  /* before a call that failed is made, or answered, again */
#define SILENT_MS \
    3000 /* after the start, before a coordination that does not answer is logged */

/* ---- into the barrier ---- */

static void perform(struct member *m, const struct barrier_action *a);

static void feed(struct member *m, struct barrier_event *e)
{
    e->now_ms = clock_mono_ms();
    barrier_take(m->barrier, e, &m->actions);
    for (size_t i = 0; i < m->actions.n; i++)
        perform(m, &m->actions.list[i]);
}

/* Answers go in only after all actions of an event were performed. */
static void settle(struct member *m)
{
    struct member_note *n;

    while ((n = notes_take(m->answers, INT64_MAX)) != NULL) {
        feed(m, &n->event);
        member_note_free(n);
    }
}

static void say(struct member *m, struct barrier_event e)
{
    feed(m, &e);
    settle(m);
}

static void answer(struct member *m, struct barrier_event e)
{
    notes_put(m->answers, &e, 0);
}

static void answer_later(struct member *m, struct barrier_event e)
{
    notes_put(m->later, &e, clock_mono_ms() + AGAIN_MS);
}

/* ---- actions: the coordination ---- */

static enum barrier_answer answer_of(enum written w)
{
    static const enum barrier_answer answers[] = {
        [WRITTEN_DONE] = BARRIER_OK,
        [WRITTEN_DIFFERS] = BARRIER_DIFFERS,
        [WRITTEN_GONE] = BARRIER_GONE,
        [WRITTEN_FAILED] = BARRIER_UNKNOWN,
    };

    return answers[w];
}

/* A call that failed as the connection is lost is explained by the state that follows. */
static void note_trouble(struct member *m, const struct err *err, const char *what)
{
    if (err->kind == ERR_RETRY || strcmp(err->msg, m->trouble.msg) == 0)
        return;
    m->trouble = *err;
    log_failure(LOG_ERROR, err, "the coordination refuses a call", KV("call", what));
}

/* A node of our id that another session has is not ours. */
static void read_node(struct member *m, struct str id, uint64_t token)
{
    const bool is_ours = str_equal(id, buf_str(&m->id));
    struct barrier_event e = {.kind = BARRIER_NODE, .node = id, .token = token};
    struct coordination_node n = {0};
    struct err err = {0};
    bool found = false;

    if (!coordination_read_node(m->c, id, &n, &found, &err)) {
        note_trouble(m, &err, "read a node");
        answer_later(m, e);
        return;
    }
    found = found && (!is_ours || n.session == m->session);
    e.text = n.data;
    e.version = found ? n.version : -1;
    answer(m, e);
}

static void read_state(struct member *m, uint64_t token)
{
    struct barrier_event e = {.kind = BARRIER_STATE, .token = token};
    struct buf text = {0};
    struct err err = {0};
    int32_t version;

    if (coordination_read_value(m->c, STATE, &text, &version, &err)) {
        e.text = buf_str(&text);
        e.version = version;
        answer(m, e);
    } else {
        note_trouble(m, &err, "read the cluster's state");
        answer_later(m, e);
    }
    buf_free(&text);
}

/* Whoever is refused tries again and again, but with a pause. */
static void write_text(struct member *m, const struct barrier_action *a)
{
    const bool is_node = a->kind == BARRIER_WRITE;
    const struct coordination_write w = {.what =
                                             is_node ? COORDINATION_NODE : COORDINATION_VALUE,
                                         .name = is_node ? a->node : STATE,
                                         .data = a->text,
                                         .version = (int32_t)a->version};
    struct err err = {0};
    const enum written written = coordination_write(m->c, &w, &err);
    const struct barrier_event e = {.kind = is_node ? BARRIER_WRITTEN : BARRIER_STATE_WRITTEN,
                                    .node = a->node,
                                    .answer = answer_of(written),
                                    .version = a->version + 1};

    if (is_node)
        FAILPOINT(node_data_written);
    else
        FAILPOINT(cluster_state_written);
    if (written == WRITTEN_FAILED) {
        note_trouble(m, &err, is_node ? "write a node" : "write the cluster's state");
        answer_later(m, e);
    } else {
        answer(m, e);
    }
}

/*
 * All that use a path of the coordination must use one store: the first node of a cluster
 * writes which, and nobody with another one becomes a node.
 */
static bool is_our_path(struct member *m, struct err *err)
{
    struct buf text = {0};
    int32_t version;
    bool ours = coordination_read_value(m->c, STORE, &text, &version, err);

    if (ours && version == COORDINATION_ABSENT) {
        const struct coordination_write w = {.what = COORDINATION_VALUE,
                                             .name = STORE,
                                             .data = buf_str(&m->store),
                                             .version = COORDINATION_ABSENT};

        ours = coordination_write(m->c, &w, err) == WRITTEN_DONE;
    } else if (ours && !str_equal(buf_str(&text), buf_str(&m->store))) {
        ours = err_set(err, ERR_REJECT,
                       "daemons with another store are a cluster in this path of ZooKeeper; "
                       "fix: give this daemon the same store, or another path in coordination");
    }
    buf_free(&text);
    return ours;
}

/* Until it works: the node of our last run may still be there, for as long as its session. */
static void try_registration(struct member *m)
{
    struct err err = {0};

    if (m->registering.len == 0)
        return;
    if (!is_our_path(m, &err) ||
        !coordination_join(m->c, buf_str(&m->id), buf_str(&m->registering), &err)) {
        if (strcmp(err.msg, m->trouble.msg) != 0)
            log_failure(LOG_WARN, &err, "this node cannot be registered yet");
        m->trouble = err;
        return;
    }
    FAILPOINT(node_registered);
    m->trouble = (struct err){0};
    buf_clear(&m->registering);
    answer(m, (struct barrier_event){
                  .kind = BARRIER_WRITTEN, .node = buf_str(&m->id), .answer = BARRIER_OK});
}

static void begin_registration(struct member *m, struct str text)
{
    buf_clear(&m->registering);
    buf_append(&m->registering, text);
    try_registration(m);
}

/* The queue is entered, or left, when that can be: the coordination keeps the place. */
static void try_lock(struct member *m)
{
    struct err err = {0};

    if (!m->asks_lock)
        return;
    m->asks_lock = !(m->wants_lock ? coordination_lock(m->c, LOCK, &err)
                                   : coordination_unlock(m->c, LOCK, &err));
    if (m->asks_lock)
        note_trouble(m, &err, "queue for the lock");
}

static void want_lock(struct member *m, bool wants)
{
    m->wants_lock = wants;
    m->asks_lock = true;
    try_lock(m);
}

/* ---- actions: the work ---- */

static void order(struct member *m, struct str thing, enum cluster_wish wish)
{
    orders_put(m->orders, thing, wish);
    m->changed(m->ctx, thing, wish);
}

static void show(struct member *m)
{
    struct coordination_state s;
    struct buf waits = {0};
    bool is_normal;

    coordination_state(m->c, &s);
    (void)barrier_waits_for(m->barrier, &waits);
    lock_acquire(&m->lock);
    buf_free(&m->view.waits);
    m->view.waits = waits;
    m->view.is_connected = s.status == COORDINATION_CONNECTED;
    is_normal = barrier_is_normal(m->barrier);
    if (m->view.normal_ms == 0 || m->view.is_normal != is_normal)
        m->view.normal_ms = clock_mono_ms();
    m->view.is_normal = is_normal;
    m->view.is_open_to_all = s.is_open_to_all;
    name_set_copy(&m->view.evacuated, &barrier_state(m->barrier)->evacuated);
    m->view.state_version = barrier_state_version(m->barrier);
    m->view.session = barrier_session(m->barrier);
    m->view.revision = barrier_revision(m->barrier);
    m->view.trouble = m->view.is_connected ? m->trouble : s.why;
    m->view.since_ms = s.since_ms;
    m->view.timeout_ms = s.timeout_ms;
    lock_release(&m->lock);
}

/* Whoever asked sees a view that has the wish: the rest of this turn may take a while. */
static void take_answer(struct member *m, const struct barrier_action *a)
{
    show(m);
    lock_acquire(&m->lock);
    m->answered = a->token;
    m->is_done = a->is_done;
    buf_clear(&m->answer);
    buf_append(&m->answer, a->text);
    pthread_cond_broadcast(&m->answered_cond);
    lock_release(&m->lock);
}

static void perform(struct member *m, const struct barrier_action *a)
{
    switch (a->kind) {
    case BARRIER_REGISTER: begin_registration(m, a->text); break;
    case BARRIER_READ: read_node(m, a->node, a->token); break;
    case BARRIER_READ_STATE: read_state(m, a->token); break;
    case BARRIER_WRITE:
    case BARRIER_WRITE_STATE: write_text(m, a); break;
    case BARRIER_ENTER: want_lock(m, true); break;
    case BARRIER_LEAVE: want_lock(m, false); break;
    case BARRIER_START: order(m, a->thing, CLUSTER_WORK); break;
    case BARRIER_STOP: order(m, a->thing, CLUSTER_GIVE_BACK); break;
    case BARRIER_HALT: order(m, a->thing, CLUSTER_END); break;
    case BARRIER_ANSWER: take_answer(m, a); break;
    }
}

/* ---- what the coordination tells ---- */

static void show_nodes(struct member *m, const struct str *ids, size_t n)
{
    lock_acquire(&m->lock);
    name_set_clear(&m->view.live);
    for (size_t i = 0; i < n; i++)
        (void)name_set_add(&m->view.live, ids[i]);
    lock_release(&m->lock);
}

static bool is_in(const struct str *ids, size_t n, struct str id)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(ids[i], id))
            return true;
    return false;
}

/* Only this thread changes the list that is shown. */
static void log_nodes(const struct member *m, const struct str *ids, size_t n)
{
    for (size_t i = 0; i < m->view.live.n; i++)
        if (!is_in(ids, n, m->view.live.list[i]))
            log_warn("a node is gone", KV("node", m->view.live.list[i]));
    for (size_t i = 0; i < n; i++)
        if (!name_set_has(&m->view.live, ids[i]))
            log_info("a node has come", KV("node", ids[i]));
}

static void list_nodes(struct member *m)
{
    const struct str *ids;
    struct err err = {0};
    size_t n;

    m->wants_list = !coordination_list(m->c, &ids, &n, &err);
    if (m->wants_list) {
        note_trouble(m, &err, "list the nodes");
        return;
    }
    log_nodes(m, ids, n);
    show_nodes(m, ids, n);
    say(m, (struct barrier_event){.kind = BARRIER_NODES, .list = ids, .n = n});
}

/* What was asked for over another connection is asked for again. */
static void forget_later(struct member *m)
{
    struct member_note *n;

    while ((n = notes_take(m->later, INT64_MAX)) != NULL)
        member_note_free(n);
}

static void on_connected(struct member *m, uint64_t session)
{
    const bool is_new = session != m->session;

    forget_later(m);
    m->trouble = (struct err){0};
    m->session = session;
    log_info("the coordination answers", KV("new_session", is_new));
    say(m, (struct barrier_event){.kind = BARRIER_CONNECTED, .is_new = is_new});
    list_nodes(m);
}

static void on_lost(struct member *m)
{
    if (m->session != 0)
        log_warn("the session at the coordination is over, and all work with it");
    forget_later(m);
    m->session = 0;
    m->asks_lock = m->wants_list = false;
    buf_clear(&m->registering);
    say(m, (struct barrier_event){.kind = BARRIER_LOST});
}

/* Work ends at 6 tenths of the time-out that the servers granted, whatever we asked for. */
static void on_silence(struct member *m, const struct coordination_state *s)
{
    const int64_t end_ms = s->dead_ms - (int64_t)s->timeout_ms * 4 / 10;

    if (s->status == COORDINATION_REFUSED)
        log_failure(LOG_ERROR, &s->why, "the coordination refuses this node");
    else if (s->status == COORDINATION_SUSPENDED)
        log_failure(LOG_WARN, &s->why, "the coordination does not answer, and work ends soon",
                    KV("in_ms", end_ms > clock_mono_ms() ? end_ms - clock_mono_ms() : 0));
    say(m,
        (struct barrier_event){.kind = BARRIER_SUSPENDED, .heard_ms = end_ms - m->suspend_ms});
}

static void on_state(struct member *m)
{
    struct coordination_state s;

    coordination_state(m->c, &s);
    if (s.status == COORDINATION_CONNECTED)
        on_connected(m, s.session);
    else if (s.status == COORDINATION_LOST)
        on_lost(m);
    else
        on_silence(m, &s);
}

static void on_event(struct member *m, const struct coordination_event *e)
{
    switch (e->change) {
    case COORDINATION_STATE: on_state(m); break;
    case COORDINATION_NODES: list_nodes(m); break;
    case COORDINATION_NODE:
        say(m, (struct barrier_event){.kind = BARRIER_NODE_CHANGED, .node = e->name});
        break;
    case COORDINATION_VALUE:
        if (str_equal(e->name, STATE))
            say(m, (struct barrier_event){.kind = BARRIER_STATE_CHANGED});
        break;
    case COORDINATION_GRANTED:
        FAILPOINT(lock_granted);
        say(m, (struct barrier_event){.kind = BARRIER_LOCK_GRANTED});
        break;
    case COORDINATION_TAKEN: say(m, (struct barrier_event){.kind = BARRIER_LOCK_LOST}); break;
    }
}

/* ---- the thread ---- */

static void take_events(struct member *m)
{
    struct coordination_event e;
    struct buf name = {0};

    while (coordination_next(m->c, &e)) {
        buf_clear(&name); /* other calls overwrite the event's own */
        buf_append(&name, e.name);
        e.name = buf_str(&name);
        on_event(m, &e);
    }
    buf_free(&name);
}

static void take_inbox(struct member *m)
{
    struct member_note *n;

    while ((n = notes_take(m->inbox, INT64_MAX)) != NULL) {
        say(m, n->event);
        member_note_free(n);
    }
}

static void take_later(struct member *m)
{
    struct member_note *n;

    while ((n = notes_take(m->later, clock_mono_ms())) != NULL) {
        if (n->event.kind == BARRIER_NODE)
            read_node(m, n->event.node, n->event.token);
        else if (n->event.kind == BARRIER_STATE)
            read_state(m, n->event.token);
        else
            answer(m, n->event);
        member_note_free(n);
    }
    if (m->wants_list)
        list_nodes(m);
    try_lock(m);
    try_registration(m);
    settle(m);
}

static void turn(struct member *m)
{
    take_events(m);
    take_inbox(m);
    take_later(m);
    if (clock_mono_ms() >= barrier_due(m->barrier))
        say(m, (struct barrier_event){.kind = BARRIER_TIME});
    show(m);
    member_take_survey(m);
}

static int64_t rest_ms(const struct member *m)
{
    const bool waits = m->asks_lock || m->wants_list || m->registering.len > 0;
    const int64_t sign_ms = m->suspend_ms / 4; /* the coordination needs signs of life */
    const int64_t most = waits ? AGAIN_MS : sign_ms < REST_MS ? sign_ms : REST_MS;
    const int64_t due = barrier_due(m->barrier) - clock_mono_ms();

    return due < 1 ? 1 : due < most ? due : most;
}

/* From the start on: a change is logged anyway. */
static void log_silence(struct member *m)
{
    struct coordination_state s;

    if (m->silent_ms == 0 || (m->session == 0 && clock_mono_ms() < m->silent_ms))
        return;
    m->silent_ms = 0;
    coordination_state(m->c, &s);
    if (m->session == 0 && s.status != COORDINATION_REFUSED)
        log_failure(LOG_WARN, &s.why,
                    "the coordination does not answer: this node works on nothing until then");
}

void *member_run(void *arg)
{
    struct member *m = MAGIC_CAST(member, arg);
    uint64_t seen = 0;

    m->silent_ms = clock_mono_ms() + SILENT_MS;
    do {
        turn(m);
        log_silence(m);
    } while (!stop_rest(&m->stop, rest_ms(m), &seen));
    coordination_close(m->c);
    return NULL;
}
