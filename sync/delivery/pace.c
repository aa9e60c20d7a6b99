#include "config.h"

#include "sync/delivery/pace.h"

void pace_init(struct pace *p, int64_t window_ms, unsigned flow, size_t enough)
{
    *p = (struct pace){.window_ms = window_ms, .flow = flow, .enough = enough};
}

void pace_set(struct pace *p, int64_t window_ms, size_t enough)
{
    p->window_ms = window_ms;
    p->enough = enough;
}

void pace_ask(struct pace *p, int64_t now_ms, bool gathered)
{
    if (gathered) {
        p->gathered = true;
        return;
    }
    if (now_ms - p->since_ms >= p->window_ms) {
        p->last = now_ms - p->since_ms < 2 * p->window_ms ? p->asked : 0;
        p->asked = 0;
        p->since_ms = now_ms;
    }
    p->asked++;
}

static bool is_flow(const struct pace *p)
{
    return p->asked >= p->flow || p->last >= p->flow;
}

int64_t pace_reads_at(const struct pace *p, size_t n, int64_t now_ms)
{
    const int64_t at = p->read_ms + p->window_ms;

    if (p->gathered || n >= p->enough || !is_flow(p) || at < now_ms)
        return now_ms;
    return at;
}

void pace_read(struct pace *p, int64_t now_ms)
{
    p->read_ms = now_ms;
    p->gathered = false;
}
