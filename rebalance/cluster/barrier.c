#include "config.h"

#include "rebalance/cluster/barrier.h"

#include "rebalance/cluster/barrier_parts.h"
#include "src/base/arena.h"
#include "src/base/mem.h"

#include <stdlib.h>

static void set_buf(struct buf *to, struct str text)
{
    buf_clear(to);
    buf_append(to, text);
}

static void free_node(struct barrier_node *node)
{
    buf_free(&node->id);
    node_data_free(&node->data);
    node_data_free(&node->written);
}

static void take_state(struct barrier *b, int64_t version)
{
    b->has_state = true;
    b->state_version = version;
    b->state_ms = b->now_ms;
}

/* Throws the cluster away: our session has expired, so others may own what was ours. */
static void lose(struct barrier *b)
{
    barrier_work_halt(b);
    b->link = LINK_NONE;
    b->lock = LOCK_NONE;
    b->phase = PHASE_NONE;
    b->is_registered = b->is_registering = false;
    b->mine.is_known = b->mine.is_reading = b->mine.is_writing = false;
    node_data_free(&b->mine.data);
    b->answered = 0;
    name_set_clear(&b->refused);
    b->has_nodes = b->has_state = b->is_state_reading = b->is_state_writing = false;
}

/* Whatever was read before may be old: nothing is begun until it is read again. */
static void doubt(struct barrier *b)
{
    b->mine.is_known = b->has_state = false;
    for (size_t i = 0; i < b->n_nodes; i++)
        b->nodes[i].is_known = b->nodes[i].is_reading = b->nodes[i].is_gone = false;
    if (b->phase != PHASE_NONE)
        barrier_lead_from(b, PHASE_GATHER);
    if (b->is_registered)
        barrier_read(b, &b->mine);
    barrier_read_state(b);
}

/* No answer comes any more to what was asked before. */
static void forget_writes(struct barrier *b)
{
    b->mine.is_writing = b->is_state_writing = b->is_registering = b->wish.is_written = false;
    for (size_t i = 0; i < b->n_nodes; i++)
        b->nodes[i].is_writing = false;
}

static void register_us(struct barrier *b)
{
    struct node_data *d = &b->mine.written;
    struct buf text = {0};
    struct str copy;

    b->retry_ms = 0; /* what is new is ready */
    node_data_free(d);
    set_buf(&d->id, buf_str(&b->id));
    set_buf(&d->name, buf_str(&b->name));
    set_buf(&d->version, buf_str(&b->version));
    d->started_ms = (uint64_t)b->options.started_ms;
    d->status = NODE_CLEAN_OK;
    node_data_format(&text, d);
    copy = barrier_text(b, buf_str(&text));
    barrier_add(b, BARRIER_REGISTER)->text = copy;
    b->is_registering = b->mine.is_writing = true;
    buf_free(&text);
}

static void on_time(struct barrier *b, const struct barrier_event *e)
{
    (void)e;
    if (b->link == LINK_SUSPENDED && b->now_ms >= b->heard_ms + b->options.suspend_ms)
        barrier_work_halt(b);
}

static void on_connected(struct barrier *b, const struct barrier_event *e)
{
    if (e->is_new)
        lose(b);
    b->link = LINK_CONNECTED;
    forget_writes(b);
    doubt(b);
    if (!b->is_registered)
        register_us(b);
}

static void on_suspended(struct barrier *b, const struct barrier_event *e)
{
    if (b->link != LINK_CONNECTED)
        return;
    b->link = LINK_SUSPENDED;
    b->heard_ms = e->heard_ms;
    on_time(b, e);
}

static void on_lost(struct barrier *b, const struct barrier_event *e)
{
    (void)e;
    lose(b);
}

static int order_of_ids(const void *a, const void *b)
{
    return str_order(*(const struct str *)a, *(const struct str *)b);
}

/* Keeps what is known of those that stay. */
static void on_nodes(struct barrier *b, const struct barrier_event *e)
{
    struct barrier_node *nodes = mem_alloc(e->n + 1, sizeof(*nodes));
    struct str *ids = mem_alloc(e->n + 1, sizeof(*ids));
    size_t n = 0, n_kept = 0;

    if (e->n > 0) {
        memcpy(ids, e->list, e->n * sizeof(*ids));
        qsort(ids, e->n, sizeof(*ids), order_of_ids);
    }
    for (size_t i = 0; i < e->n; i++) {
        struct barrier_node *old;

        if (i > 0 && str_equal(ids[i], ids[i - 1]))
            continue;
        old = barrier_find(b, ids[i]);
        if (old != NULL) {
            nodes[n] = *old;
            nodes[n].is_gone = false;
            n_kept++;
            old->data = old->written = (struct node_data){0};
            set_buf(&nodes[n].id, ids[i]);
            old->id = (struct buf){0};
            buf_append(&old->id, ids[i]);
        } else {
            set_buf(&nodes[n].id, ids[i]);
        }
        n++;
    }
    if (!b->has_nodes || n_kept != n || n != b->n_nodes)
        b->nodes_ms = b->now_ms;
    for (size_t i = 0; i < b->n_nodes; i++)
        free_node(&b->nodes[i]);
    free(b->nodes);
    free(ids);
    b->nodes = nodes;
    b->n_nodes = n;
    b->has_nodes = true;
}

