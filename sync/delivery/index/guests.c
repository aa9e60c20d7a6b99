#include "config.h"

#include "sync/delivery/index/guests.h"

#include <assert.h>

#define BYTES_MIN   ((size_t)16 << 10) /* of a request; the window has two or more */
#define BYTES_WORTH ((size_t)64 << 10) /* larger requests cost the engine hardly less */
#define START       (2 * BYTES_WORTH)
#define GAIN        4 /* a window of answers changes the window by 1/GAIN at most */
#define EXTRA_US    ((int64_t)GUESTS_EXTRA_MS * 1000)

static size_t clamp(size_t n, size_t min, size_t max)
{
    if (n < min)
        n = min;
    return n < max ? n : max;
}

static void set_window(struct guests *g, size_t window)
{
    g->window = clamp(window, 2 * BYTES_MIN, g->opt.requests_max * g->opt.bytes_max);
}

void guests_init(struct guests *g, const struct guests_options *opt)
{
    *g = (struct guests){.opt = *opt, .look = GUESTS_LOOK_DUE};
    set_window(g, START);
}

void guests_set(struct guests *g, const struct guests_options *opt)
{
    assert(opt->requests_max > 0 && opt->bytes_max > 0);
    g->opt = *opt;
    set_window(g, g->window);
}

static bool has_limit(const struct guests *g)
{
    return g->opt.polite && !g->alone;
}

/* What those that were alone have in flight is let go before the next look. */
void guests_set_alone(struct guests *g, bool alone)
{
    if (g->alone && !alone) {
        g->look = GUESTS_LOOK_DUE;
        g->n_looks = 0; /* they are old */
        g->unwinding = g->n > 0;
    }
    g->alone = alone;
}

void guests_turn(struct guests *g, int64_t now_ms)
{
    if (!has_limit(g) || g->look != GUESTS_LOOK_NONE ||
        (g->n_looks >= GUESTS_LOOKS && now_ms - g->looked_ms < GUESTS_LOOK_MS))
        return;
    g->looked_ms = now_ms;
    g->look = GUESTS_LOOK_DUE;
}

/* Two requests let the next one wait in the engine while it answers one. */
static unsigned width(const struct guests *g)
{
    const size_t bytes = clamp(BYTES_WORTH, 1, g->opt.bytes_max);
    const size_t n = (g->window + bytes - 1) / bytes;

    return (unsigned)clamp(n, 2, g->opt.requests_max);
}

bool guests_may_go(const struct guests *g)
{
    if (!has_limit(g) || g->n == 0)
        return true;
    return g->look == GUESTS_LOOK_NONE && g->n < width(g);
}

size_t guests_bytes(const struct guests *g)
{
    if (!has_limit(g))
        return g->opt.bytes_max;
    if (g->look == GUESTS_LOOK_DUE)
        return BYTES_MIN;
    return clamp(g->window / width(g), BYTES_MIN, g->opt.bytes_max);
}

void guests_begin(struct guests *g)
{
    if (has_limit(g) && g->look == GUESTS_LOOK_DUE && g->n == 0)
        g->look = GUESTS_LOOKING;
    g->n++;
}

void guests_end(struct guests *g)
{
    assert(g->n > 0);
    g->n--;
    g->unwinding = g->unwinding && g->n > 0;
    if (g->n == 0 && g->look == GUESTS_LOOKING)
        g->look = GUESTS_LOOK_NONE;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a < b ? b : a;
}

/* What an answer takes if guests have nothing else in flight: the median. */
static int64_t alone_us(const struct guests *g)
{
    const int64_t *us = g->looks_us;

    return most(least(us[0], us[1]), least(most(us[0], us[1]), us[2]));
}

void guests_answered(struct guests *g, size_t bytes, int64_t us)
{
    const bool is_full = g->n >= width(g);

    if (!has_limit(g) || g->unwinding)
        return;
    if (g->look == GUESTS_LOOKING) {
        g->looks_us[g->n_looks++ % GUESTS_LOOKS] = us;
        return;
    }

    const int64_t left_us = least(most(EXTRA_US - (us - alone_us(g)), -EXTRA_US), EXTRA_US);

    if (g->n_looks < GUESTS_LOOKS || (left_us > 0 && !is_full))
        return;

    const int64_t change = (int64_t)bytes * left_us / (EXTRA_US * GAIN);

    set_window(g, change < 0 && (size_t)-change > g->window ? 0 : g->window + (size_t)change);
}

void guests_busy(struct guests *g)
{
    set_window(g, g->window / 2);
}
