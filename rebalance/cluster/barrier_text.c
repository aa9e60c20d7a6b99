#include "config.h"

#include "rebalance/cluster/barrier_parts.h"

static const char *const reasons[] = {
    [NEED_NOTHING] = "nothing",
    [NEED_ASKED] = "a person asked for it",
    [NEED_THINGS] = "the list of topics changed",
    [NEED_SELF] = "this node has come",
    [NEED_REFUSED] = "another node took what is ours",
    [NEED_GONE] = "a node is gone",
    [NEED_JOINED] = "a node has come",
    [NEED_CUT] = "this node lost the lock in the middle",
    [NEED_STUCK] = "the last rebalance does not end",
};

static int64_t limit_of(const struct barrier *b)
{
    switch (b->phase) {
    case PHASE_CLEAN: return b->phase_ms + b->options.stop_limit_ms;
    case PHASE_INIT: return b->phase_ms + b->options.start_limit_ms;
    case PHASE_NONE:
    case PHASE_GATHER:
    case PHASE_BEGIN:
    case PHASE_END: break;
    }
    return INT64_MAX;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* At least twice in suspend_ms, so that the machine notices that it was not called for so long.
 */
int64_t barrier_due(const struct barrier *b)
{
    int64_t due = b->now_ms + b->options.suspend_ms / 2;

    if (b->link == LINK_SUSPENDED && b->now_ms < b->heard_ms + b->options.suspend_ms)
        due = sooner(due, b->heard_ms + b->options.suspend_ms);
    if (b->wish.is_open)
        due = sooner(due, b->wish.until_ms);
    if (b->link != LINK_CONNECTED)
        return due;
    if (b->need != NEED_NOTHING && b->lock == LOCK_NONE)
        due = sooner(due, barrier_need_at(b));
    if (b->phase == PHASE_GATHER)
        due = sooner(due, b->now_ms + b->options.settle_ms);
    if (barrier_is_behind(b))
        due = sooner(due, barrier_behind_end(b));
    if (barrier_is_resting(b))
        due = sooner(due, b->retry_ms);
    due = sooner(due, limit_of(b));
    return due > b->now_ms ? due : b->now_ms + 1;
}

static long long seconds_to(const struct barrier *b, int64_t ms)
{
    return (long long)((ms > b->now_ms ? ms - b->now_ms : 0) + 999) / 1000;
}

static void put_limit(const struct barrier *b, struct buf *out)
{
    buf_printf(out, ", for %lld s at most", seconds_to(b, limit_of(b)));
}

/* By the name of its machine; by its id if we have not read that. */
static void put_node(const struct barrier *b, struct buf *out, struct str id)
{
    size_t at;
    struct str name = {0};

    if (barrier_lists(b, id, &at))
        name = buf_str(&barrier_seen(b, at)->data.name);
    if (name.len > 0)
        buf_append(out, name);
    else
        buf_printf(out, "node %" STR_FMT, STR_ARG(id));
}

static void put_nodes(const struct barrier *b, struct buf *out)
{
    const char *comma = "";

    buf_printf(out, "rebalance %llu waits for ", (unsigned long long)b->session);
    for (size_t i = 0; i < b->n_nodes; i++) {
        const struct barrier_node *node = barrier_seen(b, i);

        if (!barrier_is_member(b, buf_str(&node->id)) || barrier_has_answered(b, node))
            continue;
        buf_append(out, str_from(comma));
        put_node(b, out, buf_str(&node->id));
        comma = ", ";
    }
    buf_append(out, b->phase == PHASE_CLEAN ? STR(" to stop what it gives away (CLEAN_OK)")
                                            : STR(" to start what it was given (FINISH)"));
    put_limit(b, out);
}

static void put_set(struct buf *out, const char *what, const struct name_set *things)
{
    buf_printf(out, "waits for %" STR_FMT, STR_ARG(things->list[0]));
    if (things->n > 1)
        buf_printf(out, " and %zu others", things->n - 1);
    buf_printf(out, " to %s", what);
}

static bool put_lead(const struct barrier *b, struct buf *out)
{
    if (b->lock != LOCK_HELD)
        return false;
    if (b->phase == PHASE_CLEAN || b->phase == PHASE_INIT)
        put_nodes(b, out);
    else if (b->phase == PHASE_GATHER)
        buf_append(out, STR("waits for the nodes' data, and for nodes to settle"));
    else
        buf_append(out, STR("waits for the coordination to take the cluster's state"));
    return true;
}

/* Tells whether every member is evacuated, so that nothing can have an owner. */
static bool is_all_evacuated(const struct barrier *b)
{
    for (size_t i = 0; i < b->state.members.n; i++)
        if (!name_set_has(&b->state.evacuated, b->state.members.list[i]))
            return false;
    return b->n_things > 0;
}

static bool put_others(const struct barrier *b, struct buf *out)
{
    if (b->lock == LOCK_QUEUED)
        buf_printf(out, "waits for the lock, to rebalance: %s", reasons[b->need]);
    else if (b->state.is_running) {
        buf_append(out, STR("waits for "));
        put_node(b, out, buf_str(&b->state.leader));
        buf_printf(out, " to end rebalance %llu", (unsigned long long)b->state.session);
    } else if (barrier_is_resting(b))
        buf_printf(out, "waits for %lld s, as it could not start what it was given",
                   seconds_to(b, b->retry_ms));
    else if (b->need != NEED_NOTHING)
        buf_printf(out, "waits for another node to rebalance: %s", reasons[b->need]);
    else if (!barrier_is_member(b, buf_str(&b->id)))
        buf_append(out, STR("waits for a rebalance that includes this node"));
    else if (is_all_evacuated(b))
        buf_append(out,
                   STR("waits for a person: topics have no owner, as no node is admitted"));
    else
        return false;
    return true;
}

bool barrier_waits_for(const struct barrier *b, struct buf *out)
{
    if (b->link != LINK_CONNECTED)
        buf_append(out, STR("waits for the coordination to answer"));
    else if (!b->mine.is_known || !b->has_state || !b->has_nodes)
        buf_append(out, STR("waits for the coordination to say who lives"));
    else if (!b->has_things)
        buf_append(out, STR("waits for the newest definitions from the store"));
    else if (barrier_is_behind(b))
        buf_printf(out,
                   "waits for the newest definitions from the store, for %lld s at most: then "
                   "it goes on with those that it has",
                   seconds_to(b, barrier_behind_end(b)));
    else if (put_lead(b, out))
        return true;
    else if (b->works.halting.n > 0)
        put_set(out, "end", &b->works.halting);
    else if (b->works.stopping.n > 0)
        put_set(out, "stop", &b->works.stopping);
    else if (b->works.starting.n > 0)
        put_set(out, "start", &b->works.starting);
    else
        return put_others(b, out);
    return true;
}

bool barrier_is_normal(const struct barrier *b)
{
    return b->link == LINK_CONNECTED && b->mine.is_known && b->has_state &&
           b->state.session > 0 && !b->state.is_running &&
           barrier_is_member(b, buf_str(&b->id)) && b->mine.data.status == NODE_NORMAL &&
           barrier_works_all(b, &b->mine.data.jobs) &&
           barrier_works_only(b, &b->mine.data.jobs) && barrier_needs(b) == NEED_NOTHING;
}
