#include "config.h"

#include "rebalance/watch/watch.h"

#include <inttypes.h>

#define WANTED_MS 1000  /* pause between rounds while somebody looks ... */
#define PART      4     /* ... or so many times the last round's duration, if longer */
#define AWAY_MS   5000  /* likewise, at most, while the server is away: it may be back */
#define IDLE_MS   30000 /* pause while nobody looks */
#define SLOW_MS   2000  /* a server silent for longer is away */

int64_t watch_due_in_ms(const struct watch *w, int64_t now_ms)
{
    const int64_t took_ms = w->ended_ms - w->began_ms;
    const int64_t wanted_ms = took_ms * PART > WANTED_MS ? took_ms * PART : WANTED_MS;
    const int64_t most_ms = w->is_wanted && w->why.kind != ERR_NONE ? AWAY_MS : IDLE_MS;
    const int64_t pause_ms = w->is_wanted && wanted_ms < most_ms ? wanted_ms : most_ms;
    const int64_t left_ms = w->ended_ms + pause_ms - now_ms;

    return w->began_ms == 0 || left_ms < 0 ? 0 : left_ms;
}

void watch_begin(struct watch *w, int64_t now_ms)
{
    w->began_ms = now_ms;
    w->is_wanted = false;
}

void watch_end(struct watch *w, int64_t now_ms)
{
    w->ended_ms = now_ms;
    w->asked_ms = 0;
}

void watch_ask(struct watch *w, int64_t now_ms)
{
    w->asked_ms = now_ms;
}

void watch_answer(struct watch *w, int64_t wall_ms, const struct err *why)
{
    w->asked_ms = 0;
    w->why = *why;
    if (why->kind == ERR_NONE)
        w->heard_ms = wall_ms;
}

struct heard watch_heard(const struct watch *w, int64_t now_ms)
{
    struct heard h = {.at_ms = w->heard_ms, .why = w->why};
    const int64_t waits_ms = w->asked_ms == 0 ? 0 : now_ms - w->asked_ms;

    h.is_silent = waits_ms > SLOW_MS;
    if (h.is_silent)
        err_set(&h.why, ERR_RETRY, "%s has not answered for %" PRId64 " s", w->who,
                waits_ms / 1000);
    h.is_away = h.why.kind != ERR_NONE;
    return h;
}
