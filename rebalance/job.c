#include "config.h"

#include "rebalance/job.h"

#define WINDOW_MS 1000
#define SMOOTH    0.3 /* weight of the newest window */

void job_pace_update(struct job_pace *p, uint64_t rows_done, int64_t now_ms)
{
    if (p->window_ms == 0 || rows_done < p->window_rows) {
        p->window_ms = now_ms;
        p->window_rows = rows_done;
        return;
    }

    const int64_t passed = now_ms - p->window_ms;

    if (passed < WINDOW_MS)
        return;

    const double now = (double)(rows_done - p->window_rows) * 1000 / (double)passed;

    p->rate = p->rate <= 0 ? now : p->rate * (1 - SMOOTH) + now * SMOOTH;
    p->window_ms = now_ms;
    p->window_rows = rows_done;
}

int64_t job_remaining_s(const struct job_pace *p, uint64_t done, uint64_t total)
{
    if (done >= total)
        return 0;
    if (p->rate < 0.001)
        return -1;
    return (int64_t)((double)(total - done) / p->rate + 0.999);
}

uint64_t job_shown_done(uint64_t done, uint64_t total)
{
    return done < total ? done : total;
}

int64_t job_limit_take(struct job_limit *l, uint64_t rate, uint64_t rows, int64_t now_ms)
{
    if (rate == 0) {
        *l = (struct job_limit){.last_ms = now_ms};
        return 0;
    }
    if (l->last_ms != 0 && now_ms > l->last_ms)
        l->room += (double)(now_ms - l->last_ms) * (double)rate / 1000;
    if (l->room > (double)rate)
        l->room = (double)rate; /* at most a second is saved up */
    l->last_ms = now_ms;
    l->room -= (double)rows;
    return l->room >= 0 ? 0 : (int64_t)(-l->room * 1000 / (double)rate) + 1;
}
