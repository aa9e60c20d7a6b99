#include "config.h"

#include "rebalance/cluster/barrier_parts.h"
#include "rebalance/cluster/cluster_plan.h"

/* The wait for nodes to settle is at most so many times settle_ms after the lock was granted.
 */
#define SETTLE_MAX 5

void barrier_lead_from(struct barrier *b, enum barrier_phase phase)
{
    b->phase = phase;
    b->phase_ms = b->now_ms;
}

static void release(struct barrier *b)
{
    b->phase = PHASE_NONE;
    b->lock = LOCK_NONE;
    name_set_clear(&b->silent);
    (void)barrier_add(b, BARRIER_LEAVE);
}

/* A node that is gone and still listed is waited for: another list follows. */
static void read_unknown(struct barrier *b, struct barrier_node *node)
{
    if (!node->is_known && !node->is_reading && !node->is_gone && node != &b->mine)
        barrier_read(b, node);
}

/* Reads what is not known. Returns true if all of it is. */
static bool gather(struct barrier *b)
{
    bool all = b->has_nodes && b->has_state && b->has_things && b->mine.is_known;

    if (!b->has_state && !b->is_state_reading && !b->is_state_writing)
        barrier_read_state(b);
    for (size_t i = 0; b->has_nodes && i < b->n_nodes; i++) {
        struct barrier_node *node = barrier_at(b, i);

        all = all && node->is_known && !node->is_writing;
        read_unknown(b, node);
    }
    return all;
}

static int64_t settled_at(const struct barrier *b)
{
    const int64_t at = b->nodes_ms + b->options.settle_ms;
    const int64_t last = b->lock_ms + SETTLE_MAX * b->options.settle_ms;

    return at < last ? at : last;
}

static bool is_left_out(const struct barrier *b, const struct barrier_node *node)
{
    return name_set_has(&b->silent, buf_str(&node->id)) ||
           cluster_plan_leaves_out(&b->state, &node->data);
}

static void choose_members(struct barrier *b, struct cluster_state *next)
{
    name_set_clear(&next->members);
    name_set_clear(&next->left_out);
    for (size_t i = 0; i < b->n_nodes; i++) {
        const struct barrier_node *node = barrier_at(b, i);

        (void)name_set_add(is_left_out(b, node) ? &next->left_out : &next->members,
                           buf_str(&node->id));
    }
}

/* Sessions rise even if somebody deleted the state, or our own last one was never read. */
static uint64_t next_session(struct barrier *b)
{
    uint64_t newest = b->state.session > b->session ? b->state.session : b->session;

    for (size_t i = 0; i < b->n_nodes; i++) {
        const uint64_t session = barrier_at(b, i)->data.session;

        newest = session > newest ? session : newest;
    }
    return newest + 1;
}

static bool is_noted(const struct barrier *b, const struct cluster_state *next)
{
    const struct cluster_state *s = &b->state;

    return name_set_equal(&s->members, &next->members) &&
           name_set_equal(&s->left_out, &next->left_out) && s->revision == next->revision &&
           s->planned == next->planned;
}

/* Plans, and begins a rebalance, notes that none is needed, or has nothing to do at all. */
static void decide(struct barrier *b)
{
    struct cluster_state next = {0};

    cluster_state_copy(&next, &b->state);
    choose_members(b, &next);
    next.revision = b->revision;
    next.planned = next.asked;
    barrier_plan(b, &next.members);
    if (!b->state.is_running && b->state.session > 0 && barrier_plan_is_kept(b)) {
        if (is_noted(b, &next)) {
            release(b);
        } else {
            b->session = b->state.session;
            barrier_write_state(b, &next);
            barrier_lead_from(b, PHASE_END);
        }
    } else {
        b->session = next.session = next_session(b);
        next.is_running = true;
        buf_clear(&next.leader);
        buf_append(&next.leader, buf_str(&b->id));
        barrier_write_state(b, &next);
        barrier_lead_from(b, PHASE_BEGIN);
    }
    cluster_state_free(&next);
}

static void lead_gather(struct barrier *b)
{
    if (b->has_state && b->has_things && barrier_is_behind(b))
        release(b);
    else if (gather(b) && !b->is_state_writing && b->now_ms >= settled_at(b))
        decide(b);
    else if (b->now_ms - b->phase_ms >= b->options.stop_limit_ms)
        release(b); /* another node may be able to */
}

static bool is_ours(const struct barrier *b)
{
    return b->state.session == b->session &&
           str_equal(buf_str(&b->state.leader), buf_str(&b->id));
}

/* Somebody else leads a newer rebalance, so the lock is not ours, whatever we were told. */
static bool is_superseded(const struct barrier *b)
{
    return b->state.session >= b->session && !is_ours(b) && b->state.is_running;
}

/* A lost answer is found by what the state says. */
static void lead_begin(struct barrier *b)
{
    if (!b->has_state || b->is_state_writing)
        return;
    if (is_superseded(b))
        release(b);
    else
        barrier_lead_from(b, is_ours(b) && b->state.is_running ? PHASE_CLEAN : PHASE_GATHER);
}

static bool is_any_gone(struct barrier *b)
{
    for (size_t i = 0; i < b->state.members.n; i++)
        if (barrier_find(b, b->state.members.list[i]) == NULL)
            return true;
    return false;
}