/* Our own node is gone though our session lives: somebody deleted it, and others take what it
 * had. */
static void lose_our_node(struct barrier *b)
{
    barrier_work_halt(b);
    b->answered = 0;
    b->is_registered = false;
    b->mine.is_known = false;
    if (!b->is_registering)
        register_us(b);
}

/* Data that nobody can read is our own last data, or that of a node that has just come. */
static void take_data(struct barrier *b, struct barrier_node *node, struct str text)
{
    struct node_data data = {0};
    struct err err;

    if (node_data_parse(&data, text, &err) &&
        str_equal(buf_str(&data.id), buf_str(&node->id))) {
        node_data_free(&node->data);
        node->data = data;
        return;
    }
    node_data_free(&data);
    if (node == &b->mine && node->data.id.len > 0) {
        (void)barrier_write(b, node, &node->data);
        return;
    }
    node_data_free(&node->data);
    set_buf(&node->data.id, buf_str(&node->id));
    node->data.status = NODE_CLEAN_OK;
}

static void on_node(struct barrier *b, const struct barrier_event *e)
{
    const bool is_ours = str_equal(e->node, buf_str(&b->id));
    struct barrier_node *node = is_ours ? &b->mine : barrier_find(b, e->node);

    if (node == NULL || e->token != node->token || !node->is_reading)
        return;
    node->is_reading = false;
    node->is_gone = e->version < 0;
    if (node->is_gone) {
        node->is_known = false;
        if (is_ours)
            lose_our_node(b);
        return;
    }
    if (is_ours)
        b->is_registered = true;
    node->is_known = true;
    node->version = e->version;
    take_data(b, node, e->text);
}

static void on_node_changed(struct barrier *b, const struct barrier_event *e)
{
    const bool is_ours = str_equal(e->node, buf_str(&b->id));
    struct barrier_node *node = is_ours ? &b->mine : barrier_find(b, e->node);

    if (node != NULL && b->link == LINK_CONNECTED &&
        (is_ours ? b->is_registered : b->phase != PHASE_NONE))
        barrier_read(b, node);
}

static void on_state(struct barrier *b, const struct barrier_event *e)
{
    const uint64_t session = b->state.session;
    const bool was_running = b->state.is_running, had = b->has_state;
    const int64_t since = b->state_ms;
    struct err err;

    if (e->token != b->state_token || !b->is_state_reading)
        return;
    b->is_state_reading = false;
    (void)!cluster_state_parse(&b->state, e->text, &err); /* unreadable: as before the first */
    take_state(b, e->version);
    if (had && session == b->state.session && was_running == b->state.is_running)
        b->state_ms = since;
}

static void on_state_changed(struct barrier *b, const struct barrier_event *e)
{
    (void)e;
    if (b->link == LINK_CONNECTED)
        barrier_read_state(b);
}

static void on_written(struct barrier *b, const struct barrier_event *e)
{
    const bool is_ours = str_equal(e->node, buf_str(&b->id));
    struct barrier_node *node = is_ours ? &b->mine : barrier_find(b, e->node);

    if (node == NULL || !node->is_writing)
        return;
    node->is_writing = false;
    if (is_ours && b->is_registering) {
        b->is_registering = false;
        b->is_registered = true;
        barrier_read(b, node);
        return;
    }
    if (e->answer != BARRIER_OK) {
        node->is_known = false;
        barrier_read(b, node);
    } else if (node->is_known && e->version > node->version) {
        node->version = e->version;
        node_data_copy(&node->data, &node->written);
    }
}

static void on_state_written(struct barrier *b, const struct barrier_event *e)
{
    if (!b->is_state_writing)
        return;
    b->is_state_writing = false;
    if (e->answer != BARRIER_OK) {
        b->has_state = b->wish.is_written = false;
        barrier_read_state(b);
    } else if (b->has_state && e->version > b->state_version) {
        cluster_state_copy(&b->state, &b->state_written);
        take_state(b, e->version);
    }
}

/* A lock that we do not wait for any more must not stay ours. */
static void on_lock_granted(struct barrier *b, const struct barrier_event *e)
{
    (void)e;
    if (b->lock == LOCK_NONE)
        (void)barrier_add(b, BARRIER_LEAVE);
    if (b->lock != LOCK_QUEUED)
        return;
    b->lock = LOCK_HELD;
    b->lock_ms = b->now_ms;
    name_set_clear(&b->silent);
    for (size_t i = 0; i < b->n_nodes; i++)
        b->nodes[i].is_known = b->nodes[i].is_reading = b->nodes[i].is_gone = false;
    barrier_lead_from(b, PHASE_GATHER);
}

