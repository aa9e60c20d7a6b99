#include "config.h"

#include "sync/delivery/index/drain.h"

#include <assert.h>

static int64_t after(int64_t now_ms, int64_t ms)
{
    return ms > INT64_MAX - now_ms ? INT64_MAX : now_ms + ms;
}

bool drain_begin(struct drain *d, unsigned partition, int64_t now_ms, int64_t timeout_ms,
                 int64_t cancel_ms)
{
    if (drain_is_on(d))
        return false;
    *d = (struct drain){
        .state = DRAIN_STATE_GOING,
        .partition = partition,
        .began_ms = now_ms,
        .until_ms = after(now_ms, timeout_ms > 0 ? timeout_ms : 0),
        .cancel_ms = cancel_ms > 0 ? cancel_ms : 0,
    };
    return true;
}

bool drain_is_on(const struct drain *d)
{
    return d->state != DRAIN_STATE_NONE;
}

static bool is_of(const struct drain *d, unsigned worker)
{
    return d->partition == DRAIN_ALL || d->partition == worker;
}

bool drain_covers(const struct drain *d, unsigned worker)
{
    return drain_is_on(d) && is_of(d, worker);
}

bool drain_withholds(const struct drain *d, unsigned worker)
{
    return d->state == DRAIN_STATE_CANCELLING && is_of(d, worker);
}

static void cancel(struct drain *d, enum drain_end as, int64_t now_ms)
{
    d->state = DRAIN_STATE_CANCELLING;
    d->cancelled_as = as;
    d->until_ms = after(now_ms, d->cancel_ms);
}

static void look_going(struct drain *d, const struct drain_left *left, int64_t now_ms)
{
    if (left->n_blown == left->n)
        cancel(d, DRAIN_BLOCKED, now_ms);
    else if (now_ms >= d->until_ms)
        cancel(d, DRAIN_TIMED_OUT, now_ms);
}

static enum drain_end look_cancelling(const struct drain *d, const struct drain_left *left,
                                      int64_t now_ms)
{
    if (left->n_in_flight == 0)
        return d->cancelled_as;
    if (now_ms < d->until_ms)
        return DRAIN_GOING;
    return d->cancelled_as == DRAIN_BLOCKED ? DRAIN_BLOCKED : DRAIN_CANCEL_TIMED_OUT;
}

enum drain_end drain_look(struct drain *d, const struct drain_left *left, int64_t now_ms)
{
    enum drain_end end = DRAIN_GOING;

    assert(left->n_blown <= left->n && left->n_in_flight <= left->n);
    if (!drain_is_on(d))
        return end;
    if (d->state == DRAIN_STATE_GOING)
        look_going(d, left, now_ms);
    /* If nothing is left it is done, even when late. */
    if (left->n == 0)
        end = DRAIN_DONE;
    else if (d->state == DRAIN_STATE_CANCELLING)
        end = look_cancelling(d, left, now_ms);
    if (end != DRAIN_GOING)
        d->state = DRAIN_STATE_NONE;
    return end;
}

void drain_cancel(struct drain *d, int64_t now_ms)
{
    if (d->state == DRAIN_STATE_GOING)
        cancel(d, DRAIN_STOPPED, now_ms);
}

int64_t drain_due_ms(const struct drain *d)
{
    return drain_is_on(d) ? d->until_ms : INT64_MAX;
}

const char *drain_end_name(enum drain_end end)
{
    static const char *const names[N_DRAIN_ENDS] = {
        [DRAIN_GOING] = "going",
        [DRAIN_DONE] = "done",
        [DRAIN_IN_PROGRESS] = "in progress",
        [DRAIN_BLOCKED] = "blocked by an index that takes no writes",
        [DRAIN_TIMED_OUT] = "timed out",
        [DRAIN_CANCEL_TIMED_OUT] = "timed out, and requests were not answered",
        [DRAIN_STOPPED] = "stopped",
    };

    return names[end];
}

const char *drain_end_word(enum drain_end end)
{
    static const char *const words[N_DRAIN_ENDS] = {
        [DRAIN_GOING] = "going",
        [DRAIN_DONE] = "done",
        [DRAIN_IN_PROGRESS] = "in_progress",
        [DRAIN_BLOCKED] = "blocked",
        [DRAIN_TIMED_OUT] = "timed_out",
        [DRAIN_CANCEL_TIMED_OUT] = "cancel_timed_out",
        [DRAIN_STOPPED] = "stopped",
    };

    return words[end];
}
