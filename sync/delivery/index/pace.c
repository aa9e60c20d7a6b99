#include "config.h"

#include "sync/delivery/index/pace.h"

void pace_init(struct pace *p, const struct pace_options *opt)
{
    *p = (struct pace){.opt = *opt};
}

void pace_set(struct pace *p, const struct pace_options *opt)
{
    p->opt = *opt;
}

static int64_t quarter_ms(const struct pace *p)
{
    return p->opt.window_ms / 4;
}

static bool is_over(const struct pace_span *span, int64_t length_ms, int64_t now_ms)
{
    return now_ms - span->since_ms >= length_ms;
}

/* A flow begins within a quarter of a window and ends with a whole window of few requests. */
static void count(struct pace *p, int64_t now_ms)
{
    const int64_t window_ms = p->opt.window_ms;

    if (is_over(&p->window, window_ms, now_ms)) {
        if (p->window.asked < 2 * p->opt.flow || is_over(&p->window, 2 * window_ms, now_ms))
            p->flows = false;
        p->window = (struct pace_span){.since_ms = now_ms};
    }
    if (is_over(&p->quarter, quarter_ms(p), now_ms))
        p->quarter = (struct pace_span){.since_ms = now_ms};
    p->window.asked++;
    if (++p->quarter.asked >= p->opt.flow)
        p->flows = true;
}

void pace_ask(struct pace *p, int64_t now_ms, enum pace_others others)
{
    if (others != PACE_AMONG)
        p->at_once = true;
    if (others == PACE_GATHERED)
        return;
    p->asked_ms = now_ms;
    count(p, now_ms);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t pace_reads_at(const struct pace *p, size_t n, int64_t now_ms)
{
    const int64_t read_ms =
        p->read_ms + (n < p->opt.worth ? p->opt.longest_ms : p->opt.window_ms);
    const int64_t at = earlier(read_ms, p->asked_ms + quarter_ms(p));

    if (p->at_once || n >= pace_most(p) || !p->flows || p->opt.window_ms == 0 || at < now_ms)
        return now_ms;
    return at;
}

void pace_read(struct pace *p, int64_t now_ms)
{
    p->read_ms = now_ms;
    p->at_once = false;
}

size_t pace_most(const struct pace *p)
{
    return p->fit == 0 || p->fit > p->opt.enough ? p->opt.enough : p->fit;
}

size_t pace_each(const struct pace *p)
{
    return p->each;
}

/* One large document among small ones must not make each later read small: double it then. */
void pace_took(struct pace *p, size_t n, size_t bytes, bool is_cut)
{
    const size_t before = pace_most(p) > n ? pace_most(p) : n, most = is_cut ? n : before * 2;

    if (n == 0)
        return;
    p->each = bytes / n;
    p->fit = p->opt.bytes / (p->each + 1);
    if (p->fit > most)
        p->fit = most;
    if (p->fit < 1)
        p->fit = 1;
}