/* Tells whether the node has done what this phase is about. */
bool barrier_has_answered(const struct barrier *b, const struct barrier_node *node)
{
    const struct node_data *d = &node->data;

    if (!node->is_known || d->session != b->session)
        return false;
    return b->phase == PHASE_CLEAN ? d->status == NODE_CLEAN_OK
                                   : d->status == NODE_FINISH || d->status == NODE_NORMAL;
}

static void command(struct barrier *b, struct barrier_node *node, enum node_status status,
                    const struct name_set *jobs)
{
    struct node_data next = {0};

    node_data_copy(&next, &node->data);
    next.cloud = CLOUD_REBALANCING;
    next.status = status;
    next.session = b->session;
    name_set_copy(&next.jobs, jobs);
    (void)barrier_write(b, node, &next);
    node_data_free(&next);
}

/* Returns false if the rebalance cannot go on with this node as it is. */
static bool clean_node(struct barrier *b, struct barrier_node *node)
{
    const struct node_data *d = &node->data;
    struct name_set keep = {0};

    if (d->session > b->session)
        return false;
    if (d->session == b->session && d->status == NODE_CLEAN)
        return true;
    barrier_plan_keep(b, node, &keep);
    command(b, node, NODE_CLEAN, &keep);
    name_set_free(&keep);
    return true;
}

static bool init_node(struct barrier *b, struct barrier_node *node)
{
    const struct node_data *d = &node->data;
    const struct name_set *planned = barrier_planned(b, buf_str(&node->id));

    if (d->session != b->session || d->status == NODE_CLEAN)
        return false; /* it began anew, or somebody leads a newer rebalance */
    if (planned == NULL)
        return false; /* we planned for others */
    if (d->status == NODE_CLEAN_OK)
        command(b, node, NODE_INIT, planned);
    return true;
}

/* Tells every member what to do. Returns how many have not done it; SIZE_MAX: begin anew. */
static size_t tell_members(struct barrier *b)
{
    size_t n_silent = 0;

    for (size_t i = 0; i < b->n_nodes; i++) {
        struct barrier_node *node = barrier_at(b, i);

        if (!barrier_is_member(b, buf_str(&node->id)) || barrier_has_answered(b, node))
            continue;
        n_silent++;
        read_unknown(b, node);
        if (!node->is_known || node->is_writing)
            continue;
        if (!(b->phase == PHASE_CLEAN ? clean_node : init_node)(b, node))
            return SIZE_MAX;
    }
    return n_silent;
}

/* Notes whom to leave out. Returns how many members answered. */
static size_t note_silent(struct barrier *b)
{
    size_t n = 0;

    name_set_clear(&b->silent);
    for (size_t i = 0; i < b->state.members.n; i++) {
        const struct str id = b->state.members.list[i];
        struct barrier_node *node =
            str_equal(id, buf_str(&b->id)) ? &b->mine : barrier_find(b, id);

        if (node != NULL && barrier_has_answered(b, node))
            n += b->phase == PHASE_CLEAN || node->data.jobs.n > 0;
        else
            (void)name_set_add(&b->silent, id);
    }
    return n;
}

/* If no node can start anything, the nodes are not to blame: each goes on trying by itself. */
static void leave_out(struct barrier *b)
{
    const bool any_answered = note_silent(b) > 0;

    if (b->phase == PHASE_INIT && !any_answered) {
        name_set_clear(&b->silent);
        barrier_lead_from(b, PHASE_END);
    } else {
        barrier_lead_from(b, PHASE_GATHER);
    }
}

static void lead_members(struct barrier *b)
{
    const int64_t limit =
        b->phase == PHASE_CLEAN ? b->options.stop_limit_ms : b->options.start_limit_ms;
    size_t n_silent;

    if (!b->has_state)
        return;
    if (is_superseded(b)) {
        release(b);
        return;
    }
    n_silent = is_ours(b) && !is_any_gone(b) ? tell_members(b) : SIZE_MAX;
    if (n_silent == SIZE_MAX)
        barrier_lead_from(b, PHASE_GATHER);
    else if (n_silent == 0)
        barrier_lead_from(b, b->phase == PHASE_CLEAN ? PHASE_INIT : PHASE_END);
    else if (b->now_ms - b->phase_ms >= limit)
        leave_out(b);
}

/* What came meanwhile, such as a node that joined, is done before the lock goes to another. */
static void lead_end(struct barrier *b)
{
    struct cluster_state next = {0};

    if (!b->has_state || b->is_state_writing)
        return;
    if (b->state.session != b->session) {
        barrier_lead_from(b, PHASE_GATHER);
        return;
    }
    if (b->state.is_running) {
        cluster_state_copy(&next, &b->state);
        next.is_running = false;
        barrier_write_state(b, &next);
        cluster_state_free(&next);
        return;
    }
    name_set_clear(&b->silent);
    if (barrier_needs(b) != NEED_NOTHING)
        barrier_lead_from(b, PHASE_GATHER);
    else
        release(b);
}

static void (*const leads[])(struct barrier *) = {
    [PHASE_GATHER] = lead_gather, [PHASE_BEGIN] = lead_begin, [PHASE_CLEAN] = lead_members,
    [PHASE_INIT] = lead_members,  [PHASE_END] = lead_end,
};

void barrier_lead(struct barrier *b)
{
    enum barrier_phase before = PHASE_NONE;

    if (b->link != LINK_CONNECTED || b->lock != LOCK_HELD)
        return;
    while (b->phase != PHASE_NONE && b->phase != before) {
        before = b->phase;
        leads[b->phase](b);
    }
}
