#include "config.h"

#include "sync/delivery/index/fuse.h"

#include <assert.h>

void fuse_init(struct fuse *f, const struct fuse_options *opt)
{
    *f = (struct fuse){.last_ms = -1};
    fuse_set(f, opt);
}

void fuse_set(struct fuse *f, const struct fuse_options *opt)
{
    assert(opt->failures > 0 && opt->failures <= DELIVERY_FAILURES_MAX);
    f->try_ms += opt->reset_ms - f->opt.reset_ms;
    f->opt = *opt;
}

/* Forget what happened in the state before. */
static void turn_to(struct fuse *f, enum fuse_state state, int64_t now_ms)
{
    f->state = state;
    f->since_ms = now_ms;
    f->n_in_row = 0;
    f->n_failures = 0;
    f->last_ms = -1;
    f->excused = 0;
    f->are_several = false;
}

static void blow(struct fuse *f, int64_t now_ms)
{
    turn_to(f, FUSE_BLOWN, now_ms);
    f->try_ms = now_ms + f->opt.reset_ms;
}

/* Tell whether enough failures lie within the window. */
static bool is_full(const struct fuse *f, int64_t now_ms)
{
    if (f->n_failures < f->opt.failures)
        return false;
    return now_ms - f->failures_ms[(f->n_failures - f->opt.failures) % DELIVERY_FAILURES_MAX] <=
           f->opt.window_ms;
}

static enum fuse_change count_closed(struct fuse *f, enum failure how, int64_t sent_ms,
                                     int64_t now_ms)
{
    if (how == FAILURE_CONNECTION && sent_ms <= f->last_ms)
        return FUSE_SAME;
    f->last_ms = now_ms;
    f->n_in_row++;
    if (how == FAILURE_ANSWER)
        f->failures_ms[f->n_failures++ % DELIVERY_FAILURES_MAX] = now_ms;
    if (f->n_in_row < f->opt.failures && !is_full(f, now_ms))
        return FUSE_SAME;
    blow(f, now_ms);
    return FUSE_BLEW;
}

enum fuse_change fuse_count_failure(struct fuse *f, enum failure how, int64_t sent_ms,
                                    int64_t now_ms)
{
    if (sent_ms < f->since_ms)
        return FUSE_SAME;
    switch (f->state) {
    case FUSE_CLOSED: return count_closed(f, how, sent_ms, now_ms);
    case FUSE_BLOWN: break;
    case FUSE_PROBING: blow(f, now_ms); break;
    }
    return FUSE_SAME;
}

bool fuse_excuses(struct fuse *f, uint64_t address, int64_t sent_ms)
{
    if (f->state != FUSE_CLOSED)
        return false;
    if (sent_ms < f->since_ms)
        return true;
    if (f->excused == 0)
        f->excused = address;
    f->are_several = f->are_several || f->excused != address;
    return !f->are_several;
}

enum fuse_change fuse_good(struct fuse *f, int64_t sent_ms)
{
    if (sent_ms < f->since_ms || f->state == FUSE_BLOWN)
        return FUSE_SAME;
    f->n_in_row = 0;
    f->excused = 0;
    f->are_several = false;
    if (f->state == FUSE_CLOSED)
        return FUSE_SAME;
    turn_to(f, FUSE_CLOSED, f->since_ms);
    return FUSE_HEALED;
}

enum fuse_change fuse_close(struct fuse *f, int64_t now_ms)
{
    const bool was_closed = f->state == FUSE_CLOSED;

    turn_to(f, FUSE_CLOSED, now_ms);
    return was_closed ? FUSE_SAME : FUSE_HEALED;
}

int64_t fuse_opens_at(const struct fuse *f)
{
    switch (f->state) {
    case FUSE_CLOSED: return 0;
    case FUSE_BLOWN: return f->try_ms;
    case FUSE_PROBING: return FUSE_NEVER_MS;
    }
    return 0;
}

void fuse_begin(struct fuse *f, int64_t now_ms)
{
    assert(f->state == FUSE_CLOSED || fuse_opens_at(f) <= now_ms);
    if (f->state == FUSE_BLOWN)
        turn_to(f, FUSE_PROBING, now_ms);
}

void fuse_try(struct fuse *f, int64_t now_ms)
{
    if (f->state == FUSE_BLOWN)
        f->try_ms = now_ms;
}
