#include "config.h"

#include "rebalance/fill/job.h"

#define WINDOW_MS 1000
#define PARTS     5   /* a limit lets this part of a second's rows through at once */
#define SMOOTH    0.3 /* weight of the newest window */

#define SAVE_MS     500
#define SAVE_MS_MAX 10000
#define SAVE_TIMES  10

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
    if (done >= total || p->rate < 0.001)
        return -1;
    return (int64_t)((double)(total - done) / p->rate + 0.999);
}

uint64_t job_shown_done(uint64_t done, uint64_t total)
{
    return done < total ? done : total;
}

int64_t job_save_pause(int64_t took_ms)
{
    const int64_t pause_ms = took_ms * SAVE_TIMES;

    if (pause_ms < SAVE_MS)
        return SAVE_MS;
    return pause_ms < SAVE_MS_MAX ? pause_ms : SAVE_MS_MAX;
}

uint64_t job_limit_share(uint64_t rate, size_t n)
{
    if (rate == 0 || n == 0)
        return rate;
    return rate < n ? 1 : rate / n;
}

uint64_t job_limit_rows(uint64_t rate, uint64_t rows)
{
    const uint64_t some = rate < PARTS ? 1 : rate / PARTS;

    return rate == 0 || rows < some ? rows : some;
}

int64_t job_limit_take(struct job_limit *l, uint64_t rate, uint64_t rows, int64_t now_ms)
{
    const double now = (double)now_ms, saved = 1000.0 / PARTS;

    if (rate == 0 || l->paid_ms <= 0)
        l->paid_ms = now;
    if (l->paid_ms < now - saved)
        l->paid_ms = now - saved; /* do not catch up on unused time */
    if (rate == 0)
        return 0;
    l->paid_ms += (double)rows * 1000 / (double)rate;
    return l->paid_ms <= now ? 0 : (int64_t)(l->paid_ms - now) + 1;
}
