#include "config.h"

#include "rebalance/cluster/barrier_parts.h"

/* The longest rest, in start_limit_ms, which is the first one. */
#define REST_LIMITS 20

/* What we write about ourselves; the rest of our data stays. */
static void say(struct barrier *b, enum node_status status, const struct name_set *jobs)
{
    struct node_data next = {0};

    node_data_copy(&next, &b->mine.data);
    next.status = status;
    if (status == NODE_NORMAL) {
        b->retry_delay_ms = 0;
        next.cloud = CLOUD_NORMAL;
        next.session = b->state.session;
    }
    next.n_threads = b->works.running.n;
    next.is_evacuated = name_set_has(&b->state.evacuated, buf_str(&b->id));
    name_set_copy(&next.jobs, jobs);
    (void)barrier_write(b, &b->mine, &next);
    node_data_free(&next);
}

static bool is_any_member_here(const struct barrier *b)
{
    size_t at;

    for (size_t i = 0; i < b->state.members.n; i++)
        if (barrier_lists(b, b->state.members.list[i], &at))
            return true;
    return false;
}

/* Whoever is alone does not rest: nobody else has its things. */
bool barrier_is_resting(const struct barrier *b)
{
    return b->now_ms < b->retry_ms && is_any_member_here(b);
}

/* We were left out while we still tried to start what we were given. Others get it; if we came
 * back at once, we would take it from them again, and could not start it either. */
static void rest_if_unable(struct barrier *b)
{
    const int64_t first = b->options.start_limit_ms, last = REST_LIMITS * first;

    if (b->mine.data.status != NODE_INIT || b->works.starting.n == 0)
        return;
    b->retry_delay_ms = b->retry_delay_ms == 0 ? first : 2 * b->retry_delay_ms;
    b->retry_delay_ms = b->retry_delay_ms < last ? b->retry_delay_ms : last;
    b->retry_ms = b->now_ms + b->retry_delay_ms;
}

/* Nobody counts on us, so nothing is ours: everything ends at once, and then we are ready. */
static void be_ready(struct barrier *b)
{
    static const struct name_set nothing;
    const struct node_data *d = &b->mine.data;
    struct node_data next = {0};

    barrier_work_halt(b);
    name_set_clear(&b->refused);
    if (barrier_work_is_any(b) || b->mine.is_writing || barrier_is_resting(b) ||
        (d->jobs.n == 0 && d->status == NODE_CLEAN_OK))
        return;
    node_data_copy(&next, d);
    next.session = b->state.session > d->session ? b->state.session : d->session;
    next.status = NODE_CLEAN_OK;
    next.cloud = CLOUD_NORMAL;
    name_set_copy(&next.jobs, &nothing);
    if (barrier_write(b, &b->mine, &next))
        b->answered = 0;
    node_data_free(&next);
}

/* Appends what we still own of our jobs. */
static void copy_kept(const struct barrier *b, struct name_set *kept)
{
    name_set_copy(kept, &b->mine.data.jobs);
    for (size_t i = 0; i < b->refused.n; i++)
        (void)name_set_remove(kept, b->refused.list[i]);
}

static void clean(struct barrier *b)
{
    const struct node_data *d = &b->mine.data;
    struct name_set kept = {0};

    if (d->session < b->state.session)
        return; /* the newer session's command follows */
    barrier_work_stop(b, &d->jobs);
    if (!barrier_works_only(b, &d->jobs) || b->mine.is_writing)
        return;
    copy_kept(b, &kept);
    say(b, NODE_CLEAN_OK, &kept);
    b->answered = d->session;
    name_set_clear(&b->refused);
    name_set_free(&kept);
}

static void start_all(struct barrier *b)
{
    const struct name_set *jobs = &b->mine.data.jobs;

    barrier_work_stop(b, jobs);
    for (size_t i = 0; i < jobs->n; i++)
        if (!name_set_has(&b->refused, jobs->list[i]))
            barrier_work_start(b, jobs->list[i]);
}

/* What was kept goes on; the rest waits for INIT. */
static void wait_for_init(struct barrier *b)
{
    barrier_work_stop(b, &b->mine.data.jobs);
}

/* Starts what is ours, tells what is not any more, and says so when all of it works. */
static void work(struct barrier *b)
{
    const struct node_data *d = &b->mine.data;
    const bool is_over = !b->state.is_running && d->session == b->state.session;
    struct name_set kept = {0};

    if (d->session < b->state.session)
        return;
    if (d->status == NODE_INIT && d->session != b->answered) {
        be_ready(b); /* it is for the node that we were before */
        return;
    }
    start_all(b);
    copy_kept(b, &kept);
    if (kept.n < d->jobs.n)
        say(b, d->status, &kept);
    else if (d->status == NODE_INIT && barrier_works_all(b, &kept))
        say(b, is_over ? NODE_NORMAL : NODE_FINISH, &kept);
    else if (d->status == NODE_FINISH && is_over)
        say(b, NODE_NORMAL, &kept);
    name_set_free(&kept);
}

static void (*const obey[])(struct barrier *) = {
    [NODE_CLEAN] = clean, [NODE_CLEAN_OK] = wait_for_init,
    [NODE_INIT] = work,   [NODE_FINISH] = work,
    [NODE_NORMAL] = work,
};

/* A rebalance that does not name us, and is no older than our data, does not count on us. */
void barrier_self(struct barrier *b)
{
    if (b->link != LINK_CONNECTED || !b->mine.is_known || !b->has_state)
        return;
    if (!barrier_is_member(b, buf_str(&b->id)) && b->state.session >= b->mine.data.session) {
        rest_if_unable(b);
        be_ready(b);
    } else {
        obey[b->mine.data.status](b);
    }
}
