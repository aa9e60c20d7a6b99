#include "config.h"

#include "sync/checkpoint/lag.h"

#define FRESH_MS 5000 /* the saver asks the server every second */

#define SLOW_MS 2000 /* a server silent for longer may have more */

/* When it was last known how far the server's log goes. */
static int64_t known_ms(const struct lag_facts *f)
{
    const bool is_silent = f->asking_ms != 0 && f->now_ms - f->asking_ms > SLOW_MS;
    const bool is_known =
        f->waits && !is_silent && f->now_ms - f->asked_ms <= LAG_REST_MS + SLOW_MS;

    return is_known && f->asked_ms != 0 ? f->now_ms : f->asked_ms;
}

bool lag_is_fresh(const struct lag_facts *f)
{
    return f->asked_ms != 0 && f->now_ms - known_ms(f) <= FRESH_MS;
}

struct lag lag_of(const struct lag_facts *f)
{
    if (f->undone_ms != 0)
        return (struct lag){.since_ms = f->undone_ms};
    if (lag_is_fresh(f) && f->bytes == 0)
        return (struct lag){.since_ms = LAG_NONE};
    if (f->done_ms == 0)
        return (struct lag){.since_ms = LAG_UNKNOWN};
    return (struct lag){.since_ms = f->done_ms, .at_most = !lag_is_fresh(f)};
}

struct lag lag_worse(struct lag a, struct lag b)
{
    if (a.since_ms == LAG_NONE || b.since_ms == LAG_NONE)
        return a.since_ms == LAG_NONE ? b : a;
    if (a.since_ms == LAG_UNKNOWN || b.since_ms == LAG_UNKNOWN)
        return a.since_ms == LAG_UNKNOWN ? b : a;
    return b.since_ms < a.since_ms ? b : a;
}

double lag_seconds(struct lag lag, int64_t now_ms)
{
    if (lag.since_ms == LAG_UNKNOWN)
        return -1;
    return lag.since_ms >= now_ms ? 0 : (double)(now_ms - lag.since_ms) / 1000;
}
