#include "config.h"

#include "sync/delivery/index/gate.h"

#include <assert.h>

#define PAUSE_BASE_MS      50   /* after a failed request */
#define PAUSE_MAX_MS       5000 /* one request in this time costs nobody anything */
#define RETRY_AFTER_MAX_MS 300000
#define RETRY_BASE_MS      100 /* after a failed document */
#define RETRY_MAX_MS       10000
#define PROBE_BASE_MS      1000 /* of a held index */
#define PROBE_MAX_MS       30000

void gate_init(struct gate *g, const struct limiter *limiter, const struct fuse_options *fuse,
               uint64_t seed)
{
    *g = (struct gate){
        .limiter = *limiter,
        .pause = {.base_ms = PAUSE_BASE_MS, .max_ms = PAUSE_MAX_MS},
        .probe = {.base_ms = PROBE_BASE_MS, .max_ms = PROBE_MAX_MS},
    };
    fuse_init(&g->fuse, fuse);
    random_init(&g->random, seed);
}

static int64_t later(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

int64_t gate_opens_at(const struct gate *g, unsigned n_requests)
{
    unsigned width = g->limiter.width;

    if (g->is_paused || g->hold >= HOLD_STOP)
        return GATE_NEVER_MS;
    /* Requests still in flight were sent before the fuse blew, so do not count them. */
    if (g->fuse.state != FUSE_CLOSED)
        return later(fuse_opens_at(&g->fuse), g->paused_until_ms);
    if (g->hold != HOLD_NONE || g->failing)
        width = 1;
    if (n_requests >= width)
        return GATE_NEVER_MS;
    return later(g->hold == HOLD_NONE ? 0 : g->probe_ms, g->paused_until_ms);
}

bool gate_is_blown(const struct gate *g)
{
    return g->is_paused || g->hold != HOLD_NONE || g->fuse.state != FUSE_CLOSED;
}

void gate_good(struct gate *g, int64_t sent_ms)
{
    if (g->failing && sent_ms < g->failed_ms)
        return;
    g->failing = false;
    g->paused_until_ms = 0;
    backoff_reset(&g->pause);
}

void gate_failed(struct gate *g, int64_t sent_ms, int64_t now_ms, int64_t retry_after_ms)
{
    int64_t until = g->paused_until_ms;

    if (!g->failing)
        g->failing_since_ms = sent_ms;
    g->failing = true;
    g->failed_ms = now_ms;
    /* Requests in flight together that fail count as one failure. */
    if (until <= now_ms)
        until = now_ms + backoff_next_ms(&g->pause, &g->random);
    if (retry_after_ms > RETRY_AFTER_MAX_MS)
        retry_after_ms = RETRY_AFTER_MAX_MS;
    if (until < now_ms + retry_after_ms)
        until = now_ms + retry_after_ms;
    g->paused_until_ms = until;
}

int64_t gate_retry_ms(struct gate *g, unsigned attempts)
{
    struct backoff b = {.base_ms = RETRY_BASE_MS, .max_ms = RETRY_MAX_MS, .n_failed = attempts};

    return backoff_next_ms(&b, &g->random);
}

bool gate_hold(struct gate *g, enum hold how, const struct err *why, int64_t now_ms)
{
    const enum hold before = g->hold;

    assert(g->fuse.state == FUSE_CLOSED);
    if (before >= HOLD_STOP && how <= before)
        return false;
    if (before == HOLD_NONE && now_ms - g->probe_ms >= PROBE_MAX_MS)
        backoff_reset(&g->probe);
    g->n_holds += before == HOLD_NONE;
    g->hold = how;
    g->why = *why;
    g->probe_ms = now_ms + backoff_next_ms(&g->probe, &g->random);
    return before != how && !(before == HOLD_BACK && how == HOLD_ASTRAY);
}

bool gate_release(struct gate *g)
{
    const bool is_released = g->hold != HOLD_NONE && g->hold < HOLD_STOP;

    if (is_released)
        g->hold = HOLD_NONE;
    return is_released;
}

void gate_end_astray(struct gate *g)
{
    if (g->hold == HOLD_ASTRAY)
        g->hold = HOLD_BACK;
}

void gate_pause(struct gate *g, const struct err *why)
{
    g->is_paused = true;
    g->pause_why = *why;
}

void gate_unpause(struct gate *g)
{
    g->is_paused = false;
}

void gate_end_hold(struct gate *g, int64_t now_ms)
{
    fuse_close(&g->fuse, now_ms);
    g->hold = HOLD_NONE;
    g->failing = false;
    g->paused_until_ms = 0;
    backoff_reset(&g->pause);
    backoff_reset(&g->probe);
}

void gate_drop(struct gate *g, int64_t now_ms)
{
    gate_unpause(g);
    gate_end_hold(g, now_ms);
}

void gate_probe(struct gate *g, int64_t now_ms)
{
    if (g->hold == HOLD_STOP)
        g->hold = HOLD_BLOCK;
    fuse_try(&g->fuse, now_ms);
    g->probe_ms = now_ms;
    g->paused_until_ms = 0;
}

bool guard_judge(struct guard *g, size_t n_refused, size_t n_taken, bool is_held)
{
    if (is_held)
        *g = (struct guard){0};
    g->n_refused += n_refused;
    g->n_judged += n_refused + n_taken;
    if (g->n_refused * 2 > g->n_judged)
        return is_held || g->n_refused >= GUARD_DOCUMENTS;
    *g = (struct guard){0};
    return false;
}
