#include "config.h"

#include "sync/delivery/index/neighbours.h"

#define SHARE 50 /* of the time, an answer is waited for in 1/SHARE at most */

void neighbours_note_stream(struct neighbours *n, int64_t now_ms)
{
    n->stream_wrote = true;
    n->stream_ms = now_ms;
}

bool neighbours_is_due(const struct neighbours *n, int64_t now_ms)
{
    return !n->is_asked && now_ms >= n->next_ms;
}

void neighbours_ask(struct neighbours *n, int64_t now_ms)
{
    n->is_asked = true;
    n->asked_ms = now_ms;
}

/* An answer that is long ago may have missed what came and went. */
static bool is_fresh(const struct neighbours *n, int64_t now_ms)
{
    return n->has_answer && now_ms < n->next_ms + NEIGHBOURS_QUIET_MS;
}

void neighbours_answer(struct neighbours *n, uint64_t total, int64_t now_ms)
{
    const int64_t pause_ms = (now_ms - n->asked_ms) * SHARE;

    if (now_ms - n->asked_ms > NEIGHBOURS_SLOW_MS) {
        neighbours_no_answer(n, now_ms);
        return;
    }
    if (n->has_answer && total != n->total) {
        n->others_wrote = true;
        n->others_ms = now_ms;
    }
    if (!is_fresh(n, now_ms))
        n->since_ms = now_ms;
    n->has_answer = true;
    n->total = total;
    n->answered_ms = now_ms;
    n->next_ms = now_ms + (pause_ms > NEIGHBOURS_ASK_MS ? pause_ms : NEIGHBOURS_ASK_MS);
    n->is_asked = false;
}

void neighbours_no_answer(struct neighbours *n, int64_t now_ms)
{
    n->has_answer = false;
    n->next_ms = now_ms + NEIGHBOURS_LATER_MS;
    n->is_asked = false;
}

bool neighbours_are_there(const struct neighbours *n, int64_t now_ms)
{
    return !is_fresh(n, now_ms) || n->answered_ms - n->since_ms < NEIGHBOURS_FIRST_MS ||
           (n->stream_wrote && now_ms - n->stream_ms < NEIGHBOURS_QUIET_MS) ||
           (n->others_wrote && now_ms - n->others_ms < NEIGHBOURS_QUIET_MS);
}