static void on_lock_lost(struct barrier *b, const struct barrier_event *e)
{
    (void)e;
    b->lock = LOCK_NONE;
    b->phase = PHASE_NONE;
    (void)barrier_add(b, BARRIER_LEAVE); /* if this was said late, or twice */
}

static void free_things(struct barrier *b)
{
    for (size_t i = 0; i < b->n_things; i++) {
        buf_free(&b->things[i].name);
        buf_free(&b->things[i].group);
    }
    free(b->things);
}

static void on_things(struct barrier *b, const struct barrier_event *e)
{
    free_things(b);
    b->things = mem_alloc(e->n + 1, sizeof(*b->things));
    b->n_things = e->n;
    for (size_t i = 0; i < e->n; i++) {
        set_buf(&b->things[i].name, e->things[i].name);
        set_buf(&b->things[i].group, e->things[i].group);
        b->things[i].is_interrupted = e->things[i].is_interrupted;
    }
    b->has_things = true;
    b->revision = e->revision;
}

static void on_started(struct barrier *b, const struct barrier_event *e)
{
    barrier_work_started(b, e->thing);
}

static void on_stopped(struct barrier *b, const struct barrier_event *e)
{
    barrier_work_stopped(b, e->thing);
}

static void on_refused(struct barrier *b, const struct barrier_event *e)
{
    if (barrier_work_refused(b, e->thing))
        (void)name_set_add(&b->refused, e->thing);
}

static void (*const handlers[])(struct barrier *, const struct barrier_event *) = {
    [BARRIER_TIME] = on_time,
    [BARRIER_CONNECTED] = on_connected,
    [BARRIER_SUSPENDED] = on_suspended,
    [BARRIER_LOST] = on_lost,
    [BARRIER_NODES] = on_nodes,
    [BARRIER_NODE] = on_node,
    [BARRIER_NODE_CHANGED] = on_node_changed,
    [BARRIER_STATE] = on_state,
    [BARRIER_STATE_CHANGED] = on_state_changed,
    [BARRIER_WRITTEN] = on_written,
    [BARRIER_STATE_WRITTEN] = on_state_written,
    [BARRIER_LOCK_GRANTED] = on_lock_granted,
    [BARRIER_LOCK_LOST] = on_lock_lost,
    [BARRIER_THINGS] = on_things,
    [BARRIER_STARTED] = on_started,
    [BARRIER_STOPPED] = on_stopped,
    [BARRIER_REFUSED] = on_refused,
    [BARRIER_ASKED] = barrier_ask,
};

/* We were not called for so long that our session may have expired: the process was stopped, or
 * its thread was held up. */
static void notice_sleep(struct barrier *b, int64_t now_ms)
{
    const bool slept = now_ms - b->now_ms >= b->options.suspend_ms;

    b->now_ms = now_ms > b->now_ms ? now_ms : b->now_ms;
    if (!slept || b->link != LINK_CONNECTED)
        return;
    barrier_work_halt(b);
    doubt(b);
}

void barrier_take(struct barrier *b, const struct barrier_event *event,
                  struct barrier_actions *out)
{
    out->n = 0;
    if (out->texts != NULL)
        arena_reset(out->texts);
    b->out = out;
    notice_sleep(b, event->now_ms);
    handlers[event->kind](b, event);
    on_time(b, event);
    barrier_self(b);
    barrier_ask_advance(b);
    barrier_need_advance(b);
    barrier_lead(b);
    b->out = NULL;
}

struct barrier *barrier_new(const struct barrier_options *options)
{
    struct barrier *b = mem_alloc(1, sizeof(*b));

    b->options = *options;
    set_buf(&b->id, options->id);
    set_buf(&b->name, options->name);
    set_buf(&b->version, options->version);
    set_buf(&b->mine.id, options->id);
    return b;
}

void barrier_free(struct barrier *b)
{
    if (b == NULL)
        return;
    buf_free(&b->id);
    buf_free(&b->name);
    buf_free(&b->version);
    free_node(&b->mine);
    name_set_free(&b->works.starting);
    name_set_free(&b->works.running);
    name_set_free(&b->works.stopping);
    name_set_free(&b->works.halting);
    name_set_free(&b->refused);
    for (size_t i = 0; i < b->n_nodes; i++)
        free_node(&b->nodes[i]);
    free(b->nodes);
    cluster_state_free(&b->state);
    cluster_state_free(&b->state_written);
    free_things(b);
    barrier_plan_free(b);
    name_set_free(&b->silent);
    buf_free(&b->wish.node);
    buf_free(&b->wish.thing);
    free(b);
}

uint64_t barrier_revision(const struct barrier *b)
{
    return b->revision;
}

const struct cluster_state *barrier_state(const struct barrier *b)
{
    return &b->state;
}

int64_t barrier_state_version(const struct barrier *b)
{
    return b->state_version;
}

uint64_t barrier_session(const struct barrier *b)
{
    const uint64_t mine = b->mine.data.session;

    return b->state.session > mine ? b->state.session : mine;
}
