#include "config.h"

#include "rebalance/fill/growth.h"

#define SLOW_MS 5000

/* How much a counter has risen, which begins at 0 again with a new routing. */
static uint64_t rise(uint64_t *seen, uint64_t now)
{
    const uint64_t by = now >= *seen ? now - *seen : now;

    *seen = now;
    return by;
}

void job_growth_update(struct job_growth *g, uint64_t come, uint64_t gone, int64_t now_ms)
{
    const bool first = g->come_pace.window_ms == 0;
    const uint64_t more = rise(&g->seen_come, come), less = rise(&g->seen_gone, gone);

    if (!first) {
        g->come += more;
        g->gone += less;
    }
    job_pace_update(&g->come_pace, g->come, now_ms);
    job_pace_update(&g->gone_pace, g->gone, now_ms);
}

double job_growth_rate(const struct job_growth *g)
{
    const double rate = g->come_pace.rate - g->gone_pace.rate;

    return rate > 0 ? rate : 0;
}

uint64_t job_growth_total(const struct job_growth *g, uint64_t counted)
{
    const uint64_t all = counted + g->come;

    return all > g->gone ? all - g->gone : 0;
}

bool job_growth_is_slow(struct job_growth *g, double rate, int64_t now_ms)
{
    const double growth = job_growth_rate(g);

    if (rate < 0.001 || growth < 1 || rate > growth)
        g->slow_ms = 0;
    else if (g->slow_ms == 0)
        g->slow_ms = now_ms;
    return g->slow_ms != 0 && now_ms - g->slow_ms >= SLOW_MS;
}
